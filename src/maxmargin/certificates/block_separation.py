"""Separation of rows that are read block by block: the same certificates, measured without a vector of all rows.

    plane       as a pass over all rows has seen it (`block_planes.py`)
    hulls       of the rows that carry weight, which the same pass brings as they stand in the table
    witness     of these rows alone, in integers

What a certificate says of other rows is the nearest of them. So all else is decided on the rows that it names and on
the nearest ones, by the code for rows in memory (`separation.py`).
Rows are numbered as in the whole table, so that it does not matter for a certificate how the table is cut.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from maxmargin.certificates.block_planes import BlockPlane, RawRows, no_margin, once
from maxmargin.certificates.certificate import Certificate, certify
from maxmargin.certificates.measure import Claim
from maxmargin.data.labelled import LabelledTable
from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import BlockMargin, ListedRows
from maxmargin.problems.statement import numbered, plain


class BlockClaim(NamedTuple):
    """A plane, and weights of rows by their ids; for the rest see `Claim`."""

    w: Vector
    b: float
    carrying: ListedRows
    hulls_meet: bool = False
    stopped: bool = False


def certify_by_blocks(
    table: LabelledTable,
    problem: BlockMargin,
    claim: BlockClaim,
    plane: BlockPlane | None,
    rows: RawRows,
    tol: float,
    norm: str = "l2",
) -> Certificate:
    """What the claim proves: its plane as a pass has seen it, None: there is none. `rows` are those that carry weight,
    in the order of their ids."""
    if plane is not None:
        rows = once(rows.and_of(plane.nearest))
    measured = no_margin(rows, table.n_columns) if plane is None else plane.on(rows)
    carrying = claim.carrying
    places = np.flatnonzero(np.isin(rows.ids, carrying.ids))
    if not np.array_equal(rows.ids[places], carrying.ids):
        raise ValueError("a row that carries weight was not read, or not in the order of its id")
    local = Claim(claim.w, claim.b, places, carrying.shares, claim.hulls_meet, claim.stopped, weakly=False)
    certificate = certify(
        rows.X, rows.signs, local, norm=norm, fit_intercept=problem.fit_intercept, tol=tol, plane=measured,
        positive=plain(table.classes[problem.positive]),
        negative=None if problem.negative is None else plain(table.classes[problem.negative]),
    )  # fmt: skip
    certificate = numbered(certificate, table.rows_of(rows.ids))
    return dataclasses.replace(certificate, n_rows=sum(table.sides(problem.positive, problem.negative)))
