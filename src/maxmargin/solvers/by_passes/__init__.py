"""Solvers that ask for passes over the blocks of a table: no vector has its length."""
