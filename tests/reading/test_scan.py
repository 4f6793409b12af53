"""Rows that stay in their files: the same numbers as `read_table` has, the same plane, and errors with their place."""

import itertools
import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet
import pytest

from maxmargin import LinearSVM, read_table, scan_table, write_svmlight
from maxmargin.data.labelled import surveyed, with_labels
from maxmargin.data.synthetic import overlapping
from maxmargin.reading import scanned_blocks
from maxmargin.reading.files import DataFileError
from maxmargin.reading.paths import SpooledWarning
from maxmargin.reading.scan import bytes_of

X, Y = overlapping(3000)
LABELS = np.where(Y > 0, "yes", "no")
SMALL = 8 * 2**16  # bytes: blocks of 64 kB


def frame():
    table = pandas.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    table["label"] = LABELS
    table["w"] = 1.0 + np.arange(len(Y)) % 3
    return table


def write_csv(folder):
    frame().to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def write_parquet(folder):
    frame().to_parquet(folder / "t.parquet", row_group_size=700)
    return folder / "t.parquet"


def write_parts(folder):
    for place in range(4):
        part = frame()[750 * place : 750 * (place + 1)]
        part.to_parquet(folder / f"part{place}.parquet", index=False)
    return str(folder / "part*.parquet")


def write_folder(folder):
    write_parts(folder)
    (folder / "_SUCCESS").write_text("")
    return folder


def write_list(folder):
    frame()[:1000].to_csv(folder / "a.csv", index=False)
    frame()[1000:].to_csv(folder / "b.csv", index=False)
    return [str(folder / "a.csv"), folder / "b.csv"]


def write_dataset(folder):
    write_parts(folder)
    return pyarrow.dataset.dataset(folder, format="parquet")


