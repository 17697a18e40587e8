"""The built site in a real browser; ``make docs`` runs this file by its name, after it has built.

Every page, in both themes and at the width of a phone: nothing is fetched, nothing complains, no barrier is serious,
nothing is wider than the screen, every picture has words, every link within the site ends somewhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest

SITE = Path(__file__).parents[1] / "docs/_build/html"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
WAYS = {"light": ("light", 1200), "dark on a phone": ("dark", 390)}


@pytest.fixture(scope="module")
def there(chromium):
    """Pages that stay open between tests, one for each way of looking; a new browser page costs more than a visit."""
    contexts, pages = [], {}
    for way, (scheme, width) in WAYS.items():
        size = {"width": width, "height": 900}
        contexts.append(chromium.new_context(color_scheme=scheme, viewport=size))
        pages[way] = contexts[-1].new_page()
    yield pages
    for context in contexts:
        context.close()


def test_there_are_pages():
    assert {"index.html", "search.html", "tutorials/first-look.html", "maths.html"} <= set(PAGES)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PAGES)
def test_page(there, request, name, way):
    page = there[way]
    asked, complaints = [], []
    heard = {
        "request": lambda request: asked.append(request.url),
        "console": lambda message: complaints.append(message.text),
        "pageerror": lambda error: complaints.append(str(error)),
    }
    for event, listener in heard.items():
        page.on(event, listener)
    page.goto((SITE / name).as_uri())
    for event, listener in heard.items():
        page.remove_listener(event, listener)
    assert [url for url in asked if urlparse(url).scheme not in ("file", "data")] == []
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WAYS[way][1]
    wordless = (
        "[...document.images].filter(each => each.alt.trim().length < 5).map(each => each.src)"
    )
    assert page.evaluate(wordless) == []
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(request.getfixturevalue("axe"))  # skips here where there is none
    # it would fetch stylesheets again, which file pages may not: the next page would hear of that
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    serious = [
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]
    assert serious == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_shown_as_python_keeps_it(name):
    """Types are called by their names, defaults by what one would write."""
    assert re.findall(r"\w*ForwardRef\w*|&lt;\w+ [^&]* at 0x", _text(name)) == []


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_end_somewhere(name):
    base = (SITE / name).as_uri()
    for link in re.findall(r'href="([^"#][^"]*|#[^"]+)"', _text(name)):
        url, part = urldefrag(urljoin(base, link.replace("&amp;", "&")))
        if urlparse(url).scheme != "file":
            continue
        end = Path(unquote(urlparse(url).path))
        assert end.is_file(), f"{name} leads to {link}"
        if part and end.suffix == ".html":
            target = unquote(part)
            held = _text(os.path.relpath(end, SITE))
            assert f'id="{target}"' in held, f"{name} leads to {link}"


def _text(name: str) -> str:
    return (SITE / name).read_text(encoding="utf-8")


def test_the_search_finds_without_a_network(there):
    # in a page of its own: it looks for summaries, which file pages may not, and the next page would hear of that
    page = there["light"].context.new_page()
    page.goto((SITE / "search.html").as_uri() + "?q=leakage")
    page.wait_for_selector("#search-results li", timeout=30_000)
    assert page.locator("#search-results li").count() > 3
    page.close()
