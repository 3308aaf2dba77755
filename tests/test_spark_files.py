"""Files that Spark reads on two worker processes: the same bytes as from this machine's reader, and as strict.

They fail, and are not skipped, where PySpark or Java 17 is missing: a promise that is never tested is none.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from threading import Thread
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa  # noqa: TID253 - the test writes what Spark reads
import pytest

import skillshift_frames as sf
from skillshift_frames.cli.app import run
from tests.cluster import CLUSTER, MARKS, two_workers, workers
from tests.simulated import SHOP, simulate, tasks_of
from tests.strategies import to_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = MARKS


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with two_workers() as session:
        yield session


LEFT_OUT = ("run", "error", "trial")


def zstd(content: bytes) -> bytes:
    compressed: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return compressed


COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd}


def lines_of(run: str = "asi", seed: int = 0) -> list[dict[str, Any]]:
    """Give a run as the lines of a file, every seventh not measured."""
    rows = [
        {key: value for key, value in row.items() if key not in LEFT_OUT}
        for row in simulate(run, seed=seed)
    ]
    for row in rows[::7]:
        row.update(error="timeout", success=None)
    return rows


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(to_jsonl(rows)))
    return path


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.toml"
    path.write_text('conditions = ["src", "src-perc", "tgt"]\n[sites]\ncart = 24\nsearch = 9\n')
    return path


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsysbinary.readouterr()
        code = run(list(map(str, arguments)))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


# The same numbers, and the same bytes


@pytest.mark.parametrize(
    "options",
    [
        ["table"],
        ["table", "--ci", "--format", "json"],
        ["cells", "--ci", "--format", "csv", "--pool", "--errors", "zero"],
        ["cells", "--format", "markdown", "--label", "mine=ONE"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("spark")
def test_the_command_gives_the_same_bytes(
    cli: Callable[..., Any], tmp_path: Path, shop: Path, options: list[str]
) -> None:
    """Of lines and tables, plain and compressed, named by pattern, folder and name; one has a pattern's characters."""
    first, second, third = (lines_of(seed=seed) for seed in range(3))
    half = len(first) // 2
    shards = "--pool" in options
    one = write_jsonl(tmp_path / "a [1]%.jsonl", first[:half] if shards else first)
    write_jsonl(tmp_path / "b.jsonl.gz", first[half : half + 9] if shards else second)
    write_parquet(tmp_path / "c.parquet", first[half + 9 :] if shards else third)
    arguments = [option.replace("ONE", str(one)) for option in options]
    arguments += ["--benchmark", str(shop), f"{tmp_path}/*.jsonl", f"{tmp_path}/*.gz"]
    if not shards:
        write_jsonl(tmp_path / "deep" / "d" / "per_task.jsonl.zst", second)
        arguments.append(f"{tmp_path}/deep")
    arguments.append(f"{tmp_path}/c.parquet")
    found = cli(*arguments, "--engine", "spark")
    assert found == cli(*arguments)
    assert found[0] == 0


def test_a_session_of_its_own_is_quiet_and_leaves_nothing(tmp_path: Path, shop: Path) -> None:
    path = write_jsonl(tmp_path / "runs" / "asi.jsonl", lines_of())
    (tmp_path / "here").mkdir()
    command = [sys.executable, "-m", "skillshift_frames", "table", str(path), "--ci"]
    command += ["--benchmark", str(shop)]
    on_spark = ["--engine", "spark", "--master", CLUSTER]
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(tmp_path / "work")}
    done, expected = (
        subprocess.run(
            [*command, *more], capture_output=True, cwd=tmp_path / "here", env=env, check=False
        )
        for more in (on_spark, [])
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, expected.stderr)
    assert list((tmp_path / "here").iterdir()) == []


OWN = """
import sys
import skillshift_frames as sf
for benchmark in ("infer", "skillshift", "infer"):
    try:
        print(sf.tally_on_spark(sys.argv[1], master="local[1]", benchmark=benchmark).height)
    except sf.RecordError as error:
        print(error.rule)
"""


