from __future__ import annotations

import html
import re
import string
import unicodedata

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt  # comes with rich

from skillshift_frames.render.escape import (
    escape_html,
    escape_latex,
    escape_markdown,
    escape_text,
)

INVISIBLE = ["\x00", "\x07", "\t", "\n", "\r", "\x1b", "\x7f", "\x85", "\x9b", "\xad", "\u061c"]
INVISIBLE += ["\u200b", "\u200d", "\u200e", "\u200f", *map(chr, range(0x2028, 0x202F))]
INVISIBLE += [*map(chr, range(0x2066, 0x206A)), "\ud800", "\ufeff", "\U000e0041"]


@pytest.mark.parametrize("sign", INVISIBLE, ids=ascii)
def test_what_cannot_be_seen_is_named(sign: str) -> None:
    shown = f"U+{ord(sign):04X}"
    assert escape_text(f"a{sign}b") == f"a{ascii(sign)[1:-1]}b"
    assert escape_html(f"a{sign}b") == f"a[{shown}]b"
    assert escape_markdown(f"a{sign}b") == rf"a\[{shown}\]b"
    assert escape_latex(f"a{sign}b") == f"a{{[}}{shown}{{]}}b"


@pytest.mark.parametrize("escape", [escape_text, escape_html, escape_markdown, escape_latex])
def test_plain_text_is_left_alone(escape: object) -> None:
    assert callable(escape)
    assert escape("asi-v2.1 (17.71), é: Łódź") == "asi-v2.1 (17.71), é: Łódź"
    assert escape("") == ""


@pytest.mark.parametrize("text", ["[bold]x[/]", "a\\b", "<&>|%$#_*`~", "漢字 😀 עברית", "⚠ – …"])
def test_text_keeps_everything_that_can_be_seen(text: str) -> None:
    assert escape_text(text) == text


@given(st.text(st.characters()))
def test_text_is_one_line_without_controls(text: str) -> None:
    escaped = escape_text(text)
    assert not {unicodedata.category(sign) for sign in escaped} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(escaped.splitlines()) <= 1


@pytest.mark.parametrize(
    ("sign", "escaped"),
    [
        *((sign, f"\\{sign}") for sign in "\\|*_`[]#~"),
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("$", r"<span>\$</span>"),
        ("@", "<span>@</span>"),
        ("http://a", r"http:\//a"),
        ("www.a", r"www\.a"),
        ("WWW.a", r"WWW\.a"),
    ],
)
def test_markdown_signs(sign: str, escaped: str) -> None:
    assert escape_markdown(f"x{sign}y") == f"x{escaped}y"


def rendered_cell(escaped: str) -> str:
    """What a reader sees in the only cell of a table; fails if anything in it is not text."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(f"| a |\n| - |\n| x{escaped}x |\n")
    assert [token.type for token in tokens].count("td_open") == 1
    children = next(t for t in reversed(tokens) if t.type == "inline").children or []
    for child in children:
        assert child.type == "text" or child.content in {"<span>", "</span>"}
    return "".join(child.content for child in children if child.type == "text")


@given(st.text(string.ascii_letters + string.digits + string.punctuation))
def test_markdown_renders_as_the_text(text: str) -> None:
    assert rendered_cell(escape_markdown(text)) == f"x{text}x"


@given(st.lists(st.sampled_from([*"\\|*_`[]<>#~&$@!():/ a", "&amp;", "<b>", "www.", "://"])))
def test_markdown_renders_as_the_text_of_many_signs(parts: list[str]) -> None:
    text = "".join(parts)
    assert rendered_cell(escape_markdown(text)) == f"x{text}x"


@pytest.mark.parametrize(
    ("sign", "escaped"),
    [
        *((sign, f"\\{sign}") for sign in "&%$#_{}"),
        ("\\", r"\textbackslash{}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("<", r"\textless{}"),
        (">", r"\textgreater{}"),
        ("|", r"\textbar{}"),
        ('"', r"\char34{}"),
        ("'", r"\textquotesingle{}"),
        ("`", r"\textasciigrave{}"),
        ("[", "{[}"),
        ("]", "{]}"),
        ("*", "{*}"),
        ("-", "-"),
        ("--", "-{}-"),
        ("---", "-{}-{}-"),
        (",,", ",{},"),
        ("\xa0", "~"),
        ("–", r"\textendash{}"),
        ("—", r"\textemdash{}"),
        ("‘", r"\textquoteleft{}"),
        ("’", r"\textquoteright{}"),
        ("“", r"\textquotedblleft{}"),
        ("”", r"\textquotedblright{}"),
        ("…", r"\ldots{}"),
        ("†", r"\dag{}"),
        ("‡", r"\ddag{}"),
        ("•", r"\textbullet{}"),
        ("⚠", r"\ensuremath{^{\triangle}}"),
        ("−", r"\ensuremath{-}"),
        ("×", r"\ensuremath{\times}"),
        ("±", r"\ensuremath{\pm}"),
        ("≤", r"\ensuremath{\leq}"),
        ("≥", r"\ensuremath{\geq}"),
        ("≠", r"\ensuremath{\neq}"),
        ("≈", r"\ensuremath{\approx}"),
        ("∞", r"\ensuremath{\infty}"),
        ("→", r"\ensuremath{\rightarrow}"),
        ("←", r"\ensuremath{\leftarrow}"),
        ("↑", r"\ensuremath{\uparrow}"),
        ("↓", r"\ensuremath{\downarrow}"),
        ("α", r"\ensuremath{\alpha}"),
        ("Δ", r"\ensuremath{\Delta}"),
        ("σ", r"\ensuremath{\sigma}"),
        ("e\u0301", "é"),
        ("ł", "ł"),
        ("ħ", "{[}U+0127{]}"),
        ("漢", "{[}U+6F22{]}"),
        ("😀", "{[}U+1F600{]}"),
        ("ע", "{[}U+05E2{]}"),
        ("x\u0301", "x{[}U+0301{]}"),
    ],
)
def test_latex_signs(sign: str, escaped: str) -> None:
    assert escape_latex(f"x{sign}y") == f"x{escaped}y"


@given(st.text(st.characters()))
def test_latex_holds_no_bare_special(text: str) -> None:
    escaped = escape_latex(text)
    bare = re.sub(r"\\[a-zA-Z]+|\\[&%$#_{}]", "", escaped)
    assert not set(bare) & set("%$#_&\\\"'`<>|")
    assert bare.count("{") == bare.count("}")
    assert "--" not in escaped
    assert ",," not in escaped
    assert not re.search(r"(?<!\{)[\[*]", escaped)


@pytest.mark.parametrize(
    ("sign", "escaped"),
    [("<", "&lt;"), (">", "&gt;"), ("&", "&amp;"), ('"', "&quot;"), ("'", "&#x27;")],
)
def test_html_signs(sign: str, escaped: str) -> None:
    assert escape_html(f"x{sign}y") == f"x{escaped}y"


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_html_renders_as_the_text(text: str) -> None:
    escaped = escape_html(text)
    assert html.unescape(escaped) == text
    assert not set(escaped) & set("<>\"'")
