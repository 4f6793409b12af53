"""`maxmargin fit --record` writes the run, and `maxmargin plot` draws it from its file."""

import csv
import json

import pytest

from maxmargin import Perceptron, Trace
from maxmargin.cli import main
from maxmargin.data import synthetic

STREET = "width,height,label\n0,0,left\n0,2,left\n1,1,left\n3,0,right\n5,1,right\n4,2,right\n"


@pytest.fixture
def street(write):
    return write(STREET)


def test_every_form_is_the_run_of_the_estimator(street, tmp_path, capsys):
    asked = ["fit", street, "--scale", "none", "--algorithm", "perceptron", "--record"]
    files = {suffix: tmp_path / f"run.{suffix}" for suffix in ("json", "csv", "HTML")}
    for file in files.values():
        assert main([*asked, str(file)]) == 0
        assert capsys.readouterr().out.endswith(f"The run is in {file}\n")
    X = [[0, 0], [0, 2], [1, 1], [3, 0], [5, 1], [4, 2]]
    model = Perceptron(record=True).fit(X, ["left"] * 3 + ["right"] * 3)
    trace = Trace.from_json(files["json"].read_text())
    assert trace.to_arrays()["after"].tolist() == model.trace_.to_arrays()["after"].tolist()
    assert trace.subject.columns == ("width", "height")
    assert trace.subject.X.tolist() == X
    lines = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert len(lines) == model.n_updates_
    assert float(lines[-1]["w of width"]) == model.coef_[0, 0]
    assert files["HTML"].read_text() == trace.to_html()


def test_columns_that_were_scaled_say_so(street, tmp_path, run):
    file = tmp_path / "run.json"
    code, told = run("fit", street, "--algorithm", "stochastic", "--set", "max_iter=500", "--record", str(file))
    assert (code, told["records"]) == (0, [str(file)])
    trace = Trace.from_json(file.read_bytes())
    assert trace.subject.columns == ("width, scaled", "height, scaled")
    assert trace.n_updates == 6 * round(trace.n_updates / 6)


def test_many_labels_have_a_file_for_each_plane(flowers, tmp_path, capsys):
    file = tmp_path / "run.json"
    asked = ["--algorithm", "perceptron", "--set", "max_updates=200", "--record", str(file)]
    assert main(["fit", *flowers, *asked]) in (0, 2, 3)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["run-0.json", "run-1.json", "run-2.json"]
    assert "run-2.json" in capsys.readouterr().out
    names = [Trace.from_json((tmp_path / name).read_text()).subject.names[0] for name in written]
    assert names == ["aster", "bellis", "crocus"]


@pytest.mark.parametrize("kernel", [False, True])
def test_a_run_is_drawn_without_its_data(write, tmp_path, capsys, kernel):
    X, y, _ = synthetic.separable_gaussians(20, 2, margin=0.3, seed=1)
    data = write("a,b,label\n" + "".join(f"{p},{q},{label}\n" for (p, q), label in zip(X, y, strict=True)))
    record, picture = tmp_path / "run.json", tmp_path / "run.svg"
    more = ["-t", "rbf"] if kernel else []
    assert main(["fit", data, "--algorithm", "perceptron", *more, "--record", str(record)]) == 0
    count = Trace.from_json(record.read_text()).n_updates
    (tmp_path / "data.csv").unlink()
    capsys.readouterr()
    for options, words in (
        ([], "update 1"),
        (["-k", "bound"], f"{count:,} updates, at most"),
        (["--update", "1"], "after update 1"),
    ):
        assert main(["plot", str(record), "-o", str(picture), *options]) == 0
        assert f"<!-- {words}" in picture.read_text()
    assert capsys.readouterr().err == ""


def test_the_search_and_the_game_of_winnow(street, tmp_path, fail, capsys):
    record, picture = tmp_path / "run.json", tmp_path / "run.svg"
    assert main(["fit", street, "--algorithm", "winnow", "--record", str(record)]) == 0
    trace = Trace.from_json(record.read_text())
    for kind, words in (("schedule", f"1 phase, {trace.n_updates} updates in all"), ("game", "rounds, epsilon = ")):
        assert main(["plot", str(record), "-o", str(picture), "-k", kind]) == 0
        assert words in picture.read_text()
    capsys.readouterr()
    assert "only --kind trace is a film" in fail("plot", str(record), "-o", str(tmp_path / "g.gif"), "-k", "game")
    assert main(["fit", street, "--algorithm", "perceptron", "--record", str(record)]) == 0
    capsys.readouterr()
    for kind, words in (("schedule", "this run searched for no number"), ("game", "the repeated game is Winnow's")):
        assert words in fail("plot", str(record), "-o", str(picture), "-k", kind)


def test_sentences(street, fail, tmp_path, write, capsys):
    record, model = str(tmp_path / "run.json"), str(tmp_path / "m.json")
    perceptron = ["--algorithm", "perceptron"]
    assert "must end in .html, .json or .csv" in fail("fit", street, *perceptron, "--record", "run.txt")
    assert "no folder" in fail("fit", street, *perceptron, "--record", str(tmp_path / "no" / "run.json"))
    (tmp_path / "a.json").mkdir()
    assert "it is a folder" in fail("fit", street, *perceptron, "--record", str(tmp_path / "a.json"))
    assert "no meaning for LinearSVM" in fail("fit", street, "--record", record)
    assert "both the model and the record" in fail("fit", street, *perceptron, "-o", model, "--record", model)
    assert "would be lost" in fail("fit", street, *perceptron, "--record", street)
    kept = str(tmp_path / "kept")
    assert "do not go together" in fail("fit", street, *perceptron, "--record", record, "--checkpoint", kept)
    assert main(["fit", street, *perceptron, "--record", record, "-o", model]) == 0
    capsys.readouterr()
    picture = str(tmp_path / "run.png")
    assert "leave" in fail("plot", record, street, "-o", picture)
    assert "--kind is one of trace, bound, schedule, game; a street" in fail(
        "plot", record, "-o", picture, "-k", "street"
    )
    assert f"maxmargin plot {model} DATA" in fail("plot", model, "-o", picture)
    broken = write(json.dumps(json.loads((tmp_path / "run.json").read_text()) | {"updates": 3}), "broken.json")
    assert "broken.json: this recorded run is damaged: 'updates' is missing" in fail("plot", broken, "-o", picture)
    assert "no recorded run" in fail("plot", write("{}", "other.json"), "-o", picture)
