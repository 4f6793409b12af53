"""Labels that stay in the files come with the rows in one read, and mean the same as in memory; changes are told."""

import json
import os
import pickle

import numpy as np
import pandas
import pyarrow.parquet
import pytest

from maxmargin import HardMarginSVM, read_table, scan_table
from maxmargin.data.labelled import surveyed, with_labels
from maxmargin.data.synthetic import overlapping
from maxmargin.data.table import is_sparse
from maxmargin.reading.files import DataFileError

X, Y = overlapping(900)
LABELS = np.where(Y > 0, "yes", "no")
WEIGHTS = np.arange(900) % 3 * 1.0
SMALL = 8 * 2**16


def frame(labels=LABELS):
    table = pandas.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    table["label"], table["w"] = labels, WEIGHTS
    return table


def csv(folder, labels=LABELS):
    frame(labels).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def parquet(folder, labels=LABELS):
    frame(labels).to_parquet(folder / "t.parquet", row_group_size=200)
    return folder / "t.parquet"


def joined(table):
    """Rows, labels and weights of all blocks."""
    blocks = [table.block(k) for k in range(table.n_blocks)]
    X = np.concatenate([block.X.toarray() if is_sparse(block.X) else block.X for block in blocks])
    codes = np.concatenate([block.codes for block in blocks])
    return X, codes, [block.weights for block in blocks]


@pytest.mark.parametrize("write", [csv, parquet])
def test_labels_of_the_files_come_with_their_rows(tmp_path, write, monkeypatch):
    scanned = scan_table(write(tmp_path), label="label", weight="w", memory=SMALL)
    reads = []
    read = type(scanned.X.reader).read
    monkeypatch.setattr(type(scanned.X.reader), "read", lambda self, k: reads.append(k) or read(self, k))
    table = surveyed(with_labels(scanned.X, scanned.y, scanned.weights))
    assert reads == list(range(scanned.X.n_blocks))  # once for all of it
    found, codes, weights = joined(table)
    assert found.tobytes() == X.tobytes()
    assert np.concatenate(weights).tolist() == WEIGHTS.tolist()
    counting = WEIGHTS > 0.0
    assert table.classes[codes[counting]].tolist() == LABELS[counting].tolist()
    assert set(codes[~counting]) == {-1}
    assert table.seen.counts.tolist() == [int(np.sum(LABELS[counting] == one)) for one in ("no", "yes")]


def test_weights_that_nobody_gave_do_not_count(tmp_path):
    scanned = scan_table(csv(tmp_path), label="label", weight="w")
    assert joined(surveyed(with_labels(scanned.X, scanned.y)))[2] == [None]


@pytest.mark.parametrize("write", [csv, parquet])
def test_the_name_of_a_column_and_labels_in_memory_are_the_same(tmp_path, write):
    path = write(tmp_path)
    scanned = scan_table(path, label="label", ignore="w", memory=SMALL)
    own = joined(surveyed(with_labels(scanned.X, scanned.y)))
    beside = joined(surveyed(with_labels(scanned.X, LABELS)))
    named = scan_table(path, ignore="w", memory=SMALL).X
    with pytest.raises(DataFileError, match="column 'label': it is text"):
        named.block(0)
    by_name = joined(surveyed(with_labels(named, "label")))
    for other in (beside, by_name):
        assert other[0].tobytes() == own[0].tobytes()
        assert other[1].tolist() == own[1].tolist()
    assert with_labels(named, "label", "x1").weighted


def test_a_column_of_another_table_is_read_beside(tmp_path):
    path = csv(tmp_path)
    one, other = scan_table(path, label="label", ignore="w"), scan_table(path, label="label")
    table = surveyed(with_labels(other.X, one.y))
    assert table.n_columns == X.shape[1] + 1
    assert joined(table)[1].tolist() == (LABELS == "yes").astype(int).tolist()
    parts = scan_table(parquet(tmp_path), label="label")
    with pytest.raises(ValueError, match="X has 5 blocks, and the table that y belongs to 1"):
        with_labels(parts.X, one.y)


