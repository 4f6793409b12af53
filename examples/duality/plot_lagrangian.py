"""
One multiplier
==============

A parabola under a constraint, its Lagrangian, the dual function and the saddle where both bounds meet.
"""

from maxmargin import ConstrainedParabola, LagrangianDisplay

problem = ConstrainedParabola(0.2, -1, 1, c=5)
LagrangianDisplay.from_problem(problem, x=6.5, a=0.5)
