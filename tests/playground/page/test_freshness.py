"""An answer belongs to one state: what is shown for another is dimmed and unticked, and the page says why."""

import contextlib
import threading

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS

from maxmargin import Perceptron
from maxmargin.playground.serving import Playground

OPACITY = "(name) => Number(getComputedStyle(document.querySelector(name)).opacity)"
TICK, CHECKING, GONE = "✓", "checking …", "not checked: the server does not answer"


class Held:
    """A line whose answers can be held back; what the page asks goes through."""

    def __init__(self, visitor):
        self.waiting, self.holding = [], False
        visitor.page.route_web_socket("**/ws", self.pass_on)

    def pass_on(self, socket):
        self.socket = socket
        server = socket.connect_to_server()
        server.on_message(lambda message: self.waiting.append(message) if self.holding else socket.send(message))

    def let_go(self, count=None):
        self.holding = count is not None
        sent, self.waiting = self.waiting[:count], self.waiting[count:] if count is not None else []
        for message in sent:
            self.socket.send(message)

    def await_messages(self, page, count):
        for _ in range(1200):
            if len(self.waiting) >= count:
                return
            page.wait_for_timeout(50)
        raise AssertionError(f"{len(self.waiting)} of {count} answers came")


@pytest.fixture
def held(visit):
    visitor = visit()
    line = Held(visitor)
    visitor.open()
    return visitor, line


def drawn_now(visitor):
    visitor.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def assert_unchecked(visitor, mark=CHECKING):
    drawn_now(visitor)
    assert visitor.mark == mark
    assert visitor.page.locator(".proven").count() == 0
    assert visitor.page.evaluate(OPACITY, ".proof .verdict") < 0.5
    assert visitor.page.evaluate(OPACITY, ".proof .figures") < 0.5


def test_after_an_edit_nothing_is_proven_until_the_answer_comes(held):
    visitor, line = held
    assert visitor.mark == TICK
    before = visitor.text(".proof .figures")
    line.holding = True
    visitor.page.focus("[data-panel=a] .point[data-row='3']")
    visitor.page.keyboard.press("l")  # another label
    assert_unchecked(visitor)
    assert visitor.text(".proof .figures") == before  # of another state, and dimmed
    visitor.page.evaluate("document.getAnimations().forEach((fading) => fading.finish())")
    assert visitor.page.evaluate(OPACITY, ".figure .lines") < 0.5
    visitor.page.click("#save-svg")
    assert "Nothing was saved" in visitor.text("#notice")
    visitor.page.click("#code")
    assert visitor.text("#code-parts") == "It is being written …"
    visitor.page.keyboard.press("Escape")
    line.let_go()
    visitor.settle()
    assert visitor.page.evaluate(OPACITY, ".proof .verdict") == 1
    assert visitor.page.evaluate(OPACITY, ".figure .lines") == 1
    assert visitor.text(".proof .figures") != before


def test_an_answer_that_comes_late_is_not_taken_for_the_new_state(held):
    visitor, line = held
    line.holding = True
    visitor.page.focus("[data-panel=a] .point[data-row='3']")
    visitor.page.keyboard.press("Shift+ArrowUp")
    line.await_messages(visitor.page, 1)
    visitor.page.keyboard.press("Shift+ArrowRight")
    drawn_now(visitor)
    line.let_go(1)  # the answer for the place in between
    assert_unchecked(visitor)
    line.let_go()
    visitor.settle()
    assert visitor.mark == TICK


def test_every_kind_of_change_takes_the_tick_away(visit):
    visitor = visit()
    line = Held(visitor)
    visitor.open(FOUR_POINTS.replace("hard_margin", "linear_svm"))
    changes = {
        "a parameter": lambda: (visitor.page.focus("#a-C"), visitor.page.keyboard.press("Home")),
        "the way back": lambda: visitor.page.click("#undo"),
        "other points": lambda: visitor.page.select_option("#presets", "outlier"),
    }
    for name, change in changes.items():
        assert visitor.mark == TICK
        line.holding = True
        change()
        assert_unchecked(visitor)
        if name == "other points":  # the rows of the answer are not these rows
            assert visitor.page.locator(".ring[data-row], .slack line, .mistaken").count() == 0
        line.let_go()
        visitor.settle()
    assert visitor.mark == TICK


