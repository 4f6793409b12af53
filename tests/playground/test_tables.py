"""A table of one's own becomes points, or a sentence says why not."""

import numpy as np
import pytest

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.messages import MOST_POINTS, read_state
from maxmargin.playground.tables import TableChoice, points_in


def test_columns_and_labels_are_told():
    told = points_in("height,width,label\n1,2,cat\n3,4,dog\n")
    assert told["points"] == [[1.0, 2.0, -1], [3.0, 4.0, 1]]
    assert told["words"] == "2 rows. 'height' is across, 'width' up. 'dog' is positive, 'cat' negative."


def test_our_own_export_is_read_back():
    told = points_in("x1,x2,label\n0.1,0.2,1\n-3.5,4,-1\n")
    assert told["points"] == [[0.1, 0.2, 1], [-3.5, 4.0, -1]]
    read_state({"points": told["points"], "algorithm": "hard_margin", "parameters": {}})


def test_without_a_usual_name_the_last_column_holds_the_labels():
    told = points_in("a;b;c;species\n1;2;3;x\n4;5;6;z\n7;8;9;q\n")
    assert [point[2] for point in told["points"]] == [1, 2, -1]
    assert "left out: 'c'." in told["words"]
    assert "'x' are circles, 'q' squares, 'z' triangles." in told["words"]


def test_of_four_labels_the_first_is_against_the_others():
    told = points_in("a,b,species\n1,2,w\n4,5,x\n7,8,y\n9,9,z\n")
    assert [point[2] for point in told["points"]] == [1, -1, -1, -1]
    assert "the other 3 labels are negative together: 'x', 'y', 'z'." in told["words"]


CHOSEN = "a,b,c,kind\n1,10,5,0\n3,30,5,1\n2,20,5,0\n"


def test_columns_label_and_scale_can_be_chosen():
    told = points_in(CHOSEN, TableChoice("b", "a", "kind", "range"))
    assert told["points"] == [[0.0, 0.0, -1], [1.0, 1.0, 1], [0.5, 0.5, -1]]
    assert told["columns"] == ["a", "b", "c", "kind"]
    assert told["numbers"] == ["a", "b", "c"]
    assert told["chosen"] == {"across": "b", "up": "a", "label": "kind", "scale": "range"}
    assert (
        "'b' is across, 'a' up; left out: 'c'. Each column is moved and scaled to lie between 0 and 1." in told["words"]
    )
    standard = points_in(CHOSEN, TableChoice(None, "c", None, "standard"))["points"]
    columns = np.array(standard)[:, :2]
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(columns.std(axis=0), [1.0, 0.0], atol=1e-12)
    other = points_in(CHOSEN, TableChoice(None, None, "a", "none"))
    assert other["numbers"] == ["b", "c", "kind"]
    assert [point[2] for point in other["points"]] == [-1, 2, 1]


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (TableChoice("d", None, None, "none"), "'d' is no column of numbers beside the labels; 'a', 'b', 'c' are"),
        (TableChoice(None, "kind", None, "none"), "'kind' is no column of numbers"),
        (TableChoice(None, None, "label", "none"), "the table has no column 'label'; it has 'a', 'b', 'c', 'kind'"),
        (TableChoice("a", "a", None, "none"), "cannot be across and up at once"),
    ],
)
def test_columns_that_cannot_be_taken_are_named(choice, sentence):
    with pytest.raises(Refusal, match=sentence):
        points_in(CHOSEN, choice)


def test_columns_of_words_and_a_first_line_of_numbers_are_said_to_be_left_out():
    told = points_in("colour,a,b,label,note\nred,1,2,x,-\nblue,3,4,y,-\n")
    assert told["points"] == [[1.0, 2.0, -1], [3.0, 4.0, 1]]
    assert "left out: 'colour', 'note'." in told["words"]
    assert "it is no point" in points_in("1,2,x\n3,4,y\n5,6,z\n")["words"]
    many = ",".join(f"c{i}" for i in range(9))
    assert "'c2', 'c3', 'c4', 'c5', 'c6' and 2 more." in points_in(f"{many},y\n{'1,' * 9}u\n{'2,' * 9}v\n")["words"]


@pytest.mark.parametrize(
    "text", ["a,b,label\r1,2,x\r3,4,z\r", '"kg, y",label,b\n1,x,2\n3,z,4\n', "a,b,Label\n1,2,x\n3,4,z"]
)
def test_the_label_column_is_found_as_the_reader_splits_the_first_line(text):
    assert points_in(text)["points"] == [[1.0, 2.0, -1], [3.0, 4.0, 1]]


def test_half_a_character_becomes_a_question_mark():
    assert "'b?' is positive" in points_in("a,b,label\n1,2,0\n3,4,b\ud800\n")["words"]


def test_a_long_table_is_thinned():
    rows = "\n".join(f"{i},{i % 7},{i % 2}" for i in range(3000))
    told = points_in(f"a,b,label\n{rows}\n")
    assert len(told["points"]) == MOST_POINTS
    assert "500 of 3,000 rows, evenly chosen; 2,500 are left out." in told["words"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("a,b,label\n1,2,x\n", "two are needed"),
        ("a,label\n1,x\n2,y\n", "column of numbers"),
        ("a,b,label\n1,2,x\n1,abc\n", "line 3"),
        ("a,b,label\n1,2e9,x\n1,2,y\n", "line 2: coordinates"),
        ("a,b,label\n1,nan,x\n1,2,y\n", "line 2"),
        ('a,b,label\n1,2,"x\n', "quote"),
        ("just one line of text", "column"),
    ],
)
def test_what_is_wrong_is_named(text, sentence):
    with pytest.raises(Refusal, match=sentence) as refused:
        points_in(text)
    assert refused.value.place == "text"
