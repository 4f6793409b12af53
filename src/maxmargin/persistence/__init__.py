"""Models that can be kept: one safe file, and the formats of other programs."""
