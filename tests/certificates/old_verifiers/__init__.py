"""The verifiers as they were before there was one for all kinds: whatever they refuse, it must refuse.

They are kept as they were but for their imports. What measures (`measure`, `duality`, `kernel_duality`, `exact`, and
what these stand on) is not copied: it did not change.
"""
