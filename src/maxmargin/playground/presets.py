"""Points to begin with, rounded so that they read well; each shows something."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.data import synthetic
from maxmargin.playground.messages import THIRD

Point = tuple[float, float, int]


def presets() -> list[dict[str, Any]]:
    """In the order in which the page offers them."""
    return [
        preset("separable", "Separable", "Two clouds with a street between them.", *synthetic.street(40, 1.2)[:2]),
        preset("narrow", "Narrow street", "The same with hardly any room between.", *narrow_street()),
        preset("outlier", "One outlier", "A street that a single point makes narrow: is it worth it?", *outlier()),
        preset("xor", "XOR", "Equal labels across: no line separates them.", *xor_clouds()),
        preset("rings", "Rings", "A disc in a ring: a kernel sees the street.", *synthetic.rings(60, seed=3)),
        preset("three", "Three classes", "Three clouds: a plane for each, or for each pair.", *three_clouds()),
        preset("overlapping", "Not separable", "Two clouds that overlap.", *synthetic.overlapping(60, seed=1)),
    ]


def preset(name: str, title: str, sentence: str, X: Any, y: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "sentence": sentence, "points": points_of(X, y)}


def points_of(X: Any, y: Any) -> list[Point]:
    return [(float(x1), float(x2), int(label)) for (x1, x2), label in zip(np.round(X, 2), y, strict=True)]


def points_named(name: str) -> list[Point]:
    """The points of one preset."""
    found: list[Point] = next(one["points"] for one in presets() if one["name"] == name)
    return found


def narrow_street() -> tuple[Any, Any]:
    """A street of width 0.15 through clouds as wide as ever."""
    X, y, plane = synthetic.street(40, 1.2)
    nearer = 0.6 - 0.075
    return X - nearer * np.outer(y, plane.w), y


def outlier() -> tuple[Any, Any]:
    """A wide street, and one point of the positive side far in it."""
    X, y, plane = synthetic.street(30, 2.0, seed=2)
    one = plane.w * (-plane.b - 0.75)
    return np.vstack([X, one]), np.append(y, 1)


def three_clouds() -> tuple[Any, Any]:
    """Twelve points around each corner of a triangle."""
    random = np.random.default_rng(7)
    corners, labels = np.array([[-2.0, -1.2], [2.0, -1.2], [0.0, 2.2]]), np.array([1, -1, THIRD])
    return np.repeat(corners, 12, axis=0) + random.normal(0.0, 0.8, (36, 2)), np.repeat(labels, 12)


def xor_clouds() -> tuple[Any, Any]:
    """Eight points around each corner of a square."""
    random = np.random.default_rng(5)
    corners, signs = synthetic.xor()
    return np.repeat(corners, 8, axis=0) + random.normal(0.0, 0.25, (32, 2)), np.repeat(signs, 8)
