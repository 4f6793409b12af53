"""Learners that change their plane at a mistake."""
