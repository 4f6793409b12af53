"""The same optimum by blocks and in memory, on real sets, at two budgets.

The budgets are the least memory that the fit accepts (it says so before its first pass) plus a tenth, and plus a
third, of the bytes of the rows. Two fits agree if neither lower bound is above the other's objective, and the
objectives differ by no more than both gaps allow. Where a fit by blocks does not end, its true gap stands here, with
its status. A peak may be a megabyte above the budget: so much Python takes for itself.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scale_sets
from race_cells import line, power
from scale_process import alone

SETS = (
    *("skin_nonskin", "covtype_20k", "a9a", "w8a", "ijcnn1", "cod-rna", "magic04", "donors", "give_me_some_credit"),
    *("kddcup99_10pct", "census_income_full", "mnist"),
)
COSTS = {"mnist": 0.001}  # 1 where nothing is said
SHARES = (1 / 10, 1 / 3)
TOL = 1e-6
PYTHONS_OWN = 1_000_000  # bytes that objects and the allocator may take, whatever the budget


def report(scratch: Path, sets: list[scale_sets.OnDisk], loss: str, time_limit: float) -> Iterator[str]:
    yield line(
        [
            "set",
            "rows x columns, MB",
            "C",
            "budget MB",
            "passes",
            "CPU s",
            "peak MB",
            "of the budget",
            "proven gap",
            "solver",
            "same as in memory (CPU s, gap)",
        ]
    )
    yield line(["---", "---", *["--:"] * 7, "---", "---"])
    missed = []
    for one in sets:
        C = COSTS.get(one.name, 1.0)
        arguments = {"rows": str(one.rows), "C": C, "loss": loss}
        held = alone("scale_ours:in_memory", {**arguments, "tol": TOL}, time_limit=time_limit)
        least = alone("scale_ours:floor", arguments, time_limit=time_limit)
        for share in SHARES:
            what = [one.name, f"{one.n_rows:,} x {one.n_columns:,}, {one.n_bytes / 1e6:.0f}", f"{C:g}"]
            if "failure" in least:
                yield line([*what, least["failure"], *[""] * 7])
                missed.append(one.name)
                break
            memory = int(least["floor"] + share * one.n_bytes)
            found = alone(
                "scale_ours:by_blocks", {**arguments, "tol": TOL, "memory": memory, "max_time": time_limit / 2},
                time_limit=time_limit,
            )  # fmt: skip
            what.append(f"{memory / 1e6:.1f}")
            if "failure" in found:
                yield line([*what, found["failure"], *[""] * 6])
                missed.append(one.name)
                continue
            agrees = same(found, held)
            if not (agrees and found["gap"] <= TOL and found["peak"] <= memory + PYTHONS_OWN):
                missed.append(f"{one.name} at {memory / 1e6:.1f} MB")
            yield line(
                [
                    *what,
                    f"{found['passes']}",
                    f"{found['cpu']:.2f}",
                    f"{found['peak'] / 1e6:.1f}",
                    f"{found['peak'] / memory:.2f}",
                    power(found["gap"]) if found["gap"] <= TOL else f"**{found['gap']:.2g}, {found['status']}**",
                    found["solver"],
                    "fails in memory: " + held["failure"]
                    if "failure" in held
                    else f"{'yes' if agrees else '**no**'} ({held['cpu']:.2f}, {power(held['gap'])})",
                ]
            )
    yield ""
    yield f"- Gap above {TOL:g}, peak above the budget, or another objective: {'; '.join(missed) or 'nowhere'}."


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both can be true: bounds do not cross, and the objectives are as near as the gaps say."""
    if "failure" in one or "failure" in other:
        return False
    rounding = 1e-9 * other["primal"]
    crossed = one["dual"] > other["primal"] + rounding or other["dual"] > one["primal"] + rounding
    allowed = one["gap"] * one["primal"] + other["gap"] * other["primal"] + rounding
    return not crossed and abs(one["primal"] - other["primal"]) <= allowed
