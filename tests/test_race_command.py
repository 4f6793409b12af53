"""What the commands of the races share: which options go together, and which peers are run."""

import argparse
import importlib
import json
import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
cache, command = map(importlib.import_module, ("linear_cache", "race_command"))


def parsed(*words):
    parser = argparse.ArgumentParser()
    command.add_options(parser, costs=(1.0, 10.0))
    options = parser.parse_args(words)
    known = {"usual_sets": ("a",), "known_sets": ("a", "b"), "peers": ("slow", "quick")}
    command.settle(parser, options, costs=(1.0, 10.0), **known)
    options.peer_limit = 30.0
    return options


def test_what_is_not_said_is_filled_in():
    options = parsed()
    assert (options.sets, options.C, options.peers, options.again) == (["a"], [1.0, 10.0], ["slow", "quick"], 0.0)
    options = parsed("--sets", "b,a", "--C", "2", "--peers", "none", "--fresh")
    assert (options.sets, options.C, options.peers, options.again) == (["b", "a"], [2.0], [], math.inf)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sets", "c"], "c is not among the sets: a, b"),
        (["--peers", "best"], "best is not among the peers: slow, quick"),
        (["--fresh", "--ours-only"], "only one of these can be asked"),
        (["--again", "2"], "say where that is with --cache FILE"),
    ],
)
def test_what_cannot_be_is_refused(words, sentence, capsys):
    with pytest.raises(SystemExit):
        parsed(*words)
    assert sentence in capsys.readouterr().err


def test_only_what_is_missing_is_run():
    asked = []

    def run(costs):
        asked.append(costs)
        return [cache.Run(C, 1.0, "", 30.0, "2026-01-01") for C in costs]

    known = cache.Cache(None, "hinge", again=0.0)
    options = parsed("--C", "1,2")
    assert command.find_or_run("a", "slow", known, parsed("--ours-only"), run) == {}
    first = command.find_or_run("a", "slow", known, options, run)
    more = command.find_or_run("a", "slow", known, parsed("--C", "1,2,3"), run)
    assert more == first | {3.0: first[1.0]._replace(seconds=3.0)}
    assert asked == [[1.0, 2.0], [3.0]]


def test_json_holds_no_infinities(tmp_path):
    command.write_json(tmp_path / "races.json", [{"seconds": math.inf, "peers": {"slow": [1.0, math.nan]}}])
    assert json.loads((tmp_path / "races.json").read_text()) == [{"seconds": None, "peers": {"slow": [1.0, None]}}]
