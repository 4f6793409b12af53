"""The words by which a question is put. Importing them loads nothing: the help of a command lists them."""

from enum import StrEnum


class Norm(StrEnum):
    """The norm of w by which a margin is measured."""

    L1 = "l1"
    L2 = "l2"


class Strategy(StrEnum):
    """How many classes become two."""

    ONE_VERSUS_REST = "ovr"
    ONE_VERSUS_ONE = "ovo"


class Order(StrEnum):
    """Cyclic takes the rows as they lie; shuffled draws a new order for each sweep; worst first looks at all.

    Drawn draws each row from all, with replacement: a sweep is as many draws as there are rows.
    """

    CYCLIC = "cyclic"
    SHUFFLED = "shuffled"
    WORST_FIRST = "worst_first"
    DRAWN = "drawn"
