"""How names and values are said in messages: as they were written, printable, and which name was probably meant."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

_VALUE_SHOWN = 60

#: What Python and others write for numbers that JSON does not have.
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written: ``3.0`` is not ``3``, whatever it is equal to."""

    token: str

    @property
    def is_integer(self) -> bool:
        """Whether it has neither fraction nor exponent."""
        return re.fullmatch(r"-?\d+", self.token) is not None


class JsonText(str):
    """An object or array under an unknown key, as the JSON text that it is kept as."""

    __slots__ = ()


def json_text(value: object) -> JsonText:
    """Give what is kept of an object or array, the same from a line and from a frame.

    Raises
    ------
    ValueError
        It holds a number that JSON does not have.
    """
    # A frame may hold dates and the like, too, which JSON has no type for.
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, default=str)
    return JsonText(text)


def kind_of(value: object) -> str:
    """Say what kind of JSON value it is, with its article."""
    if isinstance(value, Number):
        if value.token in NO_NUMBERS:
            return "no JSON number"
        return "an integer" if value.is_integer else "a number with a fraction or exponent"
    names = {
        str: "a string",
        bool: "a boolean",
        list: "an array",
        dict: "an object",
        type(None): "null",
    }
    return names[type(value)]


def as_written(value: object) -> str:
    """Give a value as JSON, numbers digit for digit as they were written; long ones are cut."""
    return snippet(_json(value))


def _json(value: object) -> str:
    if isinstance(value, Number):
        return value.token
    if isinstance(value, JsonText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(key)}: {_json(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)  # a frame may hold dates, too


def printable(text: str) -> str:
    """Write what cannot be printed as JSON would: half surrogates, line ends, a terminal's escape codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def snippet(text: str) -> str:
    """Cut what is too long for a message, and make it printable."""
    text = text.strip(" \t\r\n")
    shown = text if len(text) <= _VALUE_SHOWN else text[: _VALUE_SHOWN - 1] + "…"
    return printable(shown)


@lru_cache(maxsize=1 << 12)  # a misspelt key is usually misspelt in every line
def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Give the known name that a misspelt one most likely stands for, or None.

    Examples
    --------
    >>> (
    ...     nearest("WordPress", ("gitlab", "wordpress")),
    ...     nearest("src_perc", ("src", "src-perc")),
    ...     nearest("x", ("src",)),
    ... )
    ('wordpress', 'src-perc', None)
    """
    folded = {_fold(candidate): candidate for candidate in known}
    from difflib import get_close_matches  # noqa: PLC0415 - only a misspelt name needs it

    match = get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")
