"""--memory: the answers of tables that are read by blocks are those of tables in memory; no row is kept."""

import json

import numpy as np
import pandas
import pytest
import scipy.sparse as sparse

from maxmargin.cli import main
from maxmargin.cli.options import Scaling
from maxmargin.cli.preparation import numbers_of, preparation_of, prepare, transformed
from maxmargin.cli.tables import DataFile
from maxmargin.persistence import load
from maxmargin.reading.files import Format

N = 3000
SMALL = "2 MB"


def frame(rows=N, seed=1):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 4)) * [1.0, 10.0, 0.1, 3.0] + [5.0, 0.0, 2.0, -7.0]
    table = pandas.DataFrame(X, columns=list("abcd"))
    table["colour"] = np.array(["red", "blue", "green"])[random.integers(0, 3, rows)]
    score = X[:, 0] - 5.0 + X[:, 1] / 10.0 + 0.7 * random.standard_normal(rows) + (table["colour"] == "red")
    table["y"] = np.where(score > 0.0, "yes", "no")
    table["w"] = 1.0 + np.arange(rows) % 3
    table["id"] = [f"r{place}" for place in range(rows)]
    return table


def write_csv(folder):
    frame()[:1000].to_csv(folder / "a.csv", index=False)
    frame()[1000:].to_csv(folder / "b.csv", index=False)
    return [folder / "a.csv", folder / "b.csv"]


def write_parquet(folder):
    frame()[:1000].to_parquet(folder / "a.parquet", row_group_size=300, index=False)
    frame()[1000:].to_parquet(folder / "b.parquet", row_group_size=450, index=False)
    return [str(folder / "*.parquet")]


def told(capsys, *arguments, codes=(0,)):
    code = main([*map(str, arguments), "--json"])
    captured = capsys.readouterr()
    assert code in codes, captured.err + captured.out
    return json.loads(captured.out)


def refused(capsys, *arguments):
    assert main(list(map(str, arguments))) == 1
    return capsys.readouterr().err


ASKED = ["--label", "y", "--ignore", "id", "--loss", "squared_hinge"]
HINGE = ["--label", "y", "--ignore", "id", "--ignore", "w"]


