"""Solver and certificate in turn: the one place where they meet."""