def test_labels_that_do_not_fit(tmp_path):
    rows = scan_table(csv(tmp_path), ignore="label").X
    with pytest.raises(ValueError, match=r"X has 900 rows but y has the shape \(899,\)"):
        with_labels(rows, LABELS[1:])
    with pytest.raises(ValueError, match=r"sample_weight has the shape \(2,\), but X has 900 rows"):
        with_labels(rows, LABELS, [1.0, 2.0])
    with pytest.raises(ValueError, match="zero for every row"):
        with_labels(rows, LABELS, np.zeros(900))

    class Bare:
        n_rows, n_columns, n_blocks = 900, X.shape[1], 1

        def block(self, k):
            return X

    with pytest.raises(TypeError, match="y = 'label' names a column, but a Bare knows no columns by name"):
        with_labels(Bare(), "label")
    assert joined(surveyed(with_labels(Bare(), LABELS)))[0].tobytes() == X.tobytes()


def test_words_and_numbers_are_told_by_all_blocks(tmp_path):
    rows = "".join(f"0.25,{'+1.0' if place == 39_999 else place % 2}\n" for place in range(40_000))
    (tmp_path / "t.csv").write_text("a,label\n" + rows)
    scanned = scan_table(tmp_path / "t.csv", label="label", memory=SMALL)
    table = surveyed(with_labels(scanned.X, scanned.y))
    assert table.n_blocks > 1
    assert table.classes.tolist() == [0, 1]  # '1' and '+1.0' are one class
    assert table.seen.counts.tolist() == [20_000, 20_000]
    assert table.block(table.n_blocks - 1).codes[-1] == 1


def test_an_estimator_that_needs_all_rows_reads_them(tmp_path):
    far = np.where((X[:, 0] > 0.0)[:, None], X + 3.0, X - 3.0)
    table = pandas.DataFrame(far).add_prefix("x")
    table["label"] = far[:, 0] > 0.0
    table.to_parquet(tmp_path / "t.parquet", row_group_size=300)
    rows, y, _ = scan_table(tmp_path / "t.parquet", label="label")
    svm = HardMarginSVM().fit(rows, y)
    assert svm.certificate_.verify(far, far[:, 0] > 0.0)
    assert len(y) == 900
    assert np.asarray(y).dtype == bool


def test_opening_reads_no_row(tmp_path):
    path = csv(tmp_path)
    with open(path, "a") as file:
        file.write("this,is,no,row\n")
    assert scan_table(path, label="label").X.n_rows is None
    assert scan_table(parquet(tmp_path), label="label").X.n_rows == 900


def test_a_fingerprint_knows_files_and_cut(tmp_path):
    path = csv(tmp_path)
    found = scan_table(path, label="label", memory=SMALL)
    told = with_labels(found.X, found.y).fingerprint()
    assert json.loads(json.dumps(told)) == told
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    (copy / "t.csv").write_bytes(path.read_bytes())
    assert scan_table(copy / "t.csv", label="label", memory=SMALL).X.fingerprint() == found.X.fingerprint()
    others = [
        scan_table(path, label="label", memory=2 * SMALL),
        scan_table(path, label="w", ignore="label", memory=SMALL),
        scan_table(path, label="label", ignore="w", memory=SMALL),
    ]
    (copy / "t.csv").write_text(path.read_text().replace("yes", "yep", 1))
    others.append(scan_table(copy / "t.csv", label="label", memory=SMALL))
    told = [json.dumps(one.X.fingerprint()) for one in (found, *others)]
    assert len(set(told)) == len(told)
    with_y = {json.dumps(with_labels(found.X, y).fingerprint()) for y in (LABELS, LABELS[::-1])}
    assert len(with_y) == 2


def test_files_that_change_between_two_reads_are_named(tmp_path):
    path = parquet(tmp_path)
    rows, y, _ = scan_table(path, label="label", ignore="w")
    table = pickle.loads(pickle.dumps(surveyed(with_labels(rows, y))))
    assert table.block(1).X.shape == (200, X.shape[1])
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataFileError, match=r"t\.parquet: the file has changed since it was first read"):
        table.block(1)
    with open(path, "r+b") as file:
        file.truncate(100)
    with pytest.raises(DataFileError, match=r"t\.parquet: the file has become shorter .*: 100 bytes, and it had"):
        table.block(1)