@pytest.mark.parametrize("write", [write_csv, write_parquet])
@pytest.mark.parametrize("more", [[], ["--weight", "w", "--scale", "minmax"], ["--ignore", "w", "--scale", "none"]])
def test_a_fit_by_blocks_is_that_in_memory(tmp_path, write, more, capsys):
    data = write(tmp_path)
    held = told(capsys, "fit", *data, *ASKED, *more, "-o", tmp_path / "held")
    by_blocks = told(capsys, "fit", *data, *ASKED, *more, "--memory", "4MB", "-o", tmp_path / "by_blocks")
    assert by_blocks["blocks"] > 1
    for name in ("rows", "columns", "labels", "scaling", "columns_taken", "algorithm"):
        assert by_blocks[name] == held[name]
    assert by_blocks["accuracy"] == pytest.approx(held["accuracy"], abs=2e-3)
    one, other = by_blocks["certificate"], held["certificate"]
    assert one["dual"] <= other["primal"] * (1.0 + 1e-9)
    assert other["dual"] <= one["primal"] * (1.0 + 1e-9)
    assert by_blocks["relative_gap"] <= 1e-4
    models = [load(tmp_path / name) for name in ("held", "by_blocks")]
    assert [type(step) for _, step in models[0].steps] == [type(step) for _, step in models[1].steps]
    before = [model[:-1].transform(frame(50, 7)[list(model.steps[0][1].feature_names_in_)]) for model in models]
    before = [np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float) for X in before]
    np.testing.assert_allclose(before[1], before[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("asked", [[*ASKED, "--weight", "w"], HINGE])
def test_proofs_are_verified_by_blocks_and_in_memory(tmp_path, asked, capsys):
    data, model = write_csv(tmp_path), tmp_path / "m"
    told(capsys, "fit", *data, *asked, "--memory", "4MB", "-o", model)
    for more in (["--memory", "4MB"], []):
        assert told(capsys, "verify", model, *data, *more)["holds"] is True
    text = (tmp_path / "b.csv").read_text()
    (tmp_path / "b.csv").write_text(text.replace("yes", "no", 1))
    assert told(capsys, "verify", model, *data, "--memory", "4MB", codes=(2,))["holds"] is False
    (tmp_path / "b.csv").write_text(text.replace("yes", "perhaps", 1))
    assert "b.csv, line" in refused(capsys, "verify", model, *data, "--memory", "4MB")


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_proofs_are_verified_within_another_memory_and_in_other_files(tmp_path, write, capsys):
    data, model = write(tmp_path), tmp_path / "m"
    told(capsys, "fit", *data, *ASKED, "--memory", "4MB", "-o", model)
    for memory in ("3MB", "400MB"):
        assert told(capsys, "verify", model, *data, "--memory", memory)["holds"] is True
    (tmp_path / "again").mkdir()
    frame(N).to_parquet(tmp_path / "again" / "rows.parquet", row_group_size=777)
    assert told(capsys, "verify", model, tmp_path / "again" / "rows.parquet", "--memory", "4MB")["holds"] is True
    assert "must fit into the memory of 0.01 MB: allow " in refused(
        capsys, "verify", model, tmp_path / "again" / "rows.parquet", "--memory", "10kB"
    )


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_predictions_are_written_as_blocks_are_read(tmp_path, write, capsys):
    data, model = write(tmp_path), tmp_path / "m"
    told(capsys, "fit", *data, *ASKED, "--ignore", "w", "-o", model)
    for more in ([], ["--id", "id"], ["--label", "y", "--weight", "w", "--scores", "--distances"]):
        found = []
        for memory in ([], ["--memory", "4MB"]):
            assert main(list(map(str, ["predict", model, *data, *more, *memory, "-o", tmp_path / "p.csv"]))) == 0
            found.append(((tmp_path / "p.csv").read_text(), capsys.readouterr().err))
        lines = [[line.split(",") for line in text.splitlines()] for text, _ in found]
        assert [[cell for cell in line if not is_number(cell)] for line in lines[0]] == [
            [cell for cell in line if not is_number(cell)] for line in lines[1]
        ]
        numbers = [[float(cell) for line in one for cell in line if is_number(cell)] for one in lines]
        np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-9, atol=1e-9)
        assert found[0][1] == found[1][1]  # what is told of the labels
    held, by_blocks = (told(capsys, "predict", model, *data, *memory) for memory in ([], ["--memory", "4MB"]))
    assert {name for name in held if held[name] != by_blocks[name]} <= {"file", "scores"}
    np.testing.assert_allclose(held["scores"], by_blocks["scores"], rtol=1e-9, atol=1e-9)


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_unknown_words_and_labels_are_counted_over_all_blocks(tmp_path, capsys):
    data, model = write_csv(tmp_path), tmp_path / "m"
    told(capsys, "fit", *data, *ASKED, "--ignore", "w", "-o", model)
    other = frame(seed=3)
    other.loc[[5, 2900], "colour"] = "mauve"
    other.loc[[7, 2800], "y"] = "perhaps"
    other.to_csv(tmp_path / "new.csv", index=False)
    said = []
    for memory in ([], ["--memory", SMALL]):
        assert main(["predict", str(model), str(tmp_path / "new.csv"), "--label", "y", *memory]) == 0
        said.append(capsys.readouterr())
    assert said[0].out == said[1].out
    assert sorted(said[0].err.splitlines()) == sorted(said[1].err.splitlines())
    assert "2 of 3,000 rows hold categories" in said[1].err
    (tmp_path / "empty.csv").write_text((tmp_path / "new.csv").read_text().splitlines()[0] + "\n")


@pytest.mark.parametrize("more", [[], ["--positive", "yes"], ["--weight", "w"]])
def test_separability_by_blocks(tmp_path, more, capsys):
    table = frame().drop(columns="id")
    table["w"] = np.where(np.arange(N) % 7 == 0, 0.0, 1.0)
    table.to_csv(tmp_path / "t.csv", index=False)
    asked = [tmp_path / "t.csv", "--label", "y", *more, *([] if "--weight" in more else ["--ignore", "w"])]
    held = told(capsys, "check", *asked, codes=(3,))
    by_blocks = told(capsys, "check", *asked, "--memory", SMALL, codes=(3,))
    assert by_blocks["separable"] is held["separable"] is False
    lines = (tmp_path / "t.csv").read_text().splitlines()
    for row in by_blocks["problems"][0]["carrying_rows"]:
        cells = lines[row["line"] - 1].split(",")
        assert cells[5] == row["label"]
        assert float(cells[0]) == row["contents"][0][1]
    table["a"] = np.where(table["y"] == "yes", 100.0, -100.0) + table["a"]
    table.to_csv(tmp_path / "t.csv", index=False)
    held, by_blocks = (told(capsys, "check", *asked, *memory) for memory in ([], ["--memory", SMALL]))
    margins = [found["problems"][0]["certificate"]["margin_lower"] for found in (held, by_blocks)]
    assert margins[1] == pytest.approx(margins[0], rel=1e-5)


def test_rows_of_a_proof_are_looked_up_in_their_row_groups(tmp_path, capsys):
    """Most groups have none of them, and are not read for it."""
    table = frame()[["a", "b", "y"]]
    table.to_parquet(tmp_path / "t.parquet", row_group_size=50)
    asked = [tmp_path / "t.parquet", "--label", "y", "--memory", "8MB"]
    found = told(capsys, "check", *asked, codes=(3,))["problems"][0]["carrying_rows"]
    assert 2 <= len(found) <= 4
    for row in found:
        at = table.iloc[row["line"] - 1]
        assert (at["y"], [at["a"], at["b"]]) == (row["label"], [value for _, value in row["contents"]])


def test_missing_cells_are_filled_in_by_blocks(tmp_path, capsys):
    table = frame().drop(columns=["id", "w"])
    table.loc[::5, "b"] = np.nan
    table.loc[::7, "colour"] = None
    table.loc[:1500, "c"] = np.nan  # whole blocks without a value
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet", row_group_size=300)
    asked = ["--label", "y", "--loss", "squared_hinge", "--impute"]
    held = told(capsys, "fit", tmp_path / "t.csv", *asked, "-o", tmp_path / "held")
    for name in ("t.csv", "t.parquet"):
        found = told(capsys, "fit", tmp_path / name, *asked, "--memory", "4MB", "-o", tmp_path / "m")
        assert found["columns_taken"] == held["columns_taken"]
        assert found["certificate"]["primal"] == pytest.approx(held["certificate"]["primal"], rel=1e-4)
    assert "(--impute fills such cells in)" in refused(
        capsys, "fit", tmp_path / "t.csv", "--label", "y", "--memory", SMALL
    )


def test_sparse_files_and_texts(tmp_path, capsys):
    random = np.random.default_rng(0)
    rows = []
    for place in range(5000):
        columns = np.sort(random.choice(30, 5, replace=False)) + 1
        entries = " ".join(f"{column}:{random.standard_normal():.4f}" for column in columns)
        rows.append(f"{1 if 3 in columns or place % 9 == 0 else -1} {entries}\n")
    (tmp_path / "t.svm").write_text("".join(rows))
    for scale in ("auto", "standard"):
        asked = ["fit", tmp_path / "t.svm", "--loss", "squared_hinge", "--scale", scale]
        held, found = (told(capsys, *asked, *memory) for memory in ([], ["--memory", SMALL]))
        assert found["blocks"] > 1
        assert found["certificate"]["primal"] == pytest.approx(held["certificate"]["primal"], rel=2e-4)
    table = frame(400)[["a", "y"]].assign(note=lambda t: np.where(t["y"] == "yes", "good wine", "bad wine now"))
    table.to_csv(tmp_path / "n.csv", index=False)
    asked = ["fit", tmp_path / "n.csv", "--label", "y", "--loss", "squared_hinge", "--text", "note"]
    held = told(capsys, *asked)
    assert "memory" in refused(capsys, *asked, "--memory", SMALL)  # 16,385 columns
    assert held["columns_taken"]["text"] == {"note": 16384}


def test_what_needs_rows_in_memory_is_said(tmp_path, capsys):
    data = write_csv(tmp_path)
    small = ["--memory", SMALL]
    assert "KernelSVM has its rows in memory" in refused(capsys, "fit", *data, "-t", "rbf", "--label", "y", *small)
    assert "--probability has the rows in memory" in refused(capsys, "fit", *data, "--probability", *small)
    assert "memory must be a size" in refused(capsys, "fit", *data, "--memory", "much")
    assert "write a query or standard input to one first" in refused(capsys, "check", "-", *small)
    assert "--both-margins has the rows" in refused(capsys, "check", *data, "--label", "y", "--both-margins", *small)
    assert "say with --label" in refused(capsys, "fit", *write_parquet(tmp_path), *small, "--ignore", "y")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_damage_is_named(tmp_path, suffix, capsys):
    asked = ["--label", "y", "--ignore", "id", "--ignore", "w", "--memory", "4MB"]
    other = frame(600)
    other.loc[400, "b"] = np.inf
    for name, table in (("a", frame()), ("b", other)):
        if suffix == "csv":
            table.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            table.to_parquet(tmp_path / f"{name}.parquet", row_group_size=300)
    place = "b.csv, line 402, column 'b'" if suffix == "csv" else "b.parquet, row group 1, row 100 (counted from 0)"
    for command in ("fit", "check"):
        assert place in refused(capsys, command, tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}", *asked)
    frame(60).assign(y="yes").to_csv(tmp_path / "one.csv", index=False)
    squared = ["--loss", "squared_hinge"]
    assert "one class only" in refused(capsys, "fit", tmp_path / "one.csv", *asked, *squared)
    assert "every row has the label 'yes'" in refused(capsys, "check", tmp_path / "one.csv", *asked)


def test_an_audit_by_blocks(tmp_path, capsys):
    data, model = write_csv(tmp_path), tmp_path / "m"
    told(capsys, "fit", *data, *ASKED, "--weight", "w", "-o", model)
    held = told(capsys, "audit", model, *data)["parts"][0]
    found = told(capsys, "audit", model, *data, "--memory", "4MB")["parts"][0]
    assert found["objective"] == pytest.approx(held["objective"], rel=1e-9)
    assert found["optimum_lower"] <= held["optimum_upper"]
    assert held["optimum_lower"] <= found["optimum_upper"]
    assert found["excess"] <= 2e-4


@pytest.mark.parametrize(("memory", "reason"), [("9kB", "row group 0 of"), ("many", "a size such as")])
def test_a_memory_that_cannot_be_is_refused_in_a_sentence(tmp_path, memory, reason, capsys):
    sentence = refused(capsys, "fit", *write_parquet(tmp_path), *ASKED, "--memory", memory)
    assert sentence.startswith("maxmargin: --memory: ")
    assert reason in sentence


@pytest.mark.parametrize("scaling", Scaling)
@pytest.mark.parametrize("impute", [False, True])
@pytest.mark.parametrize("asked", [{}, {"note": "text"}], ids=["categories", "prose too"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_and_words_go_to_their_own_steps(scaling, impute, asked, dtype):
    """With the bits of one table of objects for both."""
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3)).astype(dtype)
    words = {name: random.choice(["red", "green", "blue"], 60).astype(object) for name in ("colour", "note")}
    if impute:
        X[3, 1] = words["colour"][5] = np.nan
    table = DataFile("t", Format.PARQUET, X, None, ("a", "b", "c"), None, np.arange(60), texts=words, asked=asked)
    steps = preparation_of(table, scaling, impute)
    prepare(table, steps)
    found, want = transformed(table, steps), numbers_of(steps.transform(table.rows()))
    assert sparse.issparse(found) is sparse.issparse(want) is bool(asked)
    found, want = (part.toarray() if sparse.issparse(part) else part for part in (found, want))
    assert found.dtype == want.dtype == np.float64
    assert found.tobytes() == want.tobytes()
