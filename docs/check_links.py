"""Every link of the built site that stays within it leads to a file and, behind a #, to a place in it.

    python docs/check_links.py [docs/_build/html]

`make docs` does so after the build. Nothing is fetched: links to other sites are counted, not followed. The exit code
is 1 if a link is dead.
"""

import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parent / "_build" / "html"
TARGETS = {"href", "src", "data-src"}


class Page(HTMLParser):
    """The places of a page and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.places.add(value)
            elif value and name in TARGETS:
                self.targets.append(value)


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    return page


def dead_links(site: Path) -> tuple[dict[Path, list[str]], int, int]:
    """The dead links of each page, how many links stay within the site, and how many leave it."""
    site = site.resolve()
    own = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]
    pages = {path: read(path) for path in own}
    dead: dict[Path, list[str]] = defaultdict(list)
    within = outside = 0
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                outside += parts.scheme in ("http", "https")
                continue
            within += 1
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = found / "index.html" if found.is_dir() else found
            place = unquote(parts.fragment)
            missing = place and found in pages and place not in pages[found].places
            if not found.is_relative_to(site) or not found.exists() or missing:
                dead[path.relative_to(site)].append(target)
    return dead, within, outside


def main(site: Path = SITE) -> int:
    dead, within, outside = dead_links(site)
    for path, targets in dead.items():
        print(f"{path} links to {', '.join(sorted(set(targets)))}: nothing is there", file=sys.stderr)
    count = sum(map(len, dead.values()))
    print(
        f"{within:,} links within the site, {count or 'none'} of them dead; {outside:,} links to others, not followed"
    )
    if not within:
        print(f"no page with a link in {site}: build the site first", file=sys.stderr)
    return 1 if count or not within else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
