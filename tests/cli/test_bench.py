"""`maxmargin bench`: what was timed, on what, and how far from the optimum it ended."""

from maxmargin.cli import main


def test_made_tables(run):
    code, found = run("bench", "--rows", "300")
    assert code == 0
    seen = [tuple(timing[name] for name in ("objective", "set", "n", "d", "solver")) for timing in found["timings"]]
    assert seen == [
        ("linear, hinge", "narrow", 300, 20, "maxmargin LinearSVM"),
        ("linear, hinge", "narrow", 300, 20, "scikit-learn LinearSVC"),
        ("linear, hinge", "sparse", 300, 300, "maxmargin LinearSVM"),
        ("linear, hinge", "sparse", 300, 300, "scikit-learn LinearSVC"),
        ("rbf kernel, hinge", "corners", 300, 20, "maxmargin KernelSVM"),
        ("rbf kernel, hinge", "corners", 300, 20, "scikit-learn SVC"),
    ]
    for timing in found["timings"]:
        assert timing["C"] == 1.0
        assert timing["seconds"] > 0.0
        assert 0.0 <= timing["excess"] < (0.01 if "maxmargin" in timing["solver"] else 1.0)
    assert "scikit-learn" in found["machine"]


def test_a_table_of_the_user(flowers, capsys):
    assert main(["bench", *flowers, "-c", "10"]) == 0
    shown = capsys.readouterr().out
    for part in ("C = 10", "flowers.csv", "LinearSVC", "KernelSVM", "excess", "Proven"):
        assert part in shown


def test_what_cannot_be_compared(flowers, fail):
    assert "--rows must be between" in fail("bench", "--rows", "3")
    assert "a hard margin has nobody" in fail("bench", *flowers, "-c", "inf")
