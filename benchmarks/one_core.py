"""Whoever imports this first is held to one core, before anybody counts them; ALL are those that there were."""

import os

ALL = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, ALL[:1])
