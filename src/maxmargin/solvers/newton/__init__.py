"""The semismooth Newton method."""