def test_labels_of_several_files_are_alike(tmp_path):
    parquet(tmp_path)
    frame(Y).to_parquet(tmp_path / "u.parquet")
    with pytest.raises(
        DataFileError, match=r"u\.parquet, column 'label': its labels are numbers, and those of .* text"
    ):
        scan_table([tmp_path / "t.parquet", tmp_path / "u.parquet"], label="label")
    words = frame().astype({"x1": str})
    words.to_parquet(tmp_path / "u.parquet")
    with pytest.raises(DataFileError, match=r"u\.parquet, column 'x1': it holds text, and in .*t\.parquet numbers"):
        scan_table([tmp_path / "t.parquet", tmp_path / "u.parquet"], label="label")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy", "svm"])
def test_files_without_rows_among_others(tmp_path, suffix):
    for name, part in (("a", slice(0, 0)), ("b", slice(0, 500)), ("c", slice(0, 0)), ("d", slice(500, 900))):
        path, some = tmp_path / f"{name}.{suffix}", frame(Y)[part]
        if suffix == "csv":
            some.to_csv(path, index=False)
        elif suffix == "parquet":
            some.to_parquet(path, index=False)
        elif suffix == "npy":
            np.save(path, some.to_numpy() if name != "d" else np.asfortranarray(some.to_numpy()))
        else:
            lines = [f"{y:g} 1:{row[0]!r} 2:{row[1]!r}\n" for row, y in zip(X[part].tolist(), Y[part], strict=True)]
            path.write_text("".join(lines))
    asked = {"csv": {"label": "label", "ignore": "w"}, "npy": {"label": -2, "ignore": [-1]}, "svm": {}}
    scanned = scan_table(tmp_path, memory=SMALL, **asked.get(suffix, {"label": "label", "ignore": "w"}))
    assert np.asarray(scanned.y).tolist() == Y.tolist()
    table = surveyed(with_labels(scanned.X, scanned.y))
    assert table.n_rows == 900
    assert np.asarray(joined(table)[1]).tolist() == (Y > 0).astype(int).tolist()


def test_rows_of_several_files_are_those_of_one(tmp_path):
    frame()[:300].to_csv(tmp_path / "b.csv", index=False)
    frame()[300:].to_csv(tmp_path / "a.csv", index=False)
    found = scan_table([tmp_path / "b.csv", tmp_path / "a.csv"], label="label")
    whole = read_table(csv(tmp_path), label="label")
    assert np.concatenate([found.X.block(k) for k in range(2)]).tobytes() == whole.X.tobytes()
    assert np.asarray(found.y).tolist() == whole.y.tolist()


def test_the_second_file_is_named_with_its_own_line(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    lines = frame().to_csv(index=False).splitlines()
    lines[700] = "x" + lines[700]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    scanned = scan_table(tmp_path, label="label", memory=SMALL)
    with pytest.raises(DataFileError, match=r"b\.csv, line 701, column 'x0': 'x.*' is not a number"):
        surveyed(with_labels(scanned.X, scanned.y))


def test_one_class_in_all_files(tmp_path):
    frame(["yes"] * 900).to_csv(tmp_path / "t.csv", index=False)
    scanned = scan_table(tmp_path / "t.csv", label="label")
    with pytest.raises(ValueError, match="one class only"):
        surveyed(with_labels(scanned.X, scanned.y))


def test_a_file_that_is_cut_off_is_named(tmp_path):
    path = parquet(tmp_path)
    content = path.read_bytes()
    (tmp_path / "u.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"u\.parquet"):
        scan_table(tmp_path, label="label")
    np.save(tmp_path / "t.npy", X)
    content = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(content[:-100])
    with pytest.raises(DataFileError, match=r"t\.npy: it cannot be read as \.npy"):
        scan_table(tmp_path / "t.npy", label=0)
    assert pyarrow.parquet.read_table(path).num_rows == 900
