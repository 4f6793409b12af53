"""Sequential minimal optimisation over kernel rows, a batch of them at a time."""
