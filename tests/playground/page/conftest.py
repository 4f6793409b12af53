"""A browser, and visitors who leave without a trouble."""

import pytest
from playground_visitor import CHROMIUM, NEEDS_CHROMIUM, Visitor


@pytest.fixture(scope="module")  # not longer: while it is open, no other test can start an event loop
def browser():
    if CHROMIUM is None:
        pytest.skip(NEEDS_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, playground):
    """A function that brings a new visitor; options are those of a browser's context."""
    visitors = []

    def new_visitor(**options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        visitors.append(Visitor(context.new_page(), playground.address))
        return visitors[-1]

    yield new_visitor
    for visitor in visitors:
        visitor.page.context.close()
    assert [trouble for visitor in visitors for trouble in visitor.troubles] == []


@pytest.fixture
def visitor(visit):
    return visit().open()
