"""All campaigns that try to break the library, one after the other; writes RELIABILITY.md.

    python tests/reliability.py                       the short profile: a quarter of an hour on two cores
    python tests/reliability.py --profile long        a night
    python tests/reliability.py --only interrupts     one campaign: replaces its line, if the others are of this machine
    python tests/reliability.py --seed 7

A campaign is a command of its own, here in tests/, that ends with one sentence and with 1 where something was wrong.
"""

import argparse
import ast
import datetime
import importlib.metadata
import os
import platform
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRONG = "**Found something wrong.**"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
PROFILES = ("test", "short", "long")


@dataclass(frozen=True)
class Campaign:
    """A command, and how much of it each profile asks for; 0 leaves it out."""

    name: str
    file: str
    test: int
    short: int
    long: int
    more: tuple[str, ...] = ()
    seeded: str | None = ""  # how the seed is given: after the count, by an option, or not at all


CAMPAIGNS = (
    Campaign("verdicts", "certificates/hunt_false_verdicts.py", 0, 600, 20_000),
    Campaign("verifiers", "certificates/hunt_differences.py", 0, 3_000, 50_000),
    Campaign("checker", "checker/hunt_disagreements.py", 0, 30, 1_000),
    Campaign("mutants", "hunt_mutants.py", 0, 12, 400, seeded="--seed"),
    Campaign("separability", "solve/hunt_false_separations.py", 60, 1_500, 50_000),
    Campaign("peers", "estimators/hunt_better_peers.py", 3, 150, 5_000),
    Campaign("problems", "hunt_nasty_problems.py", 0, 300, 20_000, seeded="--seed"),
    Campaign("interrupts", "estimators/hunt_interrupts.py", 16, 500, 10_000),
    Campaign("threads", "estimators/hunt_other_bits.py", 6, 150, 3_000),
    Campaign("memory", "estimators/hunt_leaks.py", 0, 2_000, 50_000, seeded=None),
    Campaign("saves", "persistence/kill_saves.py", 0, 100, 2_000, seeded=None),
    Campaign("checkpoints", "persistence/kill_fits.py", 0, 60, 1_000, seeded=None),
    Campaign("writes", "persistence/hunt_write_errors.py", 42, 1_000, 20_000),
    Campaign("files", "reading/hunt_damaged_files.py", 0, 4_000, 200_000),
    Campaign("workers", "cluster/hunt_killed_workers.py", 0, 10, 200, seeded="--seed"),
    Campaign("messages", "playground/hunt_hostile_messages.py", 0, 10_000, 200_000),
)
NOT_CLAIMED = """
- A certificate is about the numbers that the estimator was given. Nothing is claimed about how they were measured, nor
  about rows that it has not seen: a proven optimum can predict badly.
- The proof is in float64 with bounds on every rounding, or in fractions (`verify(exact=True)`, `checker/check.py`); it
  assumes that the processor, Python and NumPy add and multiply as IEEE 754 says. Kernels without rational values are
  proven to the rounding that their own error bound states.
- "Not separable" always has an exact witness. That no plane separates *weakly* is never claimed: where numbers agree in
  their last digits such a plane can be overlooked, which the certificate says.
- The same bits are promised for the same versions, the same processor and the same blocks; not across processors.
- A process that is killed loses what it computed since its last checkpoint. A disk that lies about `fsync` can lose
  more.
- The playground is a server for one machine or one class, not for the internet.
- Campaigns find faults; they do not prove that there are none.
"""


@dataclass(frozen=True)
class Outcome:
    """How a campaign ended."""

    question: str
    sentence: str
    command: str
    seconds: float
    well: bool


def hunts():
    """The commands in tests/ that are campaigns, by their names."""
    return [path for pattern in ("hunt_*.py", "kill_*.py") for path in (ROOT / "tests").rglob(pattern)]


def question_of(file):
    """The first line of its docstring."""
    return ast.get_docstring(ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))).splitlines()[0]


def run(campaign, profile, seed=0):
    """The command in a process of its own; None where the profile leaves it out."""
    count = getattr(campaign, profile)
    if count == 0:
        return None
    given = {"": [str(seed)], None: []}.get(campaign.seeded, [campaign.seeded, str(seed)])
    command = [f"tests/{campaign.file}", str(count), *given, *campaign.more]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    surroundings = {**os.environ, "PYTHONPATH": paths, "MAXMARGIN_UNCOMPILED_ROWS": "0"}  # the same bits each time
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    finished = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=ROOT, env=surroundings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = finished.stdout.strip().splitlines() or [""]
    if finished.returncode:
        print(f"python {' '.join(command)} ended with {finished.returncode}, {time.perf_counter() - begun:.0f} s")
        print("\n".join(told[-20:]), finished.stderr[-2000:], sep="\n", flush=True)
    return Outcome(question_of(campaign.file), told[-1], " ".join(command), seconds, finished.returncode == 0)


def machine():
    """What a figure depends on."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    kind = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{kind}, Python {platform.python_version()}, {versions}"


def commit():
    """The last commit; a + behind it says that files were changed since."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!RELIABILITY.md")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "") or "unknown"


def row_of(outcome, profile, seed):
    """A line of the table."""
    date = datetime.datetime.now(tz=datetime.UTC).date()
    found = outcome.sentence if outcome.well else f"{WRONG} {outcome.sentence}"
    made = f"{date}, {commit()}, {profile}, seed {seed}"
    return f"| {outcome.question} | {found} | {outcome.seconds:,.0f} | {made} | `{outcome.command}` |"


def rows_of(page):
    """The lines of a page by the files of their commands."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return {found[1]: line for line in lines if (found := re.search(r"`tests/(\S+) [^`]*` \|$", line))}


def document(rows):
    """RELIABILITY.md."""
    bad = sum(WRONG in row for row in rows)
    return "\n".join(
        [
            "# Reliability",
            "",
            "Campaigns that try to break the library: forged certificates, faults planted in the judge, killed",
            "processes, full disks, damaged files, hostile messages. Each row is one command and its last sentence.",
            "",
            f"{machine()}.",
            f"{len(rows)} campaigns, {bad} of them found something wrong. Made by `make reliability`.",
            "",
            "| asked | found | CPU s | day, commit, profile | `PYTHONPATH=src:tests python ...` |",
            "|---|---|--:|---|---|",
            *rows,
            "",
            "## What is not claimed",
            NOT_CLAIMED,
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=PROFILES, default="short")
    parser.add_argument("--only", choices=[campaign.name for campaign in CAMPAIGNS])
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    page, well = ROOT / "RELIABILITY.md", True
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    rows = rows_of(before) if asked.only and f"\n{machine()}.\n" in before else {}
    for campaign in CAMPAIGNS:
        if asked.only in (None, campaign.name) and (outcome := run(campaign, asked.profile, asked.seed)):
            print(f"{campaign.name}: {outcome.sentence} ({outcome.seconds:.0f} CPU s)", flush=True)
            rows[campaign.file] = row_of(outcome, asked.profile, asked.seed)
            well = well and outcome.well
    in_order = [rows[campaign.file] for campaign in CAMPAIGNS if campaign.file in rows]
    if asked.profile != "test" and (asked.only is None or len(in_order) > 1):
        page.write_text(document(in_order), encoding="utf-8")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
