"""The order in which the mistake-driven algorithms visit the rows."""

from enum import StrEnum


class Order(StrEnum):
    """Cyclic takes the rows as they lie; shuffled draws a new order for each sweep; worst first looks at all."""

    CYCLIC = "cyclic"
    SHUFFLED = "shuffled"
    WORST_FIRST = "worst_first"
