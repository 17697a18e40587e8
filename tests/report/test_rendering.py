"""The page as text: names stay data, and nothing is loaded."""

import base64
import hashlib
import json
import re

import pytest

from deptriad.report.rendering import rendered
from deptriad.utils.inlined import inert
from page_elements import Elements


def test_names_are_in_the_data_and_nowhere_else(html, parsed, held, records):
    assert [each["name"] for each in held["schema"]] == held["names"]
    assert held["files"]["names"] == list(records.columns)
    assert "onerror" not in html.replace(parsed.texts["script data"], "")
    assert not any(tag in ("img", "b", "iframe") for tag, _ in parsed.elements)
    assert not set("<>&") & set(parsed.texts["script data"])
    assert parsed.texts["script data"].isascii()


def test_policy_allows_these_texts_and_nothing_else(parsed):
    (policy,) = [
        attributes["content"]
        for tag, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, text in (("script-src", "script"), ("style-src", "style")):
        digest = hashlib.sha256(parsed.texts[text].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert "unsafe" not in policy
    assert rules["img-src"] == "data:"


def test_nothing_is_loaded_and_nothing_is_inline(parsed):
    for _, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    assert not re.search(r"\beval\b|new Function|innerHTML|insertAdjacent", parsed.texts["script"])


@pytest.mark.parametrize("text", ["</script>", "<!--", "a&b", "\u2028\u2029", "\ud800", "]]>"])
def test_data_cannot_end_its_element_and_comes_back(text):
    made = inert({"text": text})
    assert made.isascii()
    assert not set("<>&") & set(made)
    assert json.loads(made) == {"text": text}


def test_a_template_mark_in_the_data_is_left_alone(held):
    again = rendered(held | {"file": "@@script@@"})
    assert json.loads(Elements(again).texts["script data"])["file"] == "@@script@@"
