"""Blocks of whole lines: every byte of every file once, in its place, whatever memory is used again on the way."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from skillshift_frames.readers import blocks
from skillshift_frames.readers.sources import resolve_sources
from tests.readers.conftest import written

if TYPE_CHECKING:
    from tests.readers.conftest import Write

_SPACED, _DENSE = written(), written().replace(", ", ",")


def lines_of_files(*names: str, held: list[blocks.Block] | None = None) -> dict[str, list[bytes]]:
    """Give the lines that the blocks say to be of each file."""
    sources, _ = resolve_sources(list(names))
    assert len({source.path for source in sources}) == len(names)
    found: dict[str, list[bytes]] = {name: [] for name in names}
    given = blocks.blocks_of(sources)
    if held is not None:  # who holds on to blocks finds them as they were
        held += given
        given = iter(held)
    for block in given:
        assert block.text == b"".join(block.text[s.start : s.stop] for s in block.stretches)
        for stretch in block.stretches:
            lines = block.text[stretch.start : stretch.stop]
            found[sources[stretch.file].path] += lines.removesuffix(b"\n").split(b"\n")
    return found


def test_every_line_of_every_file_once() -> None:
    several = set()

    @given(
        st.lists(
            st.tuples(
                st.lists(st.integers(0, 30), min_size=1, max_size=40),
                st.sampled_from([_SPACED, _DENSE]),
                st.booleans(),
                st.sampled_from([".jsonl", ".jsonl.gz"]),
            ),
            min_size=1,
            max_size=5,
        ),
        st.sampled_from([400, 1_000, 5_000, 1 << 20]),
    )
    def check(files: list[tuple[list[int], str, bool, str]], size: int) -> None:
        contents = {}
        for number, (longer, line, ended, suffix) in enumerate(files):
            lines = [line.replace("gitlab", "g" * more).encode() for more in longer]
            contents[f"x{number}{suffix}"] = lines
            text = b"\n".join(lines) + b"\n" * ended
            compressed = suffix.endswith(".gz")
            Path(f"x{number}{suffix}").write_bytes(gzip.compress(text) if compressed else text)
        usual, blocks.BLOCK = blocks.BLOCK, size
        held: list[blocks.Block] = []
        try:
            assert lines_of_files(*contents) == contents
            assert lines_of_files(*contents, held=held) == contents
        finally:
            blocks.BLOCK = usual
        several.add(len(held) > 3)
        assert sum(block.size for block in held) == sum(
            Path(name).stat().st_size for name in contents
        )

    check()
    assert several == {True, False}


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_files_of_one_layout_share_a_block_and_others_do_not(write: Write, suffix: str) -> None:
    """Also where they come by turns."""
    lines = {"a": _SPACED, "b": _DENSE, "c": _SPACED, "d": "[]", "e": _DENSE, "f": ""}
    for name, line in lines.items():
        path = write(f"{name}{suffix}", *[line] * 3 if line else [])
        if suffix.endswith(".gz"):
            path.write_bytes(gzip.compress(path.read_bytes()))
    sources, _ = resolve_sources([f"{name}{suffix}" for name in lines])
    found = [
        (block.layout is None, [stretch.file for stretch in block.stretches])
        for block in blocks.blocks_of(sources)
    ]
    assert sorted(found) == [(False, [0, 2]), (False, [1, 4]), (True, [3]), (True, [5])]


def test_files_whose_lines_name_their_run_are_not_even_read(write: Write) -> None:
    write("a.jsonl", *[written(run='"own"')] * 3)
    write("b.jsonl", *[written(run="null")] * 3)
    write("c.jsonl", *[written(error=r'"\"run\": \"own\""')] * 3)
    sources, _ = resolve_sources(["a.jsonl", "b.jsonl", "c.jsonl"])
    found = [(block.layout is None, block.text.count(b"\n")) for block in blocks.blocks_of(sources)]
    assert found == [(True, 0), (False, 6)]


def test_pieces_of_compressed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1_000)
    lines = [_SPACED.replace("gitlab", "g" * more).encode() for more in range(40)]
    Path("x.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines)))
    held: list[blocks.Block] = []
    assert lines_of_files("x.jsonl.gz", held=held)["x.jsonl.gz"] == lines
    assert len(held) > 3


def test_line_that_is_longer_than_a_block_is_nobodys(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1_000)
    write("a.jsonl", _SPACED, _SPACED.replace("gitlab", "g" * 2_000), _SPACED)
    write("b.jsonl", _SPACED)
    sources, _ = resolve_sources(["a.jsonl", "b.jsonl"])
    found = [
        (block.layout is None, [stretch.file for stretch in block.stretches])
        for block in blocks.blocks_of(sources)
    ]
    assert found == [(False, [0]), (True, [0]), (False, [1])]


def test_part_of_a_block(write: Write) -> None:
    for name in "abc":
        write(f"{name}.jsonl", *[_SPACED.replace("gitlab", name)] * 3)
    sources, _ = resolve_sources(["a.jsonl", "b.jsonl", "c.jsonl"])
    (block,) = blocks.blocks_of(sources)
    part = block.part({0, 2})
    assert part.text == Path("a.jsonl").read_bytes() + Path("c.jsonl").read_bytes()
    assert [part.text[s.start : s.stop] for s in part.stretches] == [
        Path("a.jsonl").read_bytes(),
        Path("c.jsonl").read_bytes(),
    ]
