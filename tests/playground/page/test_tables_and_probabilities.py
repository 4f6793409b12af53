"""A table that is dropped or pasted, its columns, and probabilities that are called estimates."""

import re

import numpy as np
import pytest

TABLE = "size,weight,age,kind\n1,10,5,cat\n2,12,9,cat\n6,30,1,dog\n7,28,4,dog\n9,60,2,cow\n8,65,7,cow\n"
OVERLAPPING = "points=-2,0,1;-3,1,1;0,1,1;2,0,-1;3,1,-1;-1,0.5,-1&view=0,0.5,4&a=linear_svm"

PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
DROP = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "animals.csv", { type: "text/csv" }));
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector(".figure").dispatchEvent(event);
  }
}"""


@pytest.mark.parametrize(("how", "name"), [(PASTE, "The pasted table"), (DROP, "animals.csv")], ids=["paste", "drop"])
def test_a_table_comes_by_hand_and_its_columns_are_chosen(visitor, how, name):
    visitor.page.evaluate(how, TABLE)
    visitor.page.wait_for_selector(f"#notice:has-text('{name}')")
    X, y = visitor.settle().points
    assert X.tolist() == [[1, 10], [2, 12], [6, 30], [7, 28], [9, 60], [8, 65]]
    assert y.tolist() == [-1, -1, 2, 2, 1, 1]
    visitor.click(".choose-columns")
    visitor.choose("#table-across", "age")
    visitor.choose("#table-scale", "range")
    X, _ = visitor.points
    np.testing.assert_allclose(X[:, 0], (np.array([5, 9, 1, 4, 2, 7]) - 1) / 8)
    assert "between 0 and 1" in visitor.text("#table-words")
    visitor.choose("#table-up", "age")
    assert "cannot be across and up at once" in visitor.text("#table-words")
    np.testing.assert_allclose(visitor.points[0], X)
    visitor.press("Escape")
    visitor.press("Control+z")


def test_a_line_of_text_is_no_table(visitor):
    before = visitor.points[0].tolist()
    visitor.page.evaluate(PASTE, "one line only, of words")
    assert visitor.settle().points[0].tolist() == before


def test_probabilities_are_shown_at_a_place_and_called_estimates(visit):
    visitor = visit().open(OVERLAPPING)
    visitor.page.click("[data-extra=probability] summary")
    visitor.page.wait_for_selector("[data-extra=probability][aria-busy=false] .level.even")
    assert "not a proof" in visitor.text("[data-extra=probability]")
    box = visitor.page.locator("svg.probability").bounding_box()
    visitor.page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
    left = visitor.text("[data-extra=probability] .place")
    visitor.page.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
    right = visitor.text("[data-extra=probability] .place")
    assert "positive" in left
    assert "negative" in right
    visitor.page.focus("svg.probability")
    visitor.press("ArrowLeft")
    moved = visitor.text("[data-extra=probability] .place")
    assert moved != right
    assert float(re.search(r"([\d.]+) %", moved)[1]) >= 50.0
    visitor.drag((0, 1), (0, 2))
    visitor.page.wait_for_selector("[data-extra=probability][aria-busy=false]")
