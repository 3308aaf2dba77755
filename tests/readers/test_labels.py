"""What a run is called: by its file, by its folder, by the caller, by its own records."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf
from tests.readers.conftest import record

if TYPE_CHECKING:
    from tests.readers.conftest import Write


def _labels(*paths: str, **options: str | bool) -> dict[str, str]:
    """Give uid → run; a test writes each file with one record that names the file."""
    tasks = sf.read_tasks(paths, **options)  # type: ignore[arg-type]
    return dict(tasks.select("uid", "run").iter_rows())


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("asi.jsonl", "asi"),
        ("asi.ndjson", "asi"),
        ("ASI.JSONL", "ASI"),
        ("asi.v2.jsonl", "asi.v2"),
        ("x/asi.jsonl", "asi"),
        (".asi.jsonl", ".asi"),
        ("é 👍.jsonl", "é 👍"),
        ("asi/per_task.jsonl", "asi"),
        ("x/asi/per_task.ndjson", "asi"),
        ("asi.v2/per_task.jsonl", "asi.v2"),
        ("asi.jsonl/per_task.jsonl", "asi.jsonl"),
        ("per_task_2.jsonl", "per_task_2"),
    ],
)
def test_a_run_is_called_by_its_file_or_its_folder(write: Write, path: str, label: str) -> None:
    write(path, record())
    assert sf.read_tasks(path)["run"].to_list() == [label]


def test_compression_is_no_part_of_the_name(write: Write) -> None:
    write("asi.jsonl", record())
    import gzip

    write("awm.jsonl.gz", gzip.compress(Path("asi.jsonl").read_bytes()), end=b"")
    sf.write_tasks(sf.read_tasks("asi.jsonl").with_columns(run=None), "mpcr.parquet")
    assert sf.read_tasks(["awm.jsonl.gz", "mpcr.parquet"])["run"].to_list() == ["awm", "mpcr"]


@pytest.mark.parametrize(
    "path",
    ["per_task.jsonl", "./per_task.jsonl", "../asi/per_task.jsonl", "sub/../per_task.jsonl", "."],
)
def test_a_folder_has_its_name_however_it_is_reached(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    write("asi/per_task.jsonl", record())
    (folder / "asi/sub").mkdir()
    monkeypatch.chdir(folder / "asi")
    assert sf.read_tasks(path)["run"].to_list() == ["asi"]


def test_the_parent_folder_has_its_name_too(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("asi/per_task.jsonl", record())
    (folder / "asi/sub").mkdir()
    monkeypatch.chdir(folder / "asi/sub")
    assert sf.read_tasks("../per_task.jsonl")["run"].to_list() == ["asi"]
    assert sf.read_tasks("..")["run"].to_list() == ["asi"]


@pytest.mark.parametrize(
    "expected",
    [
        {"a/x.jsonl": "a/x", "b/x.jsonl": "b/x"},
        {"a/x.jsonl": "a/x", "b/x.jsonl": "b/x", "c/y.jsonl": "y"},
        {"a/x.jsonl": "a/x", "b/x.jsonl": "b/x", "c/x.jsonl": "c/x"},
        {"a/r/x.jsonl": "a/r/x", "b/r/x.jsonl": "b/r/x", "b/s/x.jsonl": "s/x"},
        {"a/r/per_task.jsonl": "a/r", "b/r/per_task.jsonl": "b/r", "c/s/per_task.jsonl": "s"},
        {"a/per_task.jsonl": "r/a" , "r/a/per_task.jsonl": "r/a"},
        {"x.jsonl": None, "a/x.jsonl": "a/x"},
        {"a/x.jsonl": "a/x", "x/per_task.jsonl": None},
    ],
)  # fmt: skip
def test_equal_names_are_lengthened_by_folders_until_they_differ(
    write: Write, folder: Path, expected: dict[str, str | None]
) -> None:
    for path in expected:
        write(path, record(path))
    outer = folder.name
    # What lies in the test's own folder is lengthened by its name.
    known = {path: label or f"{outer}/x" for path, label in expected.items()}
    if "r/a/per_task.jsonl" in known:
        known["a/per_task.jsonl"] = f"{outer}/a"
    for order in permutations(expected):
        assert _labels(*order) == known


def test_a_file_beside_its_compressed_self_is_told_apart_by_its_path(write: Write) -> None:
    import gzip

    write("asi.jsonl", record("plain"))
    write("asi.ndjson", record("other"))
    write(
        "asi.jsonl.gz",
        gzip.compress(Path("asi.jsonl").read_bytes().replace(b"plain", b"packed")),
        end=b"",
    )
    expected = {"plain": "asi.jsonl", "packed": "asi.jsonl.gz", "other": "asi.ndjson"}
    for order in permutations(["asi.jsonl", "asi.jsonl.gz", "asi.ndjson"]):
        assert _labels(*order) == expected


# Labels that are given


def test_a_label_names_the_run_of_its_file(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    tasks = sf.read_tasks(["a.jsonl", "b.jsonl"], labels={"ASI": Path("a.jsonl")})
    assert tasks["run"].to_list() == ["ASI", "b"]


def test_a_label_adds_its_file(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b/per_task.jsonl", record("b"))
    assert sf.read_tasks([], labels={"B": "b", "A": "a.jsonl"})["run"].to_list() == ["B", "A"]
    assert sf.read_tasks("a.jsonl", labels={"B": "b"})["run"].to_list() == ["a", "B"]


def test_a_label_for_a_file_of_a_glob_names_it_without_a_warning(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    assert sf.read_tasks("*.jsonl", labels={"A": "a.jsonl"})["run"].to_list() == ["A", "b"]


def test_a_label_stays_with_its_file_under_another_name(write: Write, folder: Path) -> None:
    write("z.jsonl", record("z"))
    (folder / "a.jsonl").symlink_to("z.jsonl")
    with pytest.warns(sf.SkillshiftWarning, match=r"z\.jsonl: named 2 times \(a\.jsonl\)"):
        tasks = sf.read_tasks("a.jsonl", labels={"Z": "z.jsonl"})
    assert tasks["run"].to_list() == ["Z"]


def test_other_files_make_way_for_a_label(write: Write) -> None:
    write("a/x.jsonl", record("a"))
    write("b/y.jsonl", record("b"))
    assert sf.read_tasks("a/x.jsonl", labels={"x": "b/y.jsonl"})["run"].to_list() == ["a/x", "x"]


def test_a_label_for_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import json
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(record()).encode())))
    assert sf.read_tasks([], labels={"asi": "-"})["run"].to_list() == ["asi"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"A": "a.jsonl", "B": "a.jsonl"}, "a file has two labels; give it one"),
        ({"A": "a.jsonl", "B": "./a.jsonl"}, "./a.jsonl: has the labels A, B; give it one"),
        (
            {"A": "*.jsonl"},
            "*.jsonl: names 2 files; a label is for one (--pool reads several as one run)",
        ),
        ({"": "a.jsonl"}, "an empty label for a.jsonl"),
        ({" ": "a.jsonl"}, "an empty label for a.jsonl"),
        ({"A": "c.jsonl"}, "c.jsonl: no such file or folder"),
    ],
)
def test_a_label_that_cannot_be_meant_is_an_error(
    write: Write, labels: dict[str, str], said: str
) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    for read in (sf.read_tasks, sf.check_tasks, sf.scan_tasks):
        with pytest.raises(sf.InputError) as caught:
            read("a.jsonl", labels=labels)
        assert str(caught.value) == said


def test_labels_that_take_every_name_of_a_file_are_an_error(write: Write, folder: Path) -> None:
    """Lengthening ends: a file whose every name is taken is not lengthened for ever."""
    write("a.jsonl", record("a"))
    parts = (folder / "a").parts[1:]
    taken = ["/".join(parts[-depth:]) for depth in range(1, len(parts) + 1)]
    labels = {}
    for index, name in enumerate([*taken, "a.jsonl"]):
        write(f"x/{index}.jsonl", record(f"x{index}"))
        labels[name] = f"x/{index}.jsonl"
    with pytest.raises(
        sf.InputError, match=r"^a\.jsonl: every label made from it is another file's"
    ):
        sf.read_tasks("a.jsonl", labels=labels)


# One run of many files


@pytest.mark.parametrize(
    ("paths", "label"),
    [
        (["asi-1.jsonl", "asi-2.jsonl"], "asi"),
        (["asi_shard_01.jsonl", "asi_shard_02.jsonl"], "asi"),
        (["asi.part10.jsonl", "asi.part11.jsonl"], "asi"),
        (["asi1.jsonl", "asi.jsonl"], "asi"),
        (["x/asi.jsonl", "y/asi.jsonl"], "asi"),
        (["asi/1.jsonl", "asi/2.jsonl"], "asi"),
        (["1/a.jsonl", "2/b.jsonl"], "pooled"),
    ],
)
def test_pooled_files_are_called_by_what_their_names_share(
    write: Write, paths: list[str], label: str
) -> None:
    for path in paths:
        write(path, record(path))
    for order in (paths, paths[::-1]):
        tasks = sf.read_tasks(order, pool=True)
        assert tasks["run"].unique().to_list() == [label]
        assert tasks.height == 2


def test_a_pooled_run_can_be_named(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    assert sf.read_tasks(["a.jsonl", "b.jsonl"], pool="asi")["run"].to_list() == ["asi", "asi"]
    assert sf.read_tasks("b.jsonl", pool=True, labels={"awm": "a.jsonl"})["run"].to_list() == [
        "awm",
        "awm",
    ]


def test_a_pooled_run_has_one_label(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    with pytest.raises(sf.InputError, match="they have the labels A, B"):
        sf.read_tasks([], pool=True, labels={"B": "b.jsonl", "A": "a.jsonl"})
    with pytest.raises(sf.InputError, match="an empty label for the pooled run"):
        sf.read_tasks("a.jsonl", pool=" ")
    with pytest.raises(sf.InputError, match="an empty label for the pooled run"):
        sf.read_tasks("a.jsonl", pool="")


@pytest.mark.parametrize("pool", [False, True, "pooled"])
def test_a_record_that_names_its_run_is_of_that_run(write: Write, pool: bool | str) -> None:  # noqa: FBT001
    write("a.jsonl", record("a"), record("b", run="own"), record("c", run=None))
    runs = sf.read_tasks("a.jsonl", pool=pool)["run"].to_list()
    assert runs == ["pooled" if pool == "pooled" else "a", "own", runs[0]]


def test_nothing_but_the_order_of_rows_depends_on_the_order_of_files(write: Write) -> None:
    paths = ["b/x.jsonl", "a/x.jsonl", "y.jsonl"]
    for index, path in enumerate(paths):
        write(path, record(path, steps=index, **{f"key{index}": index}), record("shared"))
    frames = [sf.read_tasks(order, extra="keep") for order in permutations(paths)]
    first = frames[0].sort("run", "uid")
    assert all(frame.sort("run", "uid").equals(first) for frame in frames)
    assert all(frame.columns == first.columns for frame in frames)
