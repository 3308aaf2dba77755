"""What is wrong with a line that was refused: everything, in words, with the value as it was written."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

from skillshift_frames.readers.records import (
    FIELDS,
    INT64,
    REQUIRED,
    Extra,
    decode_line,
    decode_line_with_extras,
    parse,
)
from skillshift_frames.readers.wording import (
    NO_NUMBERS,
    Number,
    as_written,
    kind_of,
    nearest,
    printable,
    snippet,
)

_HALF_PAIR = re.compile("[\ud800-\udfff]")

_KINDS = {
    **dict.fromkeys(("uid", "site", "condition"), ((str,), "a string")),
    **dict.fromkeys(("error", "run"), ((str, type(None)), "a string")),
    **dict.fromkeys(
        ("steps", "skill_calls", "skill_failures"), ((int, type(None)), "an integer or null")
    ),
    "success": ((bool, type(None)), "true or false"),
    "trial": ((int,), "an integer"),
}


class Finding(NamedTuple):
    """A fault of one line, without its place."""

    field: str
    value: str | None
    rule: str
    message: str
    hint: str = ""


def diagnose(line: bytes, extra: Extra) -> list[Finding]:
    """Say everything that is wrong with a line that was refused: one finding at least."""
    return find_wrong(line, extra) or [_refused(line, extra)]


def find_wrong(line: bytes, extra: Extra) -> list[Finding]:
    """Look at a line without msgspec; nothing is found in nearly all of those that it accepts."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        return [
            Finding(
                "line",
                snippet(line.decode(errors="backslashreplace")),
                "utf-8",
                wrong,
                "save it as UTF-8",
            )
        ]
    try:
        return _find_wrong(text, extra)
    except json.JSONDecodeError as error:
        wrong = f"is not JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}: {snippet(text)}"
        return [Finding("line", snippet(text), "json", wrong, "one JSON object per line is needed")]
    except RecursionError:
        return [
            Finding(
                "line",
                snippet(text),
                "json",
                "is nested too deeply",
                "a record is one flat JSON object",
            )
        ]


def _find_wrong(text: str, extra: Extra) -> list[Finding]:
    content, repeated = parse(text)
    if not isinstance(content, dict):
        wrong = f"is {kind_of(content)}, not an object: {snippet(text)}"
        return [
            Finding("line", snippet(text), "object", wrong, "one JSON object per line is needed")
        ]
    return [
        *(_repeated(key, values) for key, values in sorted(repeated.items())),
        *_missing(content),
        *(_unknown(key, content) for key in content if key not in FIELDS and extra == "refuse"),
        *(finding for key, value in content.items() for finding in _wrong_value(key, value)),
    ]


def _repeated(key: str, values: list[Any]) -> Finding:
    shown = ", ".join(map(as_written, values))
    wrong = f"is there {len(values)} times: {shown}"
    return Finding(
        printable(key),
        shown,
        "repeated-key",
        wrong,
        "readers differ on which one counts; write it once",
    )


def _missing(content: dict[str, Any]) -> list[Finding]:
    return [
        Finding(
            key,
            None,
            "missing-key",
            "is missing",
            _missing_hint(key),
        )
        for key in REQUIRED
        if key not in content
    ]


def _missing_hint(key: str) -> str:
    nullable = ("steps", "skill_calls", "skill_failures")
    return "write null where it was not recorded" if key in nullable else ""


def _unknown(key: str, content: dict[str, Any]) -> Finding:
    near = nearest(key, tuple(field for field in FIELDS if field not in content))
    hint = (
        f"did you mean {near}?"
        if near
        else "--extra keep keeps it as a column, --extra ignore drops it"
    )
    shown = printable(key)
    return Finding(shown, as_written(content[key]), "unknown-key", "is not a key of a record", hint)


def _wrong_value(key: str, value: object) -> list[Finding]:
    if _has_surrogate(key) or _has_surrogate(value):
        written = as_written(value)
        wrong = f"{as_written(key) if _has_surrogate(key) else written} holds half of a surrogate pair, which is no character"
        hint = "write the character itself, or both halves"
        return [Finding(printable(key), written, "surrogate", wrong, hint)]
    if isinstance(value, Number) and value.token in NO_NUMBERS:
        wrong = f"{value.token} is not a JSON number"
        return [Finding(printable(key), value.token, "json", wrong, _missing_hint(key))]
    return _wrong_type(key, value) if key in _KINDS else []


def _wrong_type(key: str, value: object) -> list[Finding]:
    kinds, needed = _KINDS[key]
    if isinstance(value, Number) and value.is_integer and int in kinds:
        # Python refuses to turn thousands of digits into an integer, so their number is looked at.
        if len(value.token) <= len(str(INT64.start)) and int(value.token) in INT64:
            return []
        written = as_written(value)
        return [Finding(key, written, "range", f"{written} is beyond 64 bits")]
    if type(value) in kinds:  # not isinstance: to Python true is an integer
        return []
    written = as_written(value)
    kind = "is null" if value is None else f"{written} is {kind_of(value)}"
    wrong = f"{kind}; {needed} is needed"
    return [Finding(key, written, "type", wrong, _type_hint(key, value))]


def _type_hint(key: str, value: object) -> str:
    if value is None and key == "trial":
        return "leave the key out where there is one trial"
    if key == "success" and isinstance(value, Number):
        return "partial credit is not success; keep it in a key of its own with --extra keep"
    return ""


def _refused(line: bytes, extra: Extra) -> Finding:
    """Report what msgspec found in a line that looks right otherwise."""
    text = line.decode(errors="backslashreplace")
    reason = "is not a record"
    try:
        decode_line(line) if extra == "refuse" else decode_line_with_extras(line)
    except (msgspec.DecodeError, RecursionError) as error:
        reason = str(error)
    return Finding(
        "line",
        snippet(text),
        "json",
        f"{reason}: {snippet(text)}",
        "one JSON object per line is needed",
    )


def _has_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return _HALF_PAIR.search(value) is not None
    if isinstance(value, dict):
        return any(_has_surrogate(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(_has_surrogate, value))