def write_arrow(folder):
    table = pyarrow.Table.from_pandas(frame())
    with pyarrow.ipc.new_file(folder / "t.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=500)
    return folder / "t.arrow"


FILES = [write_csv, write_parquet, write_parts, write_folder, write_list, write_dataset, write_arrow]


def survey(*source, **asked):
    X, y, weights = scan_table(*source, **asked)
    return surveyed(with_labels(X, y, weights))


def rows_of(source):
    return np.concatenate([source.block(k) for k in range(source.n_blocks)])


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_rows_labels_and_weights_are_those_of_the_files(write, tmp_path):
    found = scan_table(write(tmp_path), label="label", weight="w", memory=10**7)
    assert rows_of(found.X).tobytes() == X.tobytes()
    assert np.asarray(found.y).tolist() == LABELS.tolist()
    assert np.asarray(found.weights).tolist() == frame()["w"].tolist()
    assert found.X.feature_names == tuple(frame().columns[: X.shape[1]])
    again = pickle.loads(pickle.dumps(found.X))
    assert rows_of(again).tobytes() == X.tobytes()


@pytest.mark.parametrize("write", [write_csv, write_parquet, write_arrow], ids=lambda write: write.__name__)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_same_optimum_as_in_memory(write, loss, tmp_path):
    scanned = scan_table(write(tmp_path), label="label", ignore="w", memory=SMALL if write is write_csv else 10**7)
    assert scanned.X.n_blocks > 1
    svm = LinearSVM(loss=loss, tol=1e-6, memory=10**7).fit(scanned.X, scanned.y)
    held = LinearSVM(loss=loss, tol=1e-6).fit(X, LABELS)
    assert svm.certificate_.verify(scanned.X, scanned.y)
    assert svm.certificate_.dual <= held.certificate_.primal
    assert held.certificate_.dual <= svm.certificate_.primal
    assert svm.certificate_.relative_gap <= 1e-6


def test_npy_is_mapped_and_its_columns_go_by_index(tmp_path):
    np.save(tmp_path / "t.npy", np.column_stack([X, Y]))
    found = scan_table(tmp_path / "t.npy", label=-1, memory=SMALL)
    assert found.X.n_blocks > 1
    assert rows_of(found.X).tobytes() == X.tobytes()
    assert np.asarray(found.y).tolist() == Y.tolist()


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_by_ranges(tmp_path, zero_based):
    sparse = np.where(np.abs(X) > 0.8, X, 0.0)
    write_svmlight(tmp_path / "t.svm", sparse, Y, zero_based=zero_based)
    whole = read_table(tmp_path / "t.svm", label=None)
    found = scan_table(tmp_path / "t.svm", memory=SMALL)
    parts = [found.X.block(k) for k in range(found.X.n_blocks)]
    assert len(parts) > 1
    assert np.concatenate([part.toarray() for part in parts]).tobytes() == whole.X.toarray().tobytes()
    assert np.asarray(found.y).tolist() == whole.y.tolist()
    assert np.asarray(found.y).dtype == whole.y.dtype


def test_labels_of_csv_are_told_by_all_of_them(tmp_path):
    rows = "".join(f"0.25,{'007' if place == 39_999 else place % 2}\n" for place in range(40_000))
    (tmp_path / "t.csv").write_text("a,label\n" + rows)
    found = scan_table(tmp_path / "t.csv", label="label", memory=SMALL)
    assert found.X.n_blocks > 1
    assert sorted(set(np.asarray(found.y).tolist())) == ["0", "007", "1"]


def test_what_can_be_read_once_is_spooled_aloud(tmp_path):
    lazy = polars.from_pandas(frame()).lazy()
    with pytest.warns(SpooledWarning, match="lazy frame"):
        found = scan_table(lazy, label="label", ignore="w", folder=tmp_path)
    assert rows_of(found.X).tobytes() == X.tobytes()
    reader = pyarrow.Table.from_pandas(frame()).to_reader(max_chunksize=400)
    with pytest.warns(SpooledWarning, match="a stream can be read once"):
        stream = scan_table(reader, label="label", ignore="w", folder=tmp_path)
    assert rows_of(stream.X).tobytes() == X.tobytes()
    assert len(list(tmp_path.iterdir())) == 2
    del found, stream
    assert not list(tmp_path.iterdir())


def frames(cut):
    """The rows as data frames, one after the other."""
    table = frame().drop(columns="w")
    return [table[first:last].reset_index(drop=True) for first, last in itertools.pairwise(cut)]


@pytest.mark.parametrize("part", [lambda frame: frame, pyarrow.Table.from_pandas, pyarrow.RecordBatch.from_pandas])
def test_frames_that_come_one_after_the_other(tmp_path, part, monkeypatch):
    """They are written as blocks that fit: large ones are cut, small ones are put together."""
    monkeypatch.setattr("maxmargin.reading.paths.SPOOLED_BYTES", 60_000)
    with pytest.warns(SpooledWarning, match="a stream can be read once"):
        found = scan_table((part(few) for few in frames([0, 2, 4, len(X)])), label="label", folder=tmp_path)
    assert rows_of(found.X).tobytes() == X.tobytes()
    heights = [found.X.block(k).shape[0] for k in range(found.X.n_blocks)]
    assert len(heights) > 1
    assert max(heights) < 2996
    with pytest.raises(TypeError, match="one after the other, not generator"):
        scan_table((number for number in range(3)), label="label")


def test_a_dataset_that_was_filtered_or_has_columns_in_the_names_of_folders(tmp_path):
    """Its rows are not those of its files."""
    halves = frames([0, len(X) // 2, len(X)])
    for number, half in enumerate(halves):
        (tmp_path / f"half={number}").mkdir()
        half.to_parquet(tmp_path / f"half={number}" / "rows.parquet")
    plain = scan_table(f"{tmp_path}/**/*.parquet", label="label")
    assert rows_of(plain.X).tobytes() == X.tobytes()
    dataset = pyarrow.dataset.dataset(tmp_path, partitioning="hive")
    with pytest.warns(SpooledWarning, match="rows of a dataset are chosen"):
        found = scan_table(dataset, label="label")
    assert np.array_equal(rows_of(found.X), np.column_stack([X, np.arange(len(X)) >= len(X) // 2]))
    positive = pyarrow.dataset.dataset(list(tmp_path.glob("*/*.parquet"))).filter(pyarrow.dataset.field("x0") > 0.0)
    with pytest.warns(SpooledWarning, match="rows of a dataset are chosen"):
        found = scan_table(positive, label="label")
    assert sorted(map(tuple, rows_of(found.X))) == sorted(map(tuple, X[X[:, 0] > 0.0]))
    with pytest.raises(FileNotFoundError, match=r"no file in .* itself, but there are folders: .*\*\*/\*\.parquet"):
        scan_table(tmp_path, label="label")


def test_compressed_text_is_unpacked_aloud(tmp_path):
    frame().to_csv(tmp_path / "t.csv.gz", index=False)
    with pytest.warns(SpooledWarning, match="compressed"):
        found = scan_table(tmp_path / "t.csv.gz", label="label", ignore="w")
    assert rows_of(found.X).tobytes() == X.tobytes()


def test_a_wrong_cell_is_named_by_its_file_and_line(tmp_path):
    lines = ["a,b,label", *["0.5,0.25,yes"] * 30_000]
    lines[20_000] = "0.5,,no"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(DataFileError, match=r"t\.csv, line 20001, column 'b': the cell is empty"):
        survey(tmp_path / "t.csv", label="label", memory=SMALL)


def test_a_missing_number_of_a_row_group_is_named(tmp_path):
    table = frame()
    table.loc[1500, "x1"] = np.nan
    table.to_parquet(tmp_path / "t.parquet", row_group_size=700)
    with pytest.raises(DataFileError, match=r"t\.parquet, row group 2, row 100 .*column 'x1': the value is missing"):
        survey(tmp_path / "t.parquet", label="label")


def test_the_footer_of_a_file_is_read_once_a_pass_and_again_when_the_file_is_another(tmp_path):
    """Else a file of many row groups would take a time that grows with their square."""
    path = tmp_path / "t.parquet"
    frame().to_parquet(path, row_group_size=100)
    rows, _, _ = scan_table(path, label="label", ignore=["w"])
    scanned_blocks.footer_of.cache_clear()
    assert rows.n_blocks == 30
    assert np.array_equal(np.concatenate([rows.block(k) for k in range(30)]), X)
    assert scanned_blocks.footer_of.cache_info().misses == 1
    frame()[::-1].to_parquet(path, row_group_size=100)
    again, _, _ = scan_table(path, label="label", ignore=["w"])
    assert np.array_equal(again.block(0), X[::-1][:100])


def test_a_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    frame().to_parquet(path, row_group_size=700, compression="zstd")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"t\.parquet, row group \d"):
        survey(path, label="label")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("label", "ignore"), [(0, []), (3, []), (-1, []), (1, [2, 4]), (4, [0])])
def test_npy_rows_are_cut_into_their_columns_piece_by_piece(tmp_path, monkeypatch, dtype, label, ignore):
    rows = np.random.default_rng(0).standard_normal((3000, 6)).astype(dtype)
    rows[:, label] = np.arange(3000) % 3
    np.save(tmp_path / "t.npy", rows)
    monkeypatch.setattr(scanned_blocks, "AT_ONCE", 37 * rows[0].nbytes)
    scanned, y, _ = scan_table(tmp_path / "t.npy", label=label, ignore=ignore, memory=SMALL)
    assert scanned.n_blocks > 3
    blocks = [scanned.block(k) for k in range(scanned.n_blocks)]
    features = [column for column in range(6) if column not in (label % 6, *ignore)]
    assert all(block.dtype == dtype and block.flags.c_contiguous for block in blocks)
    assert np.array_equal(np.concatenate(blocks), rows[:, features])
    assert np.asarray(y).tolist() == rows[:, label].tolist()
    with open(tmp_path / "t.npy", "r+b") as file:
        file.truncate(2900 * rows[0].nbytes)
    with pytest.raises(DataFileError, match="has become shorter"):
        scanned.reader.read(scanned.n_blocks - 1)


def test_a_file_that_became_shorter_is_refused(tmp_path):
    path = write_csv(tmp_path)
    found = scan_table(path, label="label", memory=SMALL)
    with open(path, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(DataFileError, match="has become shorter"):
        found.X.block(found.X.n_blocks - 1)


def test_text_features_are_refused_by_their_name(tmp_path):
    table = frame()
    table["colour"] = "red"
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(DataFileError, match="column 'colour': it is text"):
            scan_table(tmp_path / name, label="label")


def test_files_that_differ_are_refused(tmp_path):
    write_parquet(tmp_path)
    write_csv(tmp_path)
    with pytest.raises(DataFileError, match="scan files of one format"):
        scan_table(tmp_path, label="label")
    frame().drop(columns="x1").to_parquet(tmp_path / "u.parquet")
    with pytest.raises(DataFileError, match=r"u\.parquet: its columns are not those of .*: it has no column 'x1'"):
        scan_table(str(tmp_path / "*.parquet"), label="label")


def test_a_row_group_that_is_too_large_is_said_before_it_is_read(tmp_path):
    with pytest.raises(ValueError, match=r"row group \d of .* write smaller row groups"):
        scan_table(write_parquet(tmp_path), label="label", memory="10 kB")


@pytest.mark.parametrize("memory", ["", "many", "-1MB", "0", "1 PB", 0, "9" * 400])
def test_sizes_that_are_none(memory):
    with pytest.raises(ValueError, match="memory must be a size"):
        bytes_of(memory)


def test_what_is_no_table(tmp_path):
    with pytest.raises(ValueError, match="this list is empty"):
        scan_table([], label="label")
    with pytest.raises(TypeError, match="a table to scan is a path"):
        scan_table(3.0, label="label")
    with pytest.raises(FileNotFoundError, match="no file is called"):
        scan_table(str(tmp_path / "*.parquet"), label="label")
    with pytest.raises(FileNotFoundError, match="there is no file in"):
        scan_table(tmp_path, label="label")


def test_plain_files_are_not_spooled(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scan_table(write_csv(tmp_path), label="label")


@pytest.mark.parametrize("read", [scan_table, read_table])
@pytest.mark.parametrize(
    ("said", "why"),
    [({"zero_based": "maybe"}, "zero_based must be True, False"), ({"n_features": -3}, "1 column or more")],
)
def test_what_is_said_of_a_sparse_file_is_checked(tmp_path, read, said, why):
    file = tmp_path / "t.svm"
    file.write_text("+1 1:1 3:2\n-1 2:1\n")
    with pytest.raises(DataFileError, match=why):
        read(str(file), label=None, **said)


def test_an_index_that_is_likely_a_slip_is_named_with_its_line(tmp_path):
    file = tmp_path / "t.svm"
    lines = [f"{1 - 2 * (row % 2)} 1:{row} 2:1\n" for row in range(200)]
    lines[150] = "+1 1:3 2147483648:1\n"
    file.write_text("".join(lines))
    with pytest.raises(DataFileError, match=r"line 151: the index 2147483648 makes .* say n_features=2147483648"):
        scan_table(str(file), label=None, memory="4 kB")
    assert scan_table(str(file), label=None, memory="4 kB", n_features=2**31).X.n_columns == 2**31


@pytest.mark.parametrize("suffix", ["npy", "csv", "svm"])
def test_narrow_rows_are_cut_so_that_they_fit_the_memory_they_are_cut_for(tmp_path, suffix):
    random = np.random.default_rng(0)
    rows = random.integers(-9, 10, (60_000, 3)).astype(np.float32)
    y = np.where(rows[:, 0] + 5.0 * random.standard_normal(60_000) > 0.0, 1.0, -1.0)
    path = tmp_path / f"rows.{suffix}"
    if suffix == "npy":
        np.save(path, np.column_stack([rows, y]))
    elif suffix == "csv":
        np.savetxt(path, np.column_stack([rows, y]), "%d", ",", header="a,b,c,y", comments="")
    else:
        write_svmlight(path, rows, y)
    X, labels, _ = scan_table(path, label={"npy": -1, "csv": "y"}.get(suffix), memory="6MB")
    assert X.n_blocks > 1
    assert LinearSVM(loss="squared_hinge").fit(X, labels).certificate_.is_optimal
