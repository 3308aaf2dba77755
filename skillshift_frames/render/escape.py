"""One escape per output language: whatever a label holds, it is shown and never obeyed.

Characters that cannot be seen (controls, line breaks, direction overrides, joiners, lone surrogates) are named
instead of dropped, so that two labels that differ also look different.
"""

from __future__ import annotations

import re
import unicodedata

# Controls, formats (among them every direction override), surrogates, line and paragraph separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

_MARKDOWN = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "\\|*_`[]#~"},
        # Entities, because some readers of Markdown do not know a backslash before these.
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        # GitHub looks for formulas and for people to notify in the finished text, where a backslash is already gone;
        # a tag of its own hides the sign. The backslash is for Pandoc and Jupyter, which look earlier.
        "$": r"<span>\$</span>",
        "@": "<span>@</span>",
    },
)

# GitHub makes links of bare addresses; a backslash inside is not printed and stops it.
_MARKDOWN_LINK = re.compile(r"(?i)(?<=:)(?=//)|(?<=www)(?=\.)")

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # Not what they look like in OT1, or active in some languages.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    # After a line end (\\) a bare one would be read as its option.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    # Signs that tables use.
    "\N{NO-BREAK SPACE}": "~",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\ldots{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "•": r"\textbullet{}",
    "⚠": r"\ensuremath{^{\triangle}}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≠": r"\ensuremath{\neq}",
    "≈": r"\ensuremath{\approx}",
    "∞": r"\ensuremath{\infty}",
    "→": r"\ensuremath{\rightarrow}",
    "←": r"\ensuremath{\leftarrow}",
    "↑": r"\ensuremath{\uparrow}",
    "↓": r"\ensuremath{\downarrow}",
    "α": r"\ensuremath{\alpha}",
    "Δ": r"\ensuremath{\Delta}",
    "σ": r"\ensuremath{\sigma}",
}

_LATEX_TABLE = str.maketrans(_LATEX)

# What pdflatex sets as it is: ASCII, Latin-1, and of Latin Extended-A what the T1 encoding knows.
_LATEX_SETS = frozenset(
    map(chr, [*range(0x20, 0x7F), *range(0xA1, 0x180), *range(0x218, 0x21C)])
) - frozenset(
    "\N{SOFT HYPHEN}ĦħĸĿŀŉŦŧſ",
)

# Two of these in a row are drawn as one other sign.
_LATEX_LIGATURE = re.compile(r"([-,])(?=\1)")


def escape_text(text: str) -> str:
    r"""Make text safe for a terminal: what cannot be seen is shown as in a Python string.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        One line without controls, escape sequences and direction overrides.

    Examples
    --------
    >>> print(escape_text("red: \x1b[31m, two\nlines"))
    red: \x1b[31m, two\nlines
    """
    if (
        text.isprintable()
    ):  # nearly all are, and nothing of what it takes for printable is invisible
        return text
    return "".join(_python_escape(sign) if _is_invisible(sign) else sign for sign in text)


def escape_markdown(text: str) -> str:
    r"""Make text safe inside a cell of a GitHub table, or inside a paragraph.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        Markdown that renders as the text: no markup, link, formula, mention or cell border.

    Examples
    --------
    >>> print(escape_markdown("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    return _MARKDOWN_LINK.sub(r"\\", name_invisible(text).translate(_MARKDOWN))


def escape_latex(text: str) -> str:
    r"""Make text safe inside LaTeX, for pdflatex with T1 fonts.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        LaTeX that prints the text; a character that T1 cannot set prints as its number, ``[U+4E2D]``.

    Examples
    --------
    >>> print(escape_latex("100% of src_perc -- Łódź"))
    100\% of src\_perc -{}- Łódź
    """
    composed = unicodedata.normalize("NFC", text)  # T1 has é, and no accent that combines
    settable = "".join(
        sign if sign in _LATEX or sign in _LATEX_SETS else _number(sign) for sign in composed
    )
    return _LATEX_LIGATURE.sub(r"\1{}", settable.translate(_LATEX_TABLE))


def escape_html(text: str) -> str:
    r"""Make text safe inside HTML, between tags and inside a quoted attribute.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        HTML that shows the text; what cannot be seen is shown as its number, ``[U+202E]``.

    Examples
    --------
    >>> print(escape_html("<b> & \u202e"))
    &lt;b&gt; &amp; [U+202E]
    """
    import html  # noqa: PLC0415 - 2 ms that a table for the terminal need not pay

    return html.escape(name_invisible(text), quote=True)


def _is_invisible(sign: str) -> bool:
    return unicodedata.category(sign) in _INVISIBLE


def name_invisible(text: str) -> str:
    r"""Name what cannot be seen by its number, for those who escape the rest themselves.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        Text without controls, line breaks, direction overrides and lone surrogates.

    Examples
    --------
    >>> print(name_invisible("a\u202eb <c>"))
    a[U+202E]b <c>
    """
    if text.isprintable():
        return text
    return "".join(_number(sign) if _is_invisible(sign) else sign for sign in text)


def _number(sign: str) -> str:
    return f"[U+{ord(sign):04X}]"


def _python_escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
