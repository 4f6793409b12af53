"""SVMlight files: read exactly, or refused with the line."""

import contextlib
import gzip
import io
import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from random_sparse import random_sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from maxmargin.reading.files import DataFileError
from maxmargin.reading.svmlight import read_svmlight


def read(text, **options):
    return read_svmlight(io.StringIO(text) if isinstance(text, str) else io.BytesIO(text), **options)


def refusal(text, **options):
    with pytest.raises(DataFileError) as caught:
        read(text, **options)
    return caught.value


def test_rows_comments_and_labels_alone():
    table = read("# a comment\n\n+1 qid:3 1:0.5 3:-2e-3 # more\n-1\n1 2:1\n")
    assert table.X.toarray().tolist() == [[0.5, 0.0, -0.002], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert isinstance(table.X, sparse.csr_array)
    assert table.X.dtype == np.float64
    assert table.y.tolist() == [1, -1, 1]
    assert table.y.dtype == np.int64
    assert table.lines.tolist() == [3, 4, 5]


def test_labels_that_are_no_whole_numbers_stay_floats():
    assert read("0.5 1:1\n1 1:2\n").y.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("zero_based", "text", "width", "counted_from_zero"),
    [
        ("auto", "1 1:1 3:1\n", 3, False),
        ("auto", "1 1:1\n1 0:1\n", 2, True),
        (True, "1 1:1 3:1\n", 4, True),
        (False, "1 1:1 3:1\n", 3, False),
    ],
)
def test_where_indices_begin(zero_based, text, width, counted_from_zero):
    table = read(text, zero_based=zero_based)
    assert table.X.shape[1] == width
    assert table.zero_based is counted_from_zero


def test_the_number_of_columns_can_be_given():
    assert read("1 1:1\n", n_features=7).X.shape == (1, 7)
    assert read("1\n-1\n", n_features=2).X.shape == (2, 2)


def test_compressed_with_other_ends_of_lines(tmp_path):
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf1 1:2\r\n-1 2:3\r\n", mtime=0))
    assert read_svmlight(path).X.toarray().tolist() == [[2.0, 0.0], [0.0, 3.0]]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("", None, "the file is empty"),
        ("# nothing\n\n", None, "the file is empty"),
        ("1\n2\n", None, "there is no column"),
        ("1 1:1\ncat 1:1\n", 2, "the label 'cat' is not a number"),
        ("1:2 3:4\n", 1, "the label is missing"),
        ("1,3 1:1\n", 1, "one label only"),
        ("1 1:1\n\n1 2\n", 3, "'2' is not index:value"),
        ("1 a:1\n", 1, "the index 'a'"),
        ("1 -1:1\n", 1, "the index '-1'"),
        ("1 1.5:1\n", 1, "the index '1.5'"),
        ("1 1:x\n", 1, "the value 'x' of index 1 is not a number"),
        ("1 1:\n", 1, "the value '' of index 1"),
        ("1 1:2:3\n", 1, "the value '2:3'"),
        ("1 1:1_0\n", 1, "'1_0'"),
        ("1 1:\u0661\n", 1, "is not a number"),
        ("1 1 2:3:4\n", 1, "'1' is not index:value"),
        (f"1 {10**30}:1\n", 1, "too large"),
        ("1 3:1 2:1\n", 1, "index 2 comes after 3"),
        ("1 1:1\n\n1 2:1 2:1\n", 3, "index 2 comes twice"),
        ("1\n1 1:1\n1\n1 2:1 1:1\n", 4, "index 1 comes after 2"),
        ("1 1:1\n1 1:nan\n", 2, "the value of index 1 is NaN"),
        ("1 1:1\n1\n1 2:-inf\n", 3, "infinite"),
        ("1 1:1e999\n", 1, "too large for 64 bits"),
        ("nan 1:1\n", 1, "the label is nan"),
        ("1 1:1 qid:3\n", 1, "qid stands once"),
        ("1 qid:x 1:1\n", 1, "'qid'"),
        (b"1 1:\x00\n", 1, "NUL"),
        (b"1 1:1\n1 1:\xff\n", 2, "not UTF-8"),
    ],
)
def test_refusals_name_the_line(text, line, part):
    error = refusal(text)
    assert part in str(error)
    assert error.line == line
    assert "\n" not in str(error)


def test_refusals_of_what_was_asked():
    assert "count from 1" in str(refusal("1 1:1\n1 0:1\n", zero_based=False))
    error = refusal("1 1:1\n1 1:1 4:1\n", n_features=3)
    assert str(error) == "the data, line 2: index 4 is beyond the 3 columns"


entries = st.dictionaries(st.integers(1, 12), st.floats(allow_nan=False, allow_infinity=False).filter(bool), max_size=6)


@given(
    st.lists(st.tuples(st.integers(-2, 2), entries), min_size=1, max_size=10).filter(
        lambda rows: any(r[1] for r in rows)
    )
)
def test_numbers_are_read_exactly(rows):
    text = "".join(
        f"{label} " + " ".join(f"{index}:{row[index]!r}" for index in sorted(row)) + "\n" for label, row in rows
    )
    table = read(text, n_features=12)
    expected = np.zeros((len(rows), 12))
    for place, (_, row) in enumerate(rows):
        for index, value in row.items():
            expected[place, index - 1] = value
    assert np.array_equal(table.X.toarray(), expected)
    assert table.y.tolist() == [label for label, _ in rows]


