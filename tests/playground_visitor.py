"""A visitor of the playground: a page in Chromium, what a hand does to it, and what an eye reads off it."""

from __future__ import annotations

import re
import shutil
from urllib.parse import parse_qs

import numpy as np

# Without a window's services, which take half of the time of a page.
SHELL = shutil.which("chromium-headless-shell")
CHROMIUM = SHELL or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDS_CHROMIUM = "the page is tested in Chromium, which is not installed: apt-get install chromium"
A_COLD_START = 120_000  # milliseconds: the first answer may compile
FOUR_POINTS = "points=0,0,-1;2,0,-1;1,1,1;1,2,1&view=1,1,2&a=hard_margin"

CONTROLS = "button, select, input, summary, a[href], textarea, [tabindex='0'], [role=button]"


class Visitor:
    """`troubles` are the console's errors and warnings, and every request that leaves the origin."""

    def __init__(self, page, address):
        self.page, self.address, self.troubles = page, address, []
        self.origin = address.split("/?")[0]
        page.set_default_timeout(A_COLD_START)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", self._listen)
        page.on("request", self._watch)

    def _listen(self, message):
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def _watch(self, request):
        if not request.url.startswith((self.origin, "data:", f"blob:{self.origin}")):
            self.troubles.append(f"a request to {request.url}")

    def open(self, fragment=FOUR_POINTS):
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#{fragment}" if fragment else self.address)
        return self.settle()

    def follow(self, link):
        """Open a link as it stands in another's address bar."""
        self.page.goto("about:blank")
        self.page.goto(link)
        return self.settle()

    def settle(self):
        """Wait until the last change is drawn and answered."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.wait_for_selector("main[aria-busy=false]")
        self.page.wait_for_selector(".figure.moving", state="detached")  # a line on its way to the next step
        return self

    # What a hand does.

    def open_file(self, path):
        """A file is read before anything is asked, and then the page speaks of it by its name."""
        self.page.set_input_files("#file", path)
        self.page.wait_for_selector(f"#notice:has-text('{path.name}')")
        return self.settle()

    def choose(self, selector, value):
        self.page.select_option(selector, value)
        return self.settle()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self.settle()

    def click(self, selector):
        self.page.click(selector)
        return self.settle()

    def click_at(self, x, y, panel="a"):
        self.page.mouse.click(*self.on_screen(x, y, panel))
        return self.settle()

    def drag(self, start, end, drop=True):
        self.page.mouse.move(*self.on_screen(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.on_screen(*np.mean([start, end], axis=0)))
        self.page.mouse.move(*self.on_screen(*end))
        if drop:
            self.page.mouse.up()
        return self.settle()

    # What an eye reads.

    def text(self, selector):
        return self.page.inner_text(selector)

    @property
    def mark(self):
        """A tick beside what is proven, or why there is none."""
        return self.page.inner_text("[data-panel=a] .proof .mark")

    @property
    def said(self):
        """The last words to those who listen."""
        return self.page.inner_text("#announcement")

    def frame(self, panel="a"):
        """The picture's place on the screen, and what it shows: (left, top of the data), pixels per unit."""
        figure = self.page.locator(f"[data-panel={panel}] .figure")
        place = figure.bounding_box()
        shown = {side: float(figure.get_attribute(f"data-{side}")) for side in ("left", "right", "top", "bottom")}
        width = float(figure.get_attribute("viewBox").split()[2])
        return place, shown, width / (shown["right"] - shown["left"])

    def on_screen(self, x, y, panel="a"):
        figure = self.page.locator(f"[data-panel={panel}] .figure")
        figure.scroll_into_view_if_needed()
        place, shown, pixels = self.frame(panel)
        return place["x"] + (x - shown["left"]) * pixels, place["y"] + (shown["top"] - y) * pixels

    def in_data(self, pixels, panel="a"):
        """Coordinates in the picture as coordinates of the data."""
        _, shown, scale = self.frame(panel)
        pixels = np.asarray(pixels, dtype=float)
        return np.column_stack([shown["left"] + pixels[:, 0] / scale, shown["top"] - pixels[:, 1] / scale])

    def drawn(self, name, panel="a"):
        """The polylines of this name, each as points of the data."""
        found = self.page.locator(f"[data-panel={panel}] polyline[data-line={name}]").all()
        return [self.in_data(numbers(line.get_attribute("points")), panel) for line in found]

    def drawn_points(self, panel="a"):
        marks = self.page.locator(f"[data-panel={panel}] .point").all()
        places = [self.place(mark) for mark in marks]
        labels = [1 if "positive" in mark.get_attribute("class") else -1 for mark in marks]
        return self.in_data(np.reshape(places, (-1, 2)), panel), labels

    def place(self, element):
        """Where in the picture an element is moved to."""
        return numbers(re.search(r"translate\((.*?)\)", element.get_attribute("transform"))[1])[0]

    def rings(self, panel="a"):
        """The radius of each ring, by the row that it surrounds."""
        found = self.page.locator(f"[data-panel={panel}] .ring[data-row]").all()
        return {int(ring.get_attribute("data-row")): float(ring.get_attribute("r")) for ring in found}

    @property
    def fields(self):
        """The state in the address, as text by name."""
        self.page.wait_for_timeout(260)  # the address follows when the hand rests
        fragment = self.page.evaluate("location.hash").removeprefix("#")
        return {name: value[0] for name, value in parse_qs(fragment, keep_blank_values=True).items()}

    @property
    def points(self):
        """The points of the address: X and y."""
        rows = np.array([row.split(",") for row in self.fields["points"].split(";")], dtype=float)
        return rows[:, :2], rows[:, 2].astype(int)


def numbers(text):
    """Pairs of numbers as SVG writes them.

    >>> numbers("1,2 3.5,-4").tolist()
    [[1.0, 2.0], [3.5, -4.0]]
    """
    return np.array(re.findall(r"[-+0-9.eE]+", text), dtype=float).reshape(-1, 2)