def test_sessions_may_follow_each_other_also_after_a_fault(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "asi.jsonl", lines_of()[:20])
    expected = sf.read_tally(path, benchmark="infer").height
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", OWN, path], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.split() == [str(expected), "unknown-site", str(expected)]


@pytest.mark.parametrize(
    ("environment", "master", "reason"),
    [
        ({"JAVA_HOME": "/nowhere"}, "local[1]", "/nowhere/bin/java"),
        ({}, "nonsense", "Master must either be yarn or"),
    ],
)
def test_a_spark_that_does_not_start_says_why_in_one_line(
    tmp_path: Path, environment: dict[str, str], master: str, reason: str
) -> None:
    path = write_jsonl(tmp_path / "asi.jsonl", lines_of()[:2])
    command = [sys.executable, "-m", "skillshift_frames", "table", str(path), "--engine", "spark"]
    done = subprocess.run(
        [*command, "--master", master],
        capture_output=True,
        text=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: Spark did not start: ")
    assert reason in done.stderr
    assert "skillshift-frames[spark] needs Java 17" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_worker_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401
    rows = [lines_of(seed=seed) for seed in range(40)]
    for number, listed in enumerate(rows):
        write_jsonl(tmp_path / f"run-{number}.jsonl.gz", listed)
    found: list[pl.DataFrame] = []
    options: Any = {"benchmark": SHOP, "families": True}
    pattern = f"{tmp_path}/*.gz"
    job = Thread(target=lambda: found.append(sf.tally_on_spark(pattern, session=spark, **options)))
    before = workers()
    assert len(before) == 2
    job.start()
    while not spark.sparkContext.statusTracker().getActiveStageIds():
        time.sleep(0.01)
    os.kill(min(before), signal.SIGKILL)
    assert job.is_alive()
    job.join()
    assert min(before) not in workers()
    assert found[0].equals(sf.tally(sf.read_tasks(pattern, benchmark=SHOP), **options))


def test_the_session_of_the_user_stays_as_it_is(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = write_parquet(tmp_path / "asi.parquet", lines_of())
    spark.conf.set("spark.sql.caseSensitive", "false")
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    before = spark.conf.getAll
    found = sf.tally_on_spark(path, session=spark, benchmark=SHOP)
    assert found.equals(sf.read_tally(path, benchmark=SHOP))
    assert spark.conf.getAll == before
    assert spark.range(3).count() == 3
    with pytest.raises(sf.InputError, match="there is a Spark session already"):
        sf.tally_on_spark(path, master="local[1]", benchmark=SHOP)


# As strict as reading here, line by line

GOOD = lines_of()[1]
TEXT = json.dumps(GOOD)
BAD: dict[str, bytes | str] = {
    "text": json.dumps(GOOD | {"steps": "3"}),
    "fraction": TEXT.replace('"steps": ', '"steps": 1.0, "x": '),
    "whole": json.dumps(GOOD | {"steps": 3.0}),
    "exponent": TEXT.replace('"steps": ', '"steps": 1e1'),
    "beyond": json.dumps(GOOD | {"steps": 1 << 63}),
    "number": json.dumps(GOOD | {"success": 1}),
    "misspelt": json.dumps(GOOD | {"eror": "x"}),
    "capital": json.dumps(GOOD | {"Steps": 3}),
    "nested": json.dumps(GOOD | {"meta": {"a": [1, {}]}}),
    "missing": json.dumps({key: value for key, value in GOOD.items() if key != "skill_calls"}),
    "null-site": json.dumps(GOOD | {"site": None}),
    "null-trial": json.dumps(GOOD | {"trial": None}),
    "twice": TEXT.replace("{", '{"uid": "b", '),
    "two": TEXT * 2,
    "after": TEXT + " 3",
    "comma": TEXT + ",",
    "brace": TEXT + "}",
    "feigned": TEXT + ', "end": 1',
    "cut": TEXT[:20],
    "quotes": TEXT.replace('"', "'"),
    "nan": json.dumps(GOOD | {"steps": float("nan")}),
    "array": f"[{TEXT}]",
    "comment": TEXT + " // fine",
    "return": f"{TEXT}\r{TEXT}",
    "bytes": TEXT.encode().replace(b'"uid": "', b'"uid": "\xff'),
    "half": TEXT.replace('"uid": "', '"uid": "\\ud83d'),
    "zero": TEXT.replace('"uid": "', '"uid": "\\u0000').replace("\\u0000", "\x00"),
    "mark": "\ufeff" + TEXT,
}  # fmt: skip


def said(faults: pl.DataFrame) -> dict[str, set[tuple[str, str]]]:
    """Give, by the name of a file, the fields that are at fault, and the rules that they break."""
    found: dict[str, set[tuple[str, str]]] = {}
    for path, field, rule in faults.select("path", "field", "rule").iter_rows():
        found.setdefault(path.rpartition("/")[2], set()).add((field, rule))
    return found


def test_every_line_that_is_no_record_is_refused_for_the_same_reasons(
    spark: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    for name, line in BAD.items():
        odd = line if isinstance(line, bytes) else line.encode()
        good = to_jsonl(lines_of()[2:])
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join([good + odd, b" \t", b""]))
    (tmp_path / "empty.jsonl").write_bytes(b"\n \n")
    with pytest.raises(sf.RecordError) as caught:
        sf.tally_on_spark(f"{tmp_path}/*.jsonl", session=spark, benchmark=SHOP)
    _, expected = sf.check_tasks(list(tmp_path.glob("*.jsonl")), benchmark=SHOP)
    found = said(caught.value.faults)
    assert set(found) == {f"{name}.jsonl" for name in [*BAD, "empty"]}
    assert found == said(expected)


def test_faults_are_named_with_their_rule_value_and_count(
    cli: Callable[..., Any],
    spark: Any,  # noqa: ANN401, ARG001 - what runs already is used
    tmp_path: Path,
    shop: Path,
) -> None:
    rows = lines_of()
    for row in rows[1:4]:
        row["steps"] = "3"
    path = write_jsonl(tmp_path / "asi.jsonl", rows)
    with path.open("a") as file:
        file.write("{\n}\n{{\n")
    code, out, err = cli("table", path, "--benchmark", shop, "--engine", "spark")
    assert (code, out) == (2, "")
    assert f'file:{path}: steps: "3" is a string; an integer or null is needed in 3 lines' in err
    assert "is not JSON" in err
    assert err.count("\n") == 4
    # What a value says of other records is known to the tally only, which knows of cells and not of files.
    rows = lines_of()
    rows[1]["skill_failures"] = 99
    rows[2]["site"] = "chart"
    path = write_jsonl(tmp_path / "other.jsonl", rows)
    code, out, err = cli("cells", path, "--benchmark", shop, "--engine", "spark", "--ci")
    assert (code, out) == (2, "")
    assert f"error: file:{path}: " in err
    assert 'in 1 record of run "other", site "cart", condition' in err
    assert '"chart" is not a site of this benchmark' in err


def refused(spark: Any, *paths: object, **options: Any) -> str:  # noqa: ANN401
    with pytest.raises(sf.SkillshiftError) as caught:
        sf.tally_on_spark(list(map(str, paths)), session=spark, benchmark=SHOP, **options)
    return str(caught.value)


def test_columns_are_those_of_a_record_in_every_file(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401
    rows = lines_of()
    bad = {
        "float": [row | {"steps": 3.0} for row in rows],
        "capital": [row | {"Steps": 3} for row in rows],
        "missing": [{k: v for k, v in row.items() if k != "success"} for row in rows],
    }
    for name, listed in bad.items():
        write_parquet(tmp_path / f"{name}.parquet", listed)
    write_parquet(tmp_path / "none.parquet", rows)
    pl.read_parquet(tmp_path / "none.parquet").clear().write_parquet(tmp_path / "none.parquet")
    said = refused(spark, f"{tmp_path}/*.parquet")
    assert "float.parquet: steps: the column is Float64; Int64 is needed" in said
    assert "capital.parquet: Steps: the column of Int64 is not a key of a record" in said
    assert "missing.parquet: success: the column is missing" in said
    assert "none.parquet: file: holds no record" in said
    # One file of a run lacks what the other has: neither is left out.
    half = len(rows) // 2
    write_parquet(tmp_path / "s" / "0.parquet", rows[:half])
    more = [row | {"cost": 1.5} for row in rows[half:]]
    write_parquet(tmp_path / "s" / "1.parquet", more)
    shards = f"{tmp_path}/s/*.parquet"
    assert "cost: the column of Float64 is not a key" in refused(spark, shards, pool=True)
    with pytest.warns(sf.SkillshiftWarning, match="ignored, not keys of a record: cost"):
        found = sf.tally_on_spark(shards, session=spark, benchmark=SHOP, pool="a", extra="ignore")
    write_jsonl(tmp_path / "a.jsonl", rows)
    assert found.equals(sf.read_tally(tmp_path / "a.jsonl", benchmark=SHOP))


def test_of_a_dataset_nothing_is_left_out(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401
    rows = lines_of("a")
    half = len(rows) // 2
    write_parquet(tmp_path / "a.parquet" / "part-0.parquet", rows[:half])
    write_parquet(tmp_path / "a.parquet" / "part-1.parquet", rows[half:])
    (tmp_path / "a.parquet" / "_SUCCESS").touch()
    write_jsonl(tmp_path / "b.jsonl" / "part-0.json", rows[:half])
    write_jsonl(tmp_path / "b.jsonl" / "part-1.json", rows[half:])
    both = [f"{tmp_path}/*.parquet", f"{tmp_path}/*.jsonl"]
    found = sf.tally_on_spark(both, session=spark, benchmark=SHOP)
    for name in ("a", "b"):
        path = write_jsonl(tmp_path / "whole" / f"{name}.jsonl", rows)
        assert found.filter(run=name).equals(sf.read_tally(path, benchmark=SHOP))
    write_parquet(tmp_path / "a.parquet" / "more" / "part-2.parquet", rows)
    said = refused(spark, tmp_path / "a.parquet")
    assert "a.parquet: is a dataset, and Spark does not look into its folder more" in said


def test_paths_that_name_nothing_and_files_of_no_kind_are_refused(
    spark: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    (tmp_path / "x.csv").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 is not enough")
    write_jsonl(tmp_path / "_hidden.jsonl", lines_of())
    for path, said in {
        "nowhere.jsonl": "nowhere.jsonl: no such file or folder",
        "*.jsonl.gz": "*.jsonl.gz: the pattern matches no file",
        "x.csv": "x.csv: unknown kind of file; .jsonl",
        "folder": "folder: no per_task.jsonl in this folder or below it",
        "broken.parquet": "broken.parquet: cannot be read: ",
        "_hidden.jsonl": "_hidden.jsonl",
    }.items():
        assert said in refused(spark, tmp_path / path)
    assert "cannot be looked for" in refused(spark, "nosuchfs://host/x.parquet")
    assert "no file was named" in refused(spark)


def test_a_file_named_twice_counts_once_and_a_label_of_no_use_is_said(
    spark: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    path = write_jsonl(tmp_path / "asi.jsonl", [row | {"run": "own"} for row in lines_of()])
    with pytest.warns(sf.SkillshiftWarning) as warned:
        found = sf.tally_on_spark(
            [path, path], session=spark, labels={"mine": path}, benchmark=SHOP
        )
    told = "\n".join(str(warning.message) for warning in warned)
    assert "asi.jsonl: named 2 times; read once" in told
    assert "the label mine is not used: every record names its own run" in told
    assert found.equals(sf.read_tally(path, benchmark=SHOP))
    assert found.get_column("run").unique().to_list() == ["own"]
    assert found.get_column("tasks").sum() == tasks_of().height
