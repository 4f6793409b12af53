"""The model formats of other programs."""
