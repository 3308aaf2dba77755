"""Set the two readers against each other: ``python -m tests.readers.fuzz [--minutes 10] [--seed 0]``.

Files that are nearly all in order are written, a few bytes of them changed, and what `read_tally` says of them is held
against the counts of what `read_tasks` gives: the same counts, or the same faults and notes. Changes are drawn to hurt where the bulk
reader proves instead of looking: digits and what looks like some, the ends of uids, quotation marks, ends of lines, and
blocks that end anywhere. A case that differs is made smaller line by line, printed, and the run goes on.

What was found this way is kept small in ``test_bulk.py``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import skillshift_frames as sf
from skillshift_frames.outcomes import count_outcomes
from skillshift_frames.readers import blocks, bulk
from skillshift_frames.readers.sources import resolve_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Files = list[list[bytes]]

_UIDS = [
    "skillshift.gitlab.v1.{}",
    "skillshift.gitlab.v2.{}",
    "t{}",
    "{}",
    "é{}",
    "a.v1.{}",
    "x{}y{}",
]
_PIECES = [
    *(b'"', b'\\"', b"\\", b"\\u0030", b"\r", b"\n", b"\r\n", b"\t", b" ", b".", b",", b"{", b"}"),
    *(
        b"0",
        b"9",
        b"-",
        b"+",
        b"e1",
        b".0",
        b":",
        b"/",
        b"\xff",
        b"\xd9\xa5",
        b"\xef\xbb\xbf",
        b"\x00",
    ),
    *(
        b'", "site": "gitlab',
        b'"uid": "t1", ',
        b', "error": ""',
        b', "error": "e"',
        b', "run": "own"',
    ),
    *(
        b', "trial": 2',
        b', "trial": 1',
        b', "reward": 1',
        b".v2.7",
        b"null",
        b"true",
        b"false",
        b"magento",
    ),
]
_HARMLESS = [
    *(
        (b'"t', b'"u'),
        (b"1", b"01"),
        (b"v1", b"v1.v1"),
        (b'", "site"', b'0", "site"'),
        (b'", "', b'"  , "'),
    ),
    *(
        (b"true", b"false"),
        (b'"steps": 1', b'"steps": 9'),
        (b"}", b" }"),
        (b"{", b"{ "),
        (b"}", b', "trial": 1}'),
    ),
    *(
        (b'"gitlab"', b'"magento"'),
        (b"gitlab.v1", b"9"),
        (b'"src"', b'"src-exec"'),
        (b"false", b"null"),
    ),
    *(
        (b"}", b', "error": ""}'),
        (b"}", b', "error": "e 1"}'),
        (b"}", b', "trial": 2}'),
        (b'": 1', b'": 1\t'),
    ),
]


def line(draw: random.Random, uid: str, number: int, condition: str, *, spaces: bool) -> bytes:
    values = {
        "uid": uid.format(number, number),
        "site": "gitlab",
        "condition": condition,
        "success": draw.random() < 0.5,
        "steps": draw.randrange(3),
        "skill_calls": 1,
        "skill_failures": draw.randrange(2),
    }
    separators = (", ", ": ") if spaces else (",", ":")
    return json.dumps(values, ensure_ascii=draw.random() < 0.5, separators=separators).encode()


def run_of(draw: random.Random) -> list[bytes]:
    uid, spaces = draw.choice(_UIDS[: draw.choice([1, 4, 7])]), draw.random() < 0.8
    conditions = draw.sample(["src", "src-perc", "tgt", "tgt-exec"], draw.choice([1, 1, 2]))
    first, count = draw.choice([0, 1, 90, 100]), draw.choice([3, 30, 60])
    return [
        line(draw, uid, number, condition, spaces=spaces)
        for condition in conditions
        for number in range(first, first + count)
    ]


def changed(draw: random.Random, lines: list[bytes]) -> list[bytes]:
    """Change a line or two: a piece put in, taken out, put in the place of another; a line twice, or in another place."""
    lines = list(lines)
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        at = draw.randrange(len(lines))
        text = lines[at]
        # Nearly all that is proved is about the uid and its end.
        place = draw.randrange(min(len(text) + 1, 45 if draw.random() < 0.7 else 1 << 20))
        if draw.random() < 0.4:  # most likely no fault, and not of the layout
            old, new = draw.choice(_HARMLESS)
            lines[at] = text.replace(old, new, 1)
            continue
        match draw.randrange(7):
            case 0 | 1:
                lines[at] = text[:place] + draw.choice(_PIECES) + text[place:]
            case 2:
                lines[at] = text[:place] + text[place + draw.choice([1, 1, 1, 5, 20]) :]
            case 3 | 4:
                piece = draw.choice(_PIECES)
                lines[at] = text[:place] + piece + text[place + len(piece) :]
            case 5:
                lines.insert(draw.randrange(len(lines) + 1), text)
            case _:
                lines[at] = lines[draw.randrange(len(lines))].replace(b"1", b"2", 1)
    return lines


def outcome(read: Callable[..., Any], paths: Sequence[str], options: dict[str, Any]) -> Any:  # noqa: ANN401
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            found = read(paths, **options).to_dicts()
        except sf.SkillshiftError as error:
            found = (type(error).__name__, str(error))
    return found, [str(note.message) for note in notes]


def slowly(paths: Sequence[str], **options: Any) -> Any:  # noqa: ANN401
    return count_outcomes(sf.read_tasks(paths, **options))


def write(files: Files, end: bytes, *, last: bool, compressed: bool) -> list[str]:
    names = []
    for number, lines in enumerate(files):
        content = end.join(lines) + (end if last and lines else b"")
        name = f"r{number}.jsonl" + (".gz" if compressed else "")
        Path(name).write_bytes(gzip.compress(content, 1) if compressed else content)
        names.append(name)
    return names


def differs(files: Files, how: dict[str, Any]) -> bool:
    names = write(files, how["end"], last=how["last"], compressed=how["compressed"])
    options = {"benchmark": how["benchmark"], "pool": how["pool"]}
    try:
        return bool(outcome(sf.read_tally, names, options) != outcome(slowly, names, options))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        print(f"{type(error).__name__}: {error}")
        return True


def smaller(files: Files, how: dict[str, Any]) -> Files:
    """Leave out lines as long as the answers still differ."""
    for number in range(len(files)):
        step = max(1, len(files[number]) // 2)
        while step:
            at = 0
            while at < len(files[number]):
                fewer = [list(lines) for lines in files]
                del fewer[number][at : at + step]
                if fewer[number] and differs(fewer, how):
                    files = fewer
                else:
                    at += step
            step //= 2
    return files


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.readers.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    bulk.WORTH_IT = 0
    draw = random.Random(arguments.seed)  # noqa: S311 - nothing is kept secret here
    end = time.monotonic() + 60 * arguments.minutes
    cases = taken = faults = found = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        while time.monotonic() < end:
            files = [changed(draw, run_of(draw)) for _ in range(draw.choice([1, 1, 2, 4]))]
            if draw.random() < 0.05:
                files.append([])
            how: dict[str, Any] = {
                "end": draw.choice([b"\n", b"\n", b"\n", b"\r\n"]),
                "last": draw.random() < 0.7,
                "compressed": draw.random() < 0.1,
                "benchmark": draw.choice(["skillshift", "infer"]),
                "pool": draw.choice([False, False, "all"]),
            }
            blocks.BLOCK = draw.choice([300, 2_000, 1 << 20])
            cases += 1
            if differs(files, how):
                found += 1
                print(
                    f"case {cases}, blocks of {blocks.BLOCK}, {how}: {smaller(files, how)}",
                    flush=True,
                )
            names = write(files, how["end"], last=how["last"], compressed=how["compressed"])
            options = {"benchmark": how["benchmark"], "pool": how["pool"]}
            faults += isinstance(outcome(sf.read_tally, names, options)[0], tuple)
            bulked = bulk.distinct_records(resolve_sources(names)[0], None)
            taken += bulked is not None and len(bulked.unfit) < len(names)
        os.chdir("/")
    print(f"{cases:,} cases, {taken:,} read in bulk, {faults:,} with a fault: {found} differ")


if __name__ == "__main__":
    main()
