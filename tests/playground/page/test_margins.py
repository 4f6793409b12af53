"""The cards of the two margins and of Winnow's game, by key, and the cosine in the card of the proof."""

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS

from maxmargin import Winnow, two_margins

WINNOW = FOUR_POINTS.replace("a=hard_margin", "a=winnow")
WATCH = """() => {
  const card = document.querySelector("[data-extra=two_margins]");
  const look = () => (window.dimmed ||= card.matches(".stale[aria-busy=true]"));
  new MutationObserver(look).observe(card, { attributes: true });
}"""


def open_by_key(visitor, name):
    card = f"[data-panel=a] [data-extra={name}]"
    visitor.page.focus(f"{card} summary")
    visitor.press("Enter")
    visitor.page.wait_for_selector(f"{card}[open][aria-busy=false]")
    return visitor.settle()


def cells(visitor, name):
    rows = visitor.page.locator(f"[data-extra={name}] tbody tr").all()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]


def bounds(text):
    return [float(part) for part in text.split(" … ")]


def test_two_margins_by_key_bound_to_their_points(visitor):
    open_by_key(visitor, "two_margins")
    told = two_margins(*visitor.points).to_dict()
    rows = cells(visitor, "two_margins")
    for row, name in zip(rows, ("l2", "l1"), strict=False):
        low, high = bounds(row[1])
        assert low <= told[name]["lower"] <= told[name]["upper"] <= high
        assert high - low < 1e-4
        assert float(row[2]) == pytest.approx(told[name]["margin_in_own_space"], rel=1e-3)
    assert bounds(rows[2][2])[0] == pytest.approx(0.5, abs=1e-4)
    said = visitor.text("[data-extra=two_margins]")
    assert "g_P / √m ≤ g_W ≤ √m g_P" in said
    assert "verified from the points alone" in said
    visitor.page.evaluate(WATCH)
    visitor.drag((1, 1), (1, 1.5))
    visitor.page.wait_for_selector("[data-extra=two_margins][aria-busy=false]")
    assert visitor.page.evaluate("window.dimmed") is True
    told = two_margins(*visitor.points).to_dict()
    assert bounds(cells(visitor, "two_margins")[0][1])[0] == pytest.approx(told["l2"]["lower"], abs=1e-4)
    assert visitor.fields["open"] == "two_margins"
    assert visitor.troubles == []


def test_the_game_is_shown_for_winnow_alone(visit):
    visitor = visit().open(WINNOW)
    open_by_key(visitor, "game")
    game = Winnow(record=True).fit(*visitor.points).game_
    rows = cells(visitor, "game")
    shares = [float(row[2].removesuffix(" %")) for row in rows[:6]]
    assert shares == pytest.approx(list(100.0 * game.strategy), abs=0.06)
    times = {int(row[0].split()[1]): int(row[2].split()[0]) for row in rows[6:]}
    chosen = {int(row): round(game.choices[row] * game.rounds) for row in np.flatnonzero(game.choices)}
    assert times == chosen
    assert "≤" in visitor.text("[data-extra=game] .figures")
    visitor.choose("[data-panel=a] .algorithm", "perceptron")
    assert visitor.page.locator("[data-panel=a] [data-extra=game]").is_hidden()
    assert visitor.troubles == []


def test_the_proof_has_the_cosine_beside_the_margin(visit):
    visitor = visit().open(FOUR_POINTS + "&a.normalize_rows=true")
    figures = {
        row.locator("dt").inner_text(): row.locator("dd").inner_text()
        for row in visitor.page.locator("[data-panel=a] .proof .figures div").all()
    }
    low, high = bounds(figures["Best cosine margin"])
    told = two_margins(*visitor.points)
    assert low <= told.l2.lower <= told.l2.upper <= high
    assert float(figures["Margin"]) == pytest.approx(told.to_dict()["l2"]["margin_in_own_space"], rel=1e-3)
    assert visitor.troubles == []
