"""To learn by: one multiplier to touch, the programs of the textbooks, and exercises that are graded by proof."""
