"""Headroom of probes: the four classes in their order, what a card must be, and the command's exit codes."""

from __future__ import annotations

import csv
import json
import os
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from skillshift_frames.cli.headroom import add_commands
from skillshift_frames.errors import InputError
from skillshift_frames.headroom import CLASSES, HEADROOM, headroom

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Write = Callable[..., Path]

#: Present and usable trials of an arm.
Counts = tuple[int, int]


def arm(counts: Counts) -> dict[str, Any]:
    present, usable = counts
    return {
        "present": present,
        "usable": usable,
        "rate": round(present / usable, 4) if usable else None,
    }


def card(
    control: Counts,
    treatment: Counts,
    effort: str | None = "low",
    **changes: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Give a card as version 3 writes it; what headroom does not need is there, too."""
    return {
        "schema": "agentops-skill-probe.v3",
        "probe": "closeout",
        "skill": "validator",
        "mode": "live",
        "generated_at": "2026-08-01T12:00:00Z",
        "reps": max(control[1], treatment[1]),
        "producer": {"adapter": "codex", "model": "example-1", "effort": effort, "threads": []},
        "seal": None,
        "control": arm(control),
        "treatment": arm(treatment),
        "verdict": "INERT",
        "honesty": "made up",
        "per_rep": [],
        **changes,
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_cards(*cards: dict[str, Any]) -> Path:
        for number, content in enumerate(cards):
            (tmp_path / f"card-{number}.json").write_text(json.dumps(content))
        return tmp_path

    return write_cards


def classes(folder: Path) -> dict[str, str]:
    return dict(headroom(folder).select("probe", "headroom").iter_rows())


ACED, SILENT, ACTS = (4, 4), (0, 4), (3, 4)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        # Nothing usable with the skill: no statement, also where the control looks saturated.
        ([card(ACED, (0, 0), "low"), card(ACED, (0, 0), "high")], "UNMEASURED"),
        ([card((0, 0), (0, 0))], "UNMEASURED"),
        # The control passes at two levels: no room, also where the treatment never acts.
        ([card(ACED, ACTS, "low"), card(ACED, ACTS, "high")], "SATURATED"),
        ([card(ACED, SILENT, "low"), card(ACED, SILENT, "high")], "SATURATED"),
        ([card((3, 4), ACTS, "low"), card((2, 2), ACTS, "high")], "SATURATED"),
        (
            [card(ACED, ACTS, "low"), card(ACED, (0, 0), "high"), card(SILENT, ACTS, "max")],
            "SATURATED",
        ),
        # One level is not two, nor is a level named twice, nor two cards that name none.
        ([card(ACED, ACTS, "low")], "SEPARATED"),
        ([card(ACED, ACTS, "low"), card(ACED, ACTS, "low")], "SEPARATED"),
        ([card(ACED, ACTS, None), card(ACED, ACTS, " ")], "SEPARATED"),
        # One trial is no level, and 0.74 is below 0.75.
        ([card(ACED, ACTS, "low"), card((1, 1), ACTS, "high")], "SEPARATED"),
        ([card(ACED, ACTS, "low"), card((37, 50), ACTS, "high")], "SEPARATED"),
        # Never with the skill.
        ([card(SILENT, SILENT)], "FLOOR"),
        ([card(ACED, SILENT)], "FLOOR"),
        ([card(SILENT, SILENT, "low"), card(SILENT, (0, 0), "high")], "FLOOR"),
        ([card(SILENT, SILENT, "low"), card(SILENT, (1, 4), "high")], "SEPARATED"),
        ([card(SILENT, ACTS)], "SEPARATED"),
        ([card(SILENT, (1, 4), "low"), card((0, 0), (0, 0), "high")], "SEPARATED"),
    ],
)
def test_first_class_that_holds(write: Write, cards: list[dict[str, Any]], expected: str) -> None:
    assert classes(write(*cards)) == {"closeout": expected}


def test_row_holds_what_the_class_rests_on(write: Write) -> None:
    folder = write(
        card((3, 4), (2, 3), "xhigh"),
        card((1, 2), (0, 0), "low"),
        card((0, 0), (0, 0), probe="another", skill="planner"),
    )
    found = headroom(folder)
    assert found.schema == HEADROOM
    assert found.rows() == [
        ("another", "planner", "UNMEASURED", ["low"], [], 0, 0, None, 0, 0, None, 1),
        (
            "closeout",
            "validator",
            "SEPARATED",
            ["low", "xhigh"],
            ["xhigh"],
            4,
            6,
            4 / 6,
            2,
            3,
            2 / 3,
            2,
        ),
    ]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_is_read(write: Write, version: int) -> None:
    old = card(SILENT, ACTS, schema=f"agentops-skill-probe.v{version}")
    if version == 1:
        old = {key: old[key] for key in ("schema", "probe", "skill", "control", "treatment")}
    found = headroom(write(old)).row(0, named=True)
    assert found["headroom"] == "SEPARATED"
    assert found["efforts"] == (["?"] if version == 1 else ["low"])


def test_files_folders_and_globs_and_each_file_once(write: Write) -> None:
    folder = write(card(SILENT, ACTS, "low"), card(SILENT, SILENT, "high"))
    (folder / "deeper").mkdir()
    (folder / "deeper" / "card.json").write_text(json.dumps(card(SILENT, ACTS, "max")))
    (folder / "notes.txt").write_text("no card")
    (folder / "link.json").symlink_to(folder / "card-0.json")
    assert headroom(folder).item(0, "cards") == 3
    assert headroom(folder / "card-0.json").item(0, "cards") == 1
    assert headroom([folder / "card-0.json", f"{folder}/card-*.json", folder]).item(0, "cards") == 3


def test_order_of_the_cards_does_not_matter(write: Write) -> None:
    folder = write(card(ACED, ACTS, "low"), card(SILENT, ACTS, "high"), card(ACED, ACTS, "max"))
    paths = sorted(folder.glob("*.json"))
    assert headroom(paths).equals(headroom(paths[::-1]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "agentops-skill-probe.v9"}, r"card-0.json: schema: Invalid enum value"),
        ({"probe": ""}, "probe: Expected `str` of length >= 1"),
        ({"skill": 7}, "skill: Expected `str`, got `int`"),
        ({"control": {"present": 1, "usable": 2}}, "control: Object missing required field `rate`"),
        (
            {"control": {"present": -1, "usable": 2, "rate": 0.0}},
            "control.present: Expected `int` >= 0",
        ),
        (
            {"control": {"present": 1.5, "usable": 2, "rate": 0.0}},
            "control.present: Expected `int`",
        ),
        ({"control": {"present": 3, "usable": 2, "rate": 1.5}}, "control.present: 3 of 2 usable"),
        (
            {"treatment": {"present": 0, "usable": 0, "rate": 0.0}},
            "treatment.rate: is 0.0 where no",
        ),
        ({"treatment": {"present": 1, "usable": 2, "rate": None}}, "treatment.rate: is null, not"),
        (
            {"treatment": {"present": 1, "usable": 2, "rate": 0.6}},
            "treatment.rate: is 0.6, not that of 1 in 2",
        ),
        ({"producer": {"effort": 3}}, "producer.effort: Expected `str"),
    ],
)
def test_card_that_cannot_be_is_refused_with_file_and_field(
    write: Write, changes: dict[str, Any], message: str
) -> None:
    folder = write(card(SILENT, ACTS) | changes)
    with pytest.raises(InputError, match=message) as caught:
        headroom(folder)
    assert str(folder / "card-0.json") in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '"card"', "\ufeff{}", "[" * 10_000])
def test_file_that_is_no_card_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=r"x.json: .*scorecard"):
        headroom(tmp_path)


def test_rate_with_four_decimals_is_that_of_its_counts(write: Write) -> None:
    assert classes(write(card((1, 3), (2, 3)))) == {"closeout": "SEPARATED"}


def test_one_probe_of_two_skills_is_refused(write: Write) -> None:
    folder = write(card(SILENT, ACTS), card(SILENT, ACTS, skill="planner"))
    with pytest.raises(InputError, match=r"card-1.json: skill: probe 'closeout' is of 'planner'"):
        headroom(folder)


@pytest.mark.parametrize("name", ["missing.json", "*.nothing", "empty"])
def test_path_that_names_nothing_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no scorecard there"):
        headroom(tmp_path / name)


def test_folder_of_cards_may_be_a_link_and_go_in_circles(write: Write, tmp_path: Path) -> None:
    folder = write(*OF_CLASS["SATURATED"])
    (tmp_path / "all").mkdir()
    for name in ("a", "b"):
        (tmp_path / "all" / name).symlink_to(folder)
    (tmp_path / "all" / "self").symlink_to(".")
    (tmp_path / "all" / "folder.json").mkdir()
    found = headroom(tmp_path / "all")
    assert found.select("probe", "headroom", "cards").rows() == [("sat", "SATURATED", 2)]


def test_folder_that_cannot_be_read_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(*OF_CLASS["FLOOR"])
    (folder / "locked").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        # Nothing is locked for root, who runs tests in a container.
        if os.fspath(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match="locked: is a folder that cannot be read: Permission"):
        headroom(folder)


# The command


def invoke(*arguments: object) -> Result:
    app = typer.Typer(callback=lambda: None)
    add_commands(app)
    return CliRunner().invoke(app, ["headroom", *map(str, arguments)])


OF_CLASS = {
    "UNMEASURED": [card((0, 2), (0, 0), probe="u")],
    "SATURATED": [card(ACED, ACTS, level, probe="sat") for level in ("low", "high")],
    "FLOOR": [card(SILENT, SILENT, probe="f")],
    "SEPARATED": [card(SILENT, ACTS, probe="sep")],
}


@pytest.mark.parametrize(
    ("present", "code"),
    [
        (["SEPARATED"], 0),
        (["SATURATED"], 3),
        (["FLOOR"], 4),
        (["UNMEASURED"], 5),
        (["SEPARATED", "FLOOR"], 4),
        (["FLOOR", "SATURATED", "SEPARATED"], 3),
        (["SEPARATED", "SATURATED", "FLOOR", "UNMEASURED"], 5),
    ],
)
def test_exit_code_is_that_of_the_worst_probe(write: Write, present: list[str], code: int) -> None:
    folder = write(*(c for name in present for c in OF_CLASS[name]))
    result = invoke(folder)
    assert result.exit_code == code
    assert len(result.output.splitlines()) == len(present)


def test_worst_first_is_the_order_of_the_classes_and_of_the_help() -> None:
    assert tuple(OF_CLASS) == CLASSES
    shown = " ".join(invoke("--help").output.split())
    assert f"in the order {', '.join(CLASSES)}." in shown
    assert "0 for SEPARATED, 3 for SATURATED, 4 for FLOOR, 5 for UNMEASURED" in shown


def test_text_is_one_line_per_probe(write: Write) -> None:
    result = invoke(write(*OF_CLASS["SATURATED"], *OF_CLASS["UNMEASURED"]))
    assert result.output.splitlines() == [
        "sat (validator): SATURATED; control 8/8, treatment 6/8; effort high, low; 2 cards",
        "u (validator): UNMEASURED; control 0/2, treatment 0/0; effort low; 1 card",
    ]


def test_json_has_null_where_nothing_was_usable(write: Write) -> None:
    content = json.loads(invoke(write(*OF_CLASS["UNMEASURED"]), "--format", "json").output)
    assert content["schema_version"] == 1
    assert content["probes"][0] == {
        **dict(zip(HEADROOM, ("u", "validator", "UNMEASURED", ["low"], []), strict=False)),
        "control_present": 0,
        "control_usable": 2,
        "control_rate": 0.0,
        "treatment_present": 0,
        "treatment_usable": 0,
        "treatment_rate": None,
        "cards": 1,
    }


def test_csv_has_one_row_per_probe_and_nothing_for_null(write: Write) -> None:
    folder = write(*OF_CLASS["UNMEASURED"], *OF_CLASS["SATURATED"])
    rows = list(csv.DictReader(invoke(folder, "--format", "csv").output.splitlines()))
    assert list(rows[0]) == list(HEADROOM)
    assert [row["probe"] for row in rows] == ["sat", "u"]
    assert (rows[0]["efforts"], rows[0]["control_rate"]) == ("high;low", "1.0")
    assert rows[1]["treatment_rate"] == ""


@pytest.mark.parametrize("name", ["markdown", "latex", "html"])
def test_tables_show_class_rates_and_counts(write: Write, name: str) -> None:
    shown = invoke(write(*OF_CLASS["SATURATED"], *OF_CLASS["UNMEASURED"]), "--format", name).output
    for expected in ("SATURATED", "UNMEASURED", "0.75", "6/8", "0/0"):
        assert expected in shown
    assert not any(word in shown for word in ("None", "nan", "null"))


def test_output_file_takes_its_format_from_the_suffix(write: Write, tmp_path: Path) -> None:
    folder = write(*OF_CLASS["SEPARATED"])
    file = tmp_path / "out" / "headroom.csv"
    file.parent.mkdir()
    result = invoke(folder / "card-0.json", "-o", file)
    assert (result.exit_code, result.output) == (0, "")
    assert pl.read_csv(file).item(0, "headroom") == "SEPARATED"
    again = invoke(folder / "card-0.json", "-o", file)
    assert isinstance(again.exception, FileExistsError)


def test_no_card_is_an_input_error() -> None:
    assert isinstance(invoke("--format", "json").exception, InputError)
