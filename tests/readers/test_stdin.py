"""Standard input has no name: what it holds is told by its first bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow as pa  # noqa: TID253
import pytest

import skillshift_frames as sf

DEMO = Path(__file__).parents[2] / "data" / "demo" / "reference.jsonl"
COMMAND = [sys.executable, "-m", "skillshift_frames", "table", "-", "--format", "csv"]


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_compressed_standard_input_is_recognised(compress: object) -> None:
    assert callable(compress)
    plain = subprocess.run(COMMAND, input=DEMO.read_bytes(), capture_output=True, check=True)
    piped = subprocess.run(
        COMMAND, input=compress(DEMO.read_bytes()), capture_output=True, check=True
    )
    assert piped.stdout == plain.stdout
    assert b"SR," in plain.stdout


def test_cut_short_on_standard_input_is_a_fault() -> None:
    cut = gzip.compress(DEMO.read_bytes())[:-2000]
    done = subprocess.run(COMMAND, input=cut, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"the .gz stream is cut short or damaged" in done.stderr


def test_label_that_no_record_takes_is_said(tmp_path: Path) -> None:
    named = tmp_path / "two.jsonl"
    named.write_text(DEMO.read_text().splitlines()[0].replace('{"uid"', '{"run": "own", "uid"'))
    with pytest.warns(sf.SkillshiftWarning, match="the label X is not used: every record names"):
        tasks = sf.read_tasks(named, labels={"X": named})
    assert tasks.get_column("run").to_list() == ["own"]
    with pytest.warns(sf.SkillshiftWarning, match="is not used"):
        sf.read_tasks(named, pool="all")
