"""How it is answered: one algorithm per file, each opening with its mathematics."""