def test_the_challenge_and_the_steps_are_dimmed_too(held):
    visitor, line = held
    visitor.click(".step-through")
    line.holding = True
    visitor.page.focus("[data-panel=a] .point[data-row='3']")
    visitor.page.keyboard.press("Shift+ArrowUp")
    assert_unchecked(visitor)
    assert visitor.text(".player .mark") == CHECKING
    line.let_go()
    visitor.settle()
    assert visitor.text(".player .mark") == ""
    visitor.click("#challenge")
    assert visitor.text(".challenge-card .mark") == ""
    line.holding = True
    visitor.page.focus("[data-end='1']")
    visitor.page.keyboard.press("Shift+ArrowDown")
    drawn_now(visitor)
    assert visitor.text(".challenge-card .mark") == CHECKING
    assert visitor.page.evaluate(OPACITY, ".challenge-card .scores") < 0.5
    line.let_go()
    visitor.settle()
    assert visitor.text(".challenge-card .mark") == ""


def test_the_page_says_that_it_is_starting(visit):
    visitor = visit()
    line = Held(visitor)
    line.holding = True
    visitor.page.goto(f"{visitor.address}#{FOUR_POINTS}")
    line.await_messages(visitor.page, 1)
    assert "The playground is starting" in visitor.text("#starting")
    assert not visitor.page.is_visible(".tools")
    assert not visitor.page.is_visible("#lessons")
    line.let_go(1)  # what there is
    visitor.page.wait_for_selector(".proof .verdict:has-text('Starting. The first answer of an algorithm takes')")
    assert visitor.page.is_visible(".tools")
    assert visitor.mark == ""
    line.let_go()
    visitor.settle()
    assert visitor.mark == TICK


def test_while_stepping_the_card_speaks_of_the_plane_that_is_drawn(visit):
    visitor = visit().open(FOUR_POINTS.replace("hard_margin", "perceptron") + "&a-step=0")
    X, y = visitor.points
    rows = Perceptron(record=True).fit(X, y).trace_.to_arrays()["row"]
    planes = np.cumsum(y[rows, None] * np.column_stack([X, np.ones(len(X))])[rows], axis=0)
    for t, (w1, w2, b) in enumerate(planes):
        own = y * (X @ [w1, w2] + b)
        wrong = np.flatnonzero(own <= 0)
        if w1 == w2 == 0.0:
            wrong = []
            assert "There is no line yet" in visitor.text(".proof .verdict")
        elif len(wrong):
            assert f"{len(wrong)} row" in visitor.text(".proof .verdict")
        else:
            assert f"separates the classes: row {np.argmin(own)} is nearest" in visitor.text(".proof .verdict")
            assert f"{own.min() / np.hypot(w1, w2):.4g}"[:5] in visitor.text(".proof .figures")
        marked = {int(mark.get_attribute("data-row")) for mark in visitor.page.locator(".point.mistaken").all()}
        assert marked == set(wrong)
        assert visitor.mark == ""  # nothing is proven of a plane on the way
        if t + 1 < len(planes):
            visitor.click(".forward")
    visitor.click(".step-through")
    assert visitor.mark == TICK


@contextlib.contextmanager
def served(port):
    playground = Playground(port)
    thread = threading.Thread(target=playground.run, kwargs={"warm": False}, daemon=True)
    thread.start()
    try:
        yield playground
    finally:
        playground.stop()
        thread.join()


def test_a_server_that_is_gone_leaves_no_tick_and_links_outlive_it(visit):
    visitor = visit()
    with served(0) as playground:
        visitor.address, visitor.origin = playground.address, playground.address.split("/?")[0]
        visitor.open()
        assert visitor.mark == TICK
        assert "token" not in visitor.page.url
    visitor.page.wait_for_selector("#notice:has-text('does not answer. Your points are safe')")
    assert visitor.mark == TICK  # of the points as they are: that was proven
    visitor.page.focus("[data-panel=a] .point[data-row='3']")
    visitor.page.keyboard.press("Shift+ArrowUp")
    assert_unchecked(visitor, GONE)
    link = visitor.page.url if visitor.fields else None
    with served(playground.port) as anew:
        visitor.page.wait_for_selector("#notice:has-text('does not have the token')")
        assert_unchecked(visitor, GONE)
        other = visitor.page.context.new_page()  # whoever opens the new address, as maxmargin play does
        other.goto(anew.address)
        visitor.page.wait_for_selector("#notice", state="hidden")
        visitor.settle()
        assert visitor.mark == TICK
        visitor.follow(link)
        assert visitor.mark == TICK
        assert visitor.page.url == link
    visitor.troubles[:] = [
        trouble for trouble in visitor.troubles if "net::ERR" not in trouble and "403" not in trouble
    ]
