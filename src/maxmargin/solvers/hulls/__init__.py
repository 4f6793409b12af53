"""Nearest points of two hulls: the hard margin, and what proves that there is none."""
