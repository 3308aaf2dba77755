"""``--engine spark``, as far as it can be told without Spark; `tests.test_spark_files` has the rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf
from tests.simulated import SHOP, tasks_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

COMMAND = pytest.mark.parametrize("command", ["table", "cells"])


@COMMAND
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "hadoop", "x"], "'hadoop' is not one of"),
        (["--master", "yarn", "x.jsonl"], "--master is for --engine spark"),
        (["--engine", "polars", "--master", "yarn", "x.jsonl"], "--master is for --engine spark"),
        (["--engine", "spark", "--no-unique", "x"], "--no-unique is for --engine polars"),
        (["--engine", "spark", "--extra", "keep", "x"], "--extra keep is for --engine polars"),
        (["--engine", "spark", "x.jsonl", "-"], "standard input cannot be read by a cluster"),
        (["--engine", "spark", "--label", "a=-"], "standard input cannot be read by a cluster"),
    ],
)
def test_what_does_not_go_with_an_engine_is_refused(
    cli: Cli, command: str, arguments: list[str], message: str
) -> None:
    result = cli(command, *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


@COMMAND
def test_without_pyspark_one_line_says_how_to_get_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in ("py4j", "py4j.protocol", "pyspark"):
        monkeypatch.setitem(sys.modules, name, None)
    result = cli(command, "--engine", "spark", "hdfs:///runs/*.parquet")
    assert result == (
        2,
        "",
        "error: Spark needs PySpark: python -m pip install 'skillshift-frames[spark]'\n",
    )


@COMMAND
@pytest.mark.parametrize("ci", [False, True])
def test_the_options_reach_spark_and_its_counts_reach_the_output(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, *, ci: bool
) -> None:
    asked: list[tuple[list[str], dict[str, Any]]] = []
    tasks = tasks_of()

    def counted(paths: list[str], **options: Any) -> Any:  # noqa: ANN401 - as the command gives them
        asked.append((paths, options))
        return sf.tally(tasks, benchmark="infer", families=options["families"])

    monkeypatch.setattr(sf, "tally_on_spark", counted)
    options = ["--pool", "--label", "asi=b.parquet", "--benchmark", "infer", "--format", "csv"]
    options += ["--ci"] if ci else []
    found = cli(
        *(command, "--engine", "spark", "--master", "yarn", "--extra", "ignore"),
        *("hdfs:///a.parquet", *options),
    )
    assert asked == [
        (
            ["hdfs:///a.parquet"],
            {
                "master": "yarn",
                "families": ci,
                "labels": {"asi": "b.parquet"},
                "pool": True,
                "benchmark": "infer",
                "extra": "ignore",
            },
        )
    ]
    tasks.write_parquet(tmp_path / "asi.parquet")
    expected = cli(command, tmp_path / "asi.parquet", *options[3:])
    assert found.code == 0
    assert found.out == expected.out


def test_the_library_says_the_same() -> None:
    with pytest.raises(sf.InputError, match="extra is 'keep'; on Spark, one of refuse, ignore"):
        sf.tally_on_spark("asi.jsonl", benchmark=SHOP, extra="keep")  # type: ignore[arg-type]
