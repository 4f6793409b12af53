"""Take the pictures of the playground for the documentation, in Chromium.

    pip install pillow playwright     # and Chromium: apt-get install chromium
    python docs/make_screenshots.py

pictures/playground-*.png: a street, a run step by step, two algorithms side by side, the challenge, three
classes, the multiplier, a phone.
pictures/run_page.png: a recorded run in a page of its own.
"""

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from maxmargin import Perceptron
from maxmargin.data import synthetic
from maxmargin.playground.presets import points_named
from maxmargin.playground.serving import playground_in_background

PICTURES = Path(__file__).parent / "pictures"
LARGEST = 150_000  # bytes: a reader waits for these

DESK = {"width": 1280, "height": 820}
PHONE = {"width": 390, "height": 844}


def points(name):
    """The points of a preset, as the address has them."""
    return "points=" + ";".join(f"{x:g},{y:g},{label}" for x, y, label in points_named(name))


# Each picture: its name, the address that holds its state, the window, the theme, the row that the mouse is on.
STATES = (
    ("street", f"{points('separable')}&view=1.47,0.17,5&a=hard_margin", DESK, "light", 1),
    ("steps", f"{points('separable')}&view=1.47,0.17,5&a=perceptron&a-step=3", DESK, "light", None),
    ("compare", f"{points('rings')}&view=0,0,2.9&a=linear_svm&b=kernel_svm&b.C=10", DESK, "dark", None),
    (
        "challenge",
        f"{points('separable')}&view=1.47,0.17,5&a=hard_margin&line=-1,3,3,-2.5&revealed=1",
        DESK,
        "light",
        None,
    ),
    ("classes", f"{points('three')}&view=-0.3,0.5,4&a=linear_svm", DESK, "light", None),
    ("multiplier", f"{points('separable')}&view=1.47,0.17,5&a=hard_margin&multiplier=5,6.5,0.5", DESK, "light", None),
    ("phone", f"{points('overlapping')}&view=0.06,-0.1,3&a=linear_svm", PHONE, "light", None),
)


def take(browser, address, name, fragment, window, theme, row):
    context = browser.new_context(viewport=window, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{address}#{fragment}")
    page.wait_for_selector("main[aria-busy=false]", timeout=300_000)
    if row is not None:
        page.hover(f"[data-panel=a] .point[data-row='{row}'] .shape")
    page.wait_for_timeout(500)
    keep(page, PICTURES / f"playground-{name}.png")
    context.close()


def take_run(browser):
    """The page that Trace.to_html writes, at its fourth update."""
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    page.set_content(Perceptron(record=True).fit(X, y).trace_.to_html())
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    keep(page, PICTURES / "run_page.png")
    context.close()


def keep(page, path):
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)  # a third of the bytes
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path} has {size:,} bytes; {LARGEST:,} are allowed")
    print(f"{path}: {size:,} bytes")


if __name__ == "__main__":
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    PICTURES.mkdir(exist_ok=True)
    with playground_in_background() as playground, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for state in STATES:
            take(browser, playground.address, *state)
        take_run(browser)
        browser.close()
