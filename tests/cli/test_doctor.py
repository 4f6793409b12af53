"""`maxmargin doctor`: findings for people and machines; a failed self-check is code 1."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import maxmargin
from maxmargin.cli import doctor, main, warming
from maxmargin.estimators.base import MarginClassifier


def test_all_is_well(capsys):
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "All is well." in shown
    assert shown.count("self-check") == 2
    assert all(name in shown for name in ("python", "numpy", "scipy", "scikit-learn", "numba", "cache", "threads"))


def test_for_machines(capsys):
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert findings["maxmargin"] == maxmargin.__version__
    assert findings["healthy"] is True
    assert findings["extras"]["cli"]["typer"]
    assert [check["passed"] for check in findings["self_check"]] == [True, True]
    assert findings["threads"]["usable"] >= 1


def test_warming_fills_the_cache(tmp_path):
    """In a process with a cache of its own; a second one finds all that the estimator needs."""
    script = """
import sys
from maxmargin.cli import main, warming
warming.MODELS = (("StochasticSVM", {}),)
warming.FORMS = warming.FORMS[:1]
sys.exit(main(["doctor", "--json", "--warm"]))
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    kept = []
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
        assert json.loads(run.stdout)["cache"]["warmed"]["fits"] == 4
        kept.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")})
    assert any(path.name.startswith("stochastic_subgradient") for path in kept[0])
    assert kept[0] == kept[1]


def test_warming_knows_every_estimator():
    fitted = {name for name, _ in warming.MODELS}
    known = {name for name in maxmargin.__all__ if isinstance(getattr(maxmargin, name), type)}
    known = {name for name in known if issubclass(getattr(maxmargin, name), MarginClassifier)}
    assert known - fitted <= {"LinearSVMCV"}  # which fits a LinearSVM


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_failed_self_check_is_code_1(as_json, monkeypatch, capsys):
    def broken(X, y):
        raise RuntimeError("the loops are broken")

    monkeypatch.setattr(maxmargin, "separability", broken)
    assert main(["doctor", *as_json]) == 1
    assert "RuntimeError: the loops are broken" in capsys.readouterr().out


def test_a_wrong_answer_fails_the_self_check(monkeypatch):
    right = maxmargin.separability
    monkeypatch.setattr(maxmargin, "separability", lambda X, y: right(2.0 * X, y))
    assert [check["passed"] for check in doctor.self_check()] == [False, True]


def test_missing_packages_are_advised(monkeypatch, capsys):
    known = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: None if name == "matplotlib" else known(name))
    assert main(["doctor"]) == 0
    assert 'without matplotlib: pip install "maxmargin[plots]"' in capsys.readouterr().out


def test_a_package_that_is_not_there():
    assert doctor.version_of("no-such-package-anywhere") is None


def test_nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert "nothing is compiled" in doctor.cache()["note"]


def test_every_extra_that_users_install_is_looked_at():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - set(doctor.EXTRAS) == {"all", "bench", "docs", "test"}
