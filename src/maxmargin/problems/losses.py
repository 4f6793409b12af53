"""A loss of the margin is two numbers: how much a dual variable may weigh, and how much it bends the dual.

    C loss(t) = max { a t - (bend / C) a^2 / 2 :  0 <= a <= box C },      t = 1 - y (w.x + b)

                      box   bend                                   loss(t), t > 0
    hinge              1     0         t
    squared hinge     inf   1/2        t^2
    Huber hinge        1     h         t^2 / (2 h) up to t = h, then t - h / 2
    modified Huber     4    1/2        t^2 up to t = 2, then 4 t - 4
    hard margin       inf    0         infinite

So the best a is C clip(t / bend, 0, box): it grows with t up to the *knee*, t = box bend, and from there on the loss is
a straight line. All that a solver or a judge needs is in the two numbers: u_i = box C_i and q_i = bend / C_i in the
dual D(a) = sum_i a_i - 1/2 |w(a)|^2 - sum_i q_i a_i^2 / 2, 0 <= a_i <= u_i.

A loss that is registered here is known to estimators, model files, commands, the page and the auditor:

    register(Loss("steep_hinge", box=2.0, bend=0.0))

Reference: [zhang2004] for the modified Huber loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from maxmargin.data.table import Vector

LEAST, MOST = 1e-9, 1e9  # of box and bend: beyond, their products with prices would leave float64
WIDE = 0.1  # a knee
ON_THE_EDGE = 1e-300  # in place of a bend of zero, where one divides by it: no t > 0 is so small that it matters


@dataclass(frozen=True)
class Loss:
    """a_i <= box C_i, bent by bend / C_i."""

    name: str
    box: float
    bend: float

    @cached_property
    def knee(self) -> float:
        """The t from which on the loss is a straight line; infinite where it never is, also for the hard margin."""
        return self.box * self.bend if self.is_bounded else math.inf

    @cached_property
    def is_bounded(self) -> bool:
        """Whether no dual variable weighs more than its price allows."""
        return self.box < math.inf

    @cached_property
    def is_smooth(self) -> bool:
        """Whether it has a slope everywhere, also at the edge of the street."""
        return self.bend > 0.0

    @cached_property
    def is_straight(self) -> bool:
        """Whether it has a box and no bend, as the hinge."""
        return self.is_bounded and not self.is_smooth

    @cached_property
    def bends_widely(self) -> bool:
        """Newton takes a dozen steps or two there, and ten times as many at a hundredth of such a knee."""
        return self.is_smooth and self.knee >= WIDE

    @cached_property
    def title(self) -> str:
        """As a sentence calls it."""
        return self.name.replace("_", " ")

    def share(self, t: Any) -> Any:
        """The slope of the loss, which is the best a / C."""
        return np.minimum(self.box, np.maximum(0.0, t) / (self.bend or ON_THE_EDGE))

    def value(self, t: Any) -> Any:
        """loss(t), of a finite box or a bend; see `share`."""
        with np.errstate(over="ignore"):
            share = self.share(t)
        return share * (t - 0.5 * self.bend * share)

    def bounds(self, costs: Vector) -> Vector:
        """u_i = box C_i, rounded down where it is no double."""
        if self.box == 1.0:
            return costs
        with np.errstate(over="ignore"):  # an infinite one holds back no double
            bounds = self.box * costs
        is_power_of_two = not self.is_bounded or math.frexp(self.box)[0] == 0.5
        return bounds if is_power_of_two else np.nextafter(bounds, 0.0)


LOSSES: dict[str, Loss] = {}


def register(loss: Loss) -> Loss:
    """Make a loss known by its name.

    >>> register(Loss("hinge", box=2.0, bend=0.0))
    Traceback (most recent call last):
        ...
    ValueError: there is a loss 'hinge' already, another one: give yours a name of its own
    """
    if not (isinstance(loss.name, str) and loss.name.isidentifier()):
        raise ValueError(f"a loss needs a name of letters, digits and underscores, not {loss.name!r}")
    if not (LEAST <= loss.box <= MOST or (loss.box == math.inf and loss.bend > 0.0)):
        raise ValueError(
            f"the box of {loss.name} must be between {LEAST:g} and {MOST:g}, or infinite beside a bend; "
            f"not {loss.box!r}"
        )
    if not (loss.bend == 0.0 or LEAST <= loss.bend <= MOST):
        raise ValueError(f"the bend of {loss.name} must be 0 or between {LEAST:g} and {MOST:g}, not {loss.bend!r}")
    if LOSSES.setdefault(loss.name, loss) != loss:
        raise ValueError(f"there is a loss {loss.name!r} already, another one: give yours a name of its own")
    return loss


HINGE = register(Loss("hinge", box=1.0, bend=0.0))
SQUARED_HINGE = register(Loss("squared_hinge", box=math.inf, bend=0.5))
HUBER_HINGE = register(Loss("huber_hinge", box=1.0, bend=0.5))
MODIFIED_HUBER = register(Loss("modified_huber", box=4.0, bend=0.5))
TEXTBOOK = (HINGE, SQUARED_HINGE)  # the two that every textbook draws


def loss_named(name: Any, huber_width: Any = None) -> Loss:
    """The loss of that name; `huber_width` is the bend of the Huber hinge, 0.5 unless it is given.

    >>> loss_named("huber_hinge", 0.25)
    Loss(name='huber_hinge', box=1.0, bend=0.25)
    >>> loss_named("hinge", 0.25)
    Traceback (most recent call last):
        ...
    ValueError: huber_width=0.25 is for loss="huber_hinge": the hinge has no such width
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(f"loss={name!r} is not known; it can be {', '.join(map(repr, LOSSES))}")
    loss = LOSSES[name]
    if huber_width is None:
        return loss
    if loss.name != HUBER_HINGE.name:
        raise ValueError(
            f'huber_width={huber_width!r} is for loss="{HUBER_HINGE.name}": the {loss.title} has no such width'
        )
    is_number = isinstance(huber_width, int | float | np.integer | np.floating) and not isinstance(huber_width, bool)
    if not is_number or not LEAST <= huber_width <= MOST:
        raise ValueError(f"huber_width must be a number between {LEAST:g} and {MOST:g}, not {huber_width!r}")
    return replace(loss, bend=float(huber_width))


def width_refused(name: str, huber_width: float | None) -> str | None:
    """Why a certificate cannot state the two side by side, where it says each width in full."""
    if (name == HUBER_HINGE.name) == (huber_width is not None):
        return None
    return f"huber_width is {huber_width}: the Huber hinge needs one, and no other loss has it"


def width_of(loss: Loss) -> float | None:
    """What `loss_named` needs beside the name."""
    return loss.bend if loss.name == HUBER_HINGE.name else None