def test_agrees_with_scikit_learn(tmp_path):
    random = np.random.default_rng(0)
    X = random_sparse((40, 30), 0.2, random, container=sparse.coo_matrix)
    path = tmp_path / "rows.svmlight"
    dump_svmlight_file(X, random.integers(0, 3, 40), str(path), zero_based=False)
    theirs, y = load_svmlight_file(str(path), n_features=30, zero_based=False)
    ours = read_svmlight(path, n_features=30)
    assert np.array_equal(ours.X.toarray(), theirs.toarray())
    assert np.array_equal(ours.y, y)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw):
    with contextlib.suppress(DataFileError):
        table = read(raw)
        assert np.isfinite(table.X.data).all()
        assert table.X.shape[0] == len(table.y) == len(table.lines)


def test_any_order_where_it_is_allowed():
    table = read("1 3:1 1:2\n-1 2:5\n", any_order=True)
    assert table.X.indices.tolist() == [0, 2, 1]
    assert table.X.data.tolist() == [2.0, 1.0, 5.0]
    assert table.X.has_canonical_format
    error = refusal("1 1:1\n\n1 3:1 1:2 3:4\n", any_order=True)
    assert str(error) == "the data, line 3: index 3 comes twice"


def test_queries_are_kept():
    assert read("1 qid:7 1:1\n1 1:1\n").queries.tolist() == [7, -1]
    assert read("1 1:1\n").queries is None


@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        ("1 1:1\n", {}, "taken to count from 1"),
        ("1 0:1\n", {}, "count from 0, because there is an index 0"),
        ("1 1:1\n", {"zero_based": False}, None),
    ],
)
def test_a_note_tells_how_indices_were_counted(text, options, part):
    notes = read(text, **options).notes
    assert notes == () if part is None else part in notes[0]


def test_the_character_is_named():
    error = refusal("1 1:1\n1  qid:3 2:1 5:x # 9\n")
    assert (error.line, error.character) == (2, 14)
    assert str(error) == "the data, line 2, character 14: the value 'x' of index 5 is not a number"


def test_comments_hold_any_text():
    assert read("# caf\u00e9\n1 1:1# \u4f60 :::\n").y.tolist() == [1]
    assert refusal(b"# \xff\n1 1:x\n").line == 1
    assert refusal(b"1 1:x\n# \xff\n").line == 1
    assert "NUL" in str(refusal(b"1 1:1\n1 1:1 # \x00\n"))


@pytest.mark.parametrize("largest", [2**31 - 1, 2**31 + 5, 10**17])
def test_indices_of_32_and_64_bits(largest):
    table = read(f"1 1:1 {largest}:2\n", zero_based=True, n_features=largest + 1)
    assert table.X.indices.tolist() == [1, largest]
    assert table.X.shape == (1, largest + 1)


@pytest.mark.parametrize(("text", "width"), [("", 2**28 + 1), ("1 0:1\n", 2**28 + 2)])
def test_an_index_that_is_likely_a_slip(text, width):
    rows = f"1 1:1\n{text}-1 2:1 {2**28 + 1}:2\n1 3:1\n"
    error = refusal(rows)
    assert error.line == 2 + bool(text)
    assert error.problem == (
        f"the index 268435457 makes {width:,} columns, which is 2 GB for one plane; if it is no slip, say "
        f"n_features={width}"
    )
    assert read(rows, n_features=width).X.shape[1] == width
    assert read(rows.replace("268435457", str(2**28 - bool(text)))).X.shape[1] == 2**28


def test_pieces_on_many_threads_are_one_file(monkeypatch, tmp_path):
    random = np.random.default_rng(1)
    path = tmp_path / "rows.svm"
    X = random_sparse((500, 3000), 0.02, random, container=sparse.coo_matrix)
    dump_svmlight_file(X, random.normal(size=500), str(path), zero_based=False, comment="two\nlines")
    whole = read_svmlight(path, n_features=3000)
    theirs, y = load_svmlight_file(str(path), n_features=3000, zero_based=False)
    assert whole.X.data.tobytes() == theirs.data.tobytes()
    assert np.array_equal(whole.y, y)
    for piece in (37, 5000):  # shorter than a line, and longer
        monkeypatch.setattr("maxmargin.reading.files.PIECE", piece)
        for source in (path, io.StringIO(path.read_text()), io.BytesIO(gzip.compress(path.read_bytes()))):
            table = read_svmlight(source, n_features=3000)
            assert (table.X != whole.X).nnz == 0
            assert table.X.data.tobytes() == whole.X.data.tobytes()
            assert np.array_equal(table.lines, whole.lines)


def test_many_words_that_only_python_reads():
    subnormal = [repr(5e-324 * number) for number in range(1, 3001)]
    table = read("".join(f"{value} 1:{value}\n" for value in subnormal))
    assert table.X.data.tolist() == table.y.tolist() == [float(value) for value in subnormal]
    assert refusal("".join(f"1 1:{value}\n" for value in [*subnormal, "nan", "inf"])).line == 3001


words = st.sampled_from(
    ["1", "-1", "1:1", "2:0.5", "3:1e5", "10:nan", "0:1", "qid:1", "#", "1:", ":1", "a", "2:1:1", "5:-inf", "\t", "\r"]
)


def is_row(line):
    if not re.fullmatch(r"\s*[-+]?\d+(\s+qid:\d+)?(\s+\d+:[-+.e\d]+)*\s*", line, re.ASCII):
        return False
    indices = [int(word.partition(":")[0]) for word in line.split()[1:] if not word.startswith("qid")]
    return all(before < after for before, after in itertools.pairwise(indices))


@given(st.lists(st.lists(words, max_size=5), max_size=6))
def test_lines_of_likely_words_against_the_grammar(lines):
    text = "\n".join(" ".join(line) for line in lines)
    rows = [line.partition("#")[0] for line in re.split("\r\n|\n|\r", text)]
    rows = [row for row in rows if row.strip()]
    if rows and all(map(is_row, rows)):
        assert len(read(text.encode(), n_features=20).y) == len(rows)
    else:
        refusal(text.encode(), n_features=20)
