"""Dual coordinate descent."""
