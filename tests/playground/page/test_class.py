"""A class as its students see it: a full house, a place that becomes free, a page that comes back to its own seat."""

import pytest
from playground_visitor import CHROMIUM, Visitor

from maxmargin.playground import seats
from maxmargin.playground.serving import playground_in_background

TAKEN = "The seat is taken. This page tries again by itself, and goes on when there is a place."
POINTS = ".point"


@pytest.fixture
def class_of_one(browser, monkeypatch):
    """A function that brings students, each with a browser of its own, to a class with one seat."""
    monkeypatch.setattr(seats, "KEPT_SECONDS", 3600.0)
    with playground_in_background(seats=1) as playground:
        students = []

        def student():
            page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
            students.append(Visitor(page, playground.address))
            return students[-1]

        yield student
        for one in students:
            one.page.context.close()
        assert [trouble for one in students for trouble in one.troubles] == []


def test_a_full_class_says_so_and_lets_in_whoever_waits_when_a_seat_is_free(class_of_one, monkeypatch):
    first, second = class_of_one().open(), class_of_one()
    second.page.goto(second.address)
    second.page.wait_for_selector(f"#notice:has-text('{TAKEN}')")
    assert second.page.locator(POINTS).count() == 0
    second.page.evaluate(
        "window.changes = 0; new MutationObserver(() => window.changes++).observe(notice, {childList: true})"
    )
    second.page.wait_for_timeout(2500)  # two more attempts, which are not announced again
    assert second.page.evaluate("window.changes") == 0
    first.page.reload()
    first.settle()
    assert first.mark == "✓"  # it has its seat again, though another waits for one
    first.page.context.close()
    monkeypatch.setattr(seats, "KEPT_SECONDS", 0.0)
    second.page.wait_for_selector(POINTS)
    second.settle()
    assert second.text("#notice") == ""


def test_a_page_by_a_name_of_the_class_is_like_any_other(browser):
    """A browser does not trust such a page: it has no clipboard, and may not ask for what it is forbidden."""
    mapped = ["--no-sandbox", "--host-resolver-rules=MAP lab.example 127.0.0.1"]
    chromium = browser.browser_type.launch(executable_path=CHROMIUM, args=mapped)
    with playground_in_background("0.0.0.0", allowed=["lab.example"], seats=1) as playground:
        page = chromium.new_context(viewport={"width": 390, "height": 844}).new_page()
        student = Visitor(page, playground.address)
        assert student.address.startswith("http://lab.example:")
        student.open()
        assert not page.evaluate("isSecureContext")
        assert student.mark == "✓"
        page.click("#code")
        page.click("[aria-label='Copy: Python']")
        page.wait_for_selector("[aria-label='Copy: Python']:has-text('Copied')")
        page.evaluate("document.querySelector('#code-dialog').close()")
        for name in ("#lessons", "#presets"):
            assert page.locator(name).bounding_box()["width"] > 100
        chromium.close()
        assert student.troubles == []


def test_pages_of_one_browser_share_its_seat(class_of_one):
    student = class_of_one().open()
    other = Visitor(student.page.context.new_page(), student.address).open()
    assert (student.mark, other.mark) == ("✓", "✓")
    assert other.troubles == []
