"""Hypothesis strategies for lines: token by token, so that layout, escapes and faults come in every mixture."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.readers.conftest import TOKENS

_STRINGS = [
    '"t"',
    '"é"',
    r'"\u00e9"',
    r'"\""',
    r'"\\"',
    r'"\ud83d\udc4d"',
    '"👍"',
    '"\x7f"',
    r'"\/"',
    '""',
    '", "',
    "null",
]
_BAD_STRINGS = ['"\t"', r'"\ud83d"', r'"\x"', '"', "7", "true", '["t"]', "'t'", "nul"]
_INTEGERS = ["0", "1", "-0", "-1", "12", str(2**63 - 1), "null"]
_BAD_INTEGERS = [
    "3.0",
    "1e2",
    "03",
    "true",
    '"3"',
    "NaN",
    "-Infinity",
    str(2**63),
    "9" * 400,
    "-",
    "{}",
]
_GOOD = {
    **dict.fromkeys(("uid", "site", "condition", "error", "run"), _STRINGS),
    **dict.fromkeys(("steps", "skill_calls", "skill_failures", "trial"), _INTEGERS),
    "success": ["true", "false", "null"],
}  # fmt: skip
_BAD = {
    **dict.fromkeys(("uid", "site", "condition", "error", "run"), _BAD_STRINGS),
    **dict.fromkeys(("steps", "skill_calls", "skill_failures", "trial"), _BAD_INTEGERS),
    "success": ["1", "0", '"true"', "True", "0.5"],
}
_OTHER_KEYS = ["Uid", "reward", "", r"\ud83d", r"a\nb", "uid "]
_OTHER_VALUES = [
    "1",
    "1.5",
    "1e400",
    str(2**64),
    '"x"',
    "null",
    "[1, 2]",
    '{"a": 1}',
    '{"a": 1, "a": 1}',
    "[NaN]",
    r'"\udc00"',
]
_SPACE = st.sampled_from(["", "", " ", "\t", "\r", "  "])


def _escaped(key: str) -> st.SearchStrategy[str]:
    """Write a key as it is, or its first character as an escape."""
    return (
        st.sampled_from([key, key, key, f"\\u{ord(key[0]):04x}{key[1:]}"]) if key else st.just(key)
    )


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """One line: usually a record, often with one thing wrong, now and then with bytes changed at random."""
    keys = [*TOKENS, *draw(st.sets(st.sampled_from(["trial", "error", "run"])))]
    flaw = draw(st.sampled_from(["none", "none", "value", "missing", "again", "other", "bytes"]))
    values = {key: draw(st.sampled_from(_GOOD[key])) for key in keys}
    if flaw == "value":
        key = draw(st.sampled_from(keys))
        values[key] = draw(st.sampled_from(_BAD[key]))
    pairs = list(values.items())
    if flaw == "missing":
        pairs.pop(draw(st.integers(0, len(pairs) - 1)))
    if flaw == "again":
        key = draw(st.sampled_from(keys))
        pairs.append((key, draw(st.sampled_from([values[key], *_GOOD[key]]))))
    if flaw == "other":
        pairs.append((draw(st.sampled_from(_OTHER_KEYS)), draw(st.sampled_from(_OTHER_VALUES))))
    if draw(st.booleans()):
        pairs = draw(st.permutations(pairs))
    space = draw(_SPACE)
    text = ",".join(f'{space}"{draw(_escaped(key))}"{space}:{space}{value}' for key, value in pairs)
    line = f"{draw(_SPACE)}{{{text}{space}}}{draw(_SPACE)}".encode()
    return draw(_mutated(line)) if flaw == "bytes" else line


@st.composite
def _mutated(draw: st.DrawFn, line: bytes) -> bytes:
    """Cut bytes out of a line and put others in."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(line)))
        end = start + draw(st.integers(0, 3))
        new = draw(
            st.one_of(
                st.sampled_from([b"", b'"', b"\\", b"{", b"}", b",", b":", b"\xff", b"\0", b"0"]),
                st.binary(max_size=2),
            )
        )
        line = line[:start] + new + line[end:]
    return line.replace(b"\n", b"")


# Many lines

_RESTS = [
    ', "site": "gitlab", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 1}',
    ', "site": "gitlab", "condition": "tgt", "success": false, "steps": 5, "skill_calls": 0, "skill_failures": 0}',
    ', "success": null, "site": "magento", "condition": "src", "steps": 0, "skill_calls": 9, "skill_failures": 9, "error": "é"}',
    ', "site":"gitlab","condition":"src","success":true,"steps":3,"skill_calls":2,"skill_failures":1,"trial":2}',
    ', "site": "gitlab", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 1, "run": "own"}\r',
]  # fmt: skip
_ODD_RESTS = [
    ', "site": "gitlab", "condition": "src", "success": 1, "steps": 3, "skill_calls": 2, "skill_failures": 1}',
    ', "site": "gitlab", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 1, "uid": "z"}',
    ', "site": "gitlab", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 3}',
    ', "site": "gitlap", "condition": "src", "success": true, "steps": 9223372036854775808, "skill_calls": 2, "skill_failures": 1}',
    ', "site": "gitl\\u0061b", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 1}',
    ', "site": "gitlab", "condition": "src", "success": true, "steps": 3, "skill_calls": 2, "skill_failures": 1} {}',
    "",
    "}",
]  # fmt: skip
_PREFIXES = ['{"uid": "', '{"uid":"', ' { "uid" : "', '\t{"uid": "']
_UIDS = ["a", "é", "👍", "\x7f", "'", "skillshift.gitlab.v1.", "\u2028", " "]
_ODD_UIDS = [r"\n", r"\u0041", r"\"", "\t", r"\ud800", '"', '", "site": "', "\\"]
_ODD_LINES = [
    b"",
    b" \r",
    b"{}",
    b"[]",
    b'{"uid": "',
    b'{"uid": "\xff"}',
    b'{"uid": "\xed\xa0\x80" }',
    b"\x00",
    b"\xef\xbb\xbf{}",
    b" " * 300,
]


@st.composite
def files(draw: st.DrawFn) -> list[bytes]:
    """Lines as a writer writes them, a few hundred with few different rests, and now and then an odd one."""
    prefix = draw(st.sampled_from(_PREFIXES))
    rests = draw(st.lists(st.sampled_from(_RESTS), min_size=1, max_size=3, unique=True))
    count = draw(st.one_of(st.integers(1, 8), st.integers(20, 120)))
    stems = draw(st.lists(st.sampled_from(_UIDS), min_size=1, max_size=3))
    found = [
        f'{prefix}{stems[index % len(stems)]}{index}"{rests[index * index % len(rests)]}'.encode()
        for index in range(count)
    ]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2, 5]))):
        place = draw(st.integers(0, len(found)))
        uid, rest = (
            draw(st.sampled_from([*_UIDS, *_ODD_UIDS])),
            draw(st.sampled_from([*_RESTS, *_ODD_RESTS])),
        )
        odd = f'{draw(st.sampled_from([*_PREFIXES, ""]))}{uid}"{rest}'.encode()
        found.insert(
            place,
            draw(
                st.one_of(
                    st.just(odd), st.sampled_from(_ODD_LINES), lines(), st.sampled_from(found)
                )
            ),
        )
    return found
