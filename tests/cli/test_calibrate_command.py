"""``calibrate``: exit codes, formats, the file that ``--make`` writes, and every way in which two runs cannot be compared."""

from __future__ import annotations

import csv
import json
import random
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import skillshift_frames as sf
from skillshift_frames.calibrate import CALIBRATION
from tests.cli.conftest import DEMO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop

READABLE = ("text", "markdown", "latex", "html")
FORMATS = (*READABLE, "csv", "json")


class Make(Protocol):
    """Writes an anchor of a demo run."""

    def __call__(self, run: str = "induced", *options: object) -> Path: ...


@pytest.fixture
def runs(demo: list[Path]) -> dict[str, Path]:
    return {path.stem: path for path in demo}


@pytest.fixture
def make(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> Make:
    def write(run: str = "induced", *options: object) -> Path:
        path = tmp_path / "anchor.json"
        result = cli("calibrate", "--make", runs[run], "-o", path, "--force", *options)
        assert (result.code, result.out) == (0, "")
        return path

    return write


# The answer


def test_run_is_within_its_own_anchor_and_exits_0(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    anchor = make()
    result = cli("calibrate", runs["induced"], "--anchor", anchor)
    assert (result.code, result.err) == (0, "")
    title = f"induced against {anchor}: within 3 sigma in all 36 gated numbers"
    assert result.out.splitlines()[0] == title


def test_run_that_deviates_exits_1_and_says_where(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    anchor = make()
    result = cli("calibrate", runs["reference"], "--anchor", anchor)
    lines = result.out.splitlines()
    assert (result.code, result.err) == (1, "")
    assert lines[0] == f"reference against {anchor}: deviates in 1 of 36 gated numbers"
    assert "Deviates: AS magento × src" in lines
    row = next(line for line in lines if " 3.16 " in line)
    assert row.split() == ["Src", "AS", "114", "7.03", "5.90", "0.36", "3.16", "deviates", "yes"]
    within = cli("calibrate", runs["reference"], "--anchor", anchor, "--threshold", "3.2")
    assert within.code == 0
    assert "within 3.2 sigma in all 36 gated numbers" in within.out


def test_calls_that_deviate_do_not_change_the_exit_code(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    # The reference run never calls a skill, so that no number of calls but 0 can be judged by it.
    result = cli("calibrate", runs["induced"], "--anchor", make("reference"), "--threshold", "9")
    assert result.code == 0
    differs = "not judged, and not gated: no spread in the reference, and the run differs: ASC"
    assert differs in result.out
    # The other way round, beyond 3.2 sigmas there are calls only.
    arguments = ("calibrate", runs["reference"], "--anchor", make(), "--threshold", "3.2")
    content = json.loads(cli(*arguments, "-f", "json").out)
    assert {row["metric"] for row in content["rows"] if row["deviates"]} == {"ASC"}
    assert content["deviates"] is False
    assert cli(*arguments).code == 0


@pytest.mark.parametrize("chosen", FORMATS)
def test_every_format_gives_the_same_answer_and_code(
    cli: Cli, runs: dict[str, Path], make: Make, tmp_path: Path, chosen: str
) -> None:
    arguments = ("calibrate", runs["reference"], "--anchor", make())
    result = cli(*arguments, "--format", chosen)
    assert result.code == 1
    assert not any(word in result.out for word in ("NaN", "nan", "None", "inf,"))
    suffix = {"text": "txt", "markdown": "md", "latex": "tex"}.get(chosen, chosen)
    file = tmp_path / f"answer.{suffix}"
    written = cli(*arguments, "-o", file)
    assert (written.code, written.out) == (1, "")
    assert file.read_bytes().decode() == result.out
    refused = cli(*arguments, "-o", file)
    assert refused.code == 2
    assert "exists already; --force replaces it" in refused.err


@pytest.mark.parametrize("chosen", READABLE)
def test_tables_name_the_answer_the_rule_and_what_was_not_judged(
    cli: Cli, runs: dict[str, Path], make: Make, chosen: str
) -> None:
    shown = cli("calibrate", runs["reference"], "--anchor", make(), "--format", chosen).out
    for expected in (
        "deviates in 1 of 36 gated numbers",
        "3.16",
        "SR and AS gate, ASC and SFR are shown only",
        "a number deviates above 3",
        "undefined in the run: SFR gitlab",
        "Step budget: none was recorded",
        "Tasks with an error are in no mean",
    ):
        assert expected in shown


def test_exact_bound_is_shown_and_explained(cli: Cli, runs: dict[str, Path], make: Make) -> None:
    result = cli("calibrate", runs["induced"], "--anchor", make("induced", "--subset", "pinned"))
    assert result.code == 0
    # Of 14 tasks none passed: 1 − 0.00135^(1/14) = 0.376…
    assert result.out.count("– [0.0, 37.6]  within") == 2
    assert "[ ] exact bound on SR at the same tail probability" in result.out
    assert "Reference: induced, a subset of its tasks (14 of gitlab, 10 of magento, 6 of word" in (
        result.out
    )


def test_json_has_every_row_and_parses_strictly(
    cli: Cli, runs: dict[str, Path], make: Make, strict_json: Callable[[str], Any]
) -> None:
    anchor = make("induced", "--step-budget", 30)
    result = cli("calibrate", runs["reference"], "--anchor", anchor, "--format", "json")
    content = strict_json(result.out)
    rows = content.pop("rows")
    notes = content.pop("notes")
    assert content == {
        "schema_version": 1,
        "run": "reference",
        "anchor": str(anchor),
        "reference": "induced",
        "benchmark": "skillshift",
        "errors": "exclude",
        "step_budget": 30,
        "subset": None,
        "threshold": 3.0,
        "deviates": True,
        "deviating": 1,
        "judged": 36,
        "not_judged": 0,
    }
    assert notes == ["Step budget: taken for the same, 30; no task took more steps"]
    assert [list(row) for row in rows] == [list(CALIBRATION)] * 72
    tasks = sf.read_tasks(runs["reference"])
    assert rows == sf.calibrate(tasks, anchor).to_dicts()
    last = rows[-1]
    assert (last["metric"], last["value"], last["deviates"]) == ("SFR", None, None)


def test_csv_has_nothing_for_null_and_says_its_notes_on_stderr(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    result = cli("calibrate", runs["reference"], "--anchor", make(), "-f", "csv")
    rows = list(csv.DictReader(result.out.splitlines()))
    assert list(rows[0]) == list(CALIBRATION)
    assert len(rows) == 72
    sfr = rows[3]
    assert (sfr["metric"], sfr["value"], sfr["gates"]) == ("SFR", "8.0", "false")
    empty = ("observed", "sigma", "deviation", "low", "high", "deviates")
    assert [sfr[name] for name in empty] == [""] * 6
    assert "note: Deviates: AS magento × src\n" in result.err
    assert "note: Step budget: none was recorded; it is taken for the same\n" in result.err


def test_number_that_gates_and_is_not_judged_is_counted_in_the_title(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    anchor = make()
    content = json.loads(anchor.read_text())
    content["cells"][0]["metrics"]["AS"] = {"value": None, "sigma": None}
    anchor.write_text(json.dumps(content))
    result = cli("calibrate", runs["induced"], "--anchor", anchor)
    assert result.code == 0
    assert "within 3 sigma in all 35 gated numbers; 1 not judged" in result.out
    assert "– not judged: undefined in the reference: AS gitlab × src\n" in result.out


# The anchor


def test_anchor_on_stdout_and_in_a_file_is_what_the_library_makes(
    cli: Cli, runs: dict[str, Path], tmp_path: Path, strict_json: Callable[[str], Any]
) -> None:
    arguments = ("calibrate", "--make", runs["workflow"], "--step-budget", 30, "--errors", "zero")
    shown = cli(*arguments)
    assert (shown.code, shown.err) == (0, "")
    expected = sf.anchor(sf.read_tasks(runs["workflow"]), step_budget=30, errors="zero")
    assert strict_json(shown.out) == expected
    file = tmp_path / "anchor"
    written = cli(*arguments, "-o", file, "--format", "json")
    assert file.read_bytes().decode() == shown.out
    assert (written.code, written.out) == (0, "")
    assert written.err == f"{file}: 18 cells of workflow, 2,128 tasks\n"
    assert cli(*arguments, "-o", file).code == 2  # it exists


def test_order_and_name_of_the_file_do_not_show(
    cli: Cli, runs: dict[str, Path], tmp_path: Path
) -> None:
    lines = runs["induced"].read_bytes().splitlines(keepends=True)
    random.Random(7).shuffle(lines)  # noqa: S311 - an order, not a secret
    parts = {"all": lines, "first": lines[:900], "second": lines[900:]}
    for name, part in parts.items():
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(part))
    whole = cli("calibrate", "--make", runs["induced"], "--subset", "pinned")
    label = ("--label", f"induced={tmp_path / 'all.jsonl'}")
    assert cli("calibrate", "--make", *label, "--subset", "pinned") == whole
    shards = [tmp_path / f"{name}.jsonl" for name in ("second", "first")]
    pooled = json.loads(cli("calibrate", "--make", "--pool", *shards, "--subset", "pinned").out)
    assert pooled | {"run": "induced"} == json.loads(whole.out)


def test_subset_is_recorded_and_restricts_the_run(
    cli: Cli, runs: dict[str, Path], make: Make, tmp_path: Path
) -> None:
    anchor = make("induced", "--subset", "magento=10,gitlab=14")
    subset = json.loads(anchor.read_text())["subset"]
    assert {site: len(families) for site, families in subset.items()} == {
        "gitlab": 14,
        "magento": 10,
    }
    kept = {family.replace(".", "-") for families in subset.values() for family in families}
    lines = [
        line
        for line in runs["induced"].read_text().splitlines(keepends=True)
        for _, site, _, index in [json.loads(line)["uid"].split(".")]
        if f"{site}-{index}" in kept
    ]
    assert len(lines) == 24 * 6
    small = tmp_path / "induced.jsonl"
    small.write_text("".join(lines))
    whole = cli("calibrate", runs["induced"], "--anchor", anchor)
    assert cli("calibrate", small, "--anchor", anchor) == whole
    assert "within 3 sigma in all 24 gated numbers" in whole.out
    small.write_text("".join(lines[1:]))
    lacking = cli("calibrate", small, "--anchor", anchor)
    assert lacking.code == 2
    assert (
        f"cells are not complete: gitlab × src 13 of 14 scored tasks (without {subset['gitlab'][0]})"
        in lacking.err
    )


def test_anchor_of_a_benchmark_of_ones_own(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    anchor = tmp_path / "anchor.json"
    benchmark = ("--benchmark", shop.benchmark)
    assert cli("calibrate", "--make", shop.run, *benchmark, "-o", anchor).code == 0
    assert cli("calibrate", shop.run, *benchmark, "--anchor", anchor).code == 0
    other = cli("calibrate", shop.run, "--benchmark", "infer", "--anchor", anchor)
    assert other.code == 2
    assert "benchmark: is 'shop', and the run is read under 'inferred'" in other.err


def test_policy_for_errors_is_the_anchors_unless_another_is_given(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    anchor = make("workflow", "--errors", "zero")
    own = cli("calibrate", runs["workflow"], "--anchor", anchor)
    assert own.code == 0
    assert "Tasks with an error count as failures (--errors zero)\n" in own.out
    assert cli("calibrate", runs["workflow"], "--anchor", anchor, "--errors", "zero") == own
    other = cli("calibrate", runs["workflow"], "--anchor", anchor, "--errors", "exclude")
    assert other.code == 2
    assert "errors: is 'zero', and the run was to be read with 'exclude'; give --errors zero" in (
        other.err
    )


# What cannot be compared


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        ("induced", [], "calibrate needs --anchor FILE to compare with, or --make to write one"),
        ("induced", ["--anchor", "nowhere.json"], "nowhere.json: cannot be read: No such file"),
        ("induced", ["--anchor", "ANCHOR", "--step-budget", "50"], "is 30, and the run's is 50"),
        ("induced", ["--anchor", "ANCHOR", "--threshold", "0"], "threshold is 0; a positive"),
        ("induced", ["--anchor", "ANCHOR", "--threshold", "nan"], "threshold is nan; a positive"),
        ("induced", ["--anchor", "ANCHOR", "--subset", "pinned"], "--subset goes with --make"),
        ("induced", ["--anchor", "ANCHOR", "--benchmark", "infer"], "benchmark: is 'skillshift'"),
        ("workflow", ["--anchor", "ANCHOR"], "gitlab × src-exec 160 of 162 scored tasks, magento"),
        ("nowhere", ["--anchor", "ANCHOR"], "nowhere.jsonl: no such file"),
        ("induced", ["--make", "--anchor", "ANCHOR"], "--anchor does not go with --make"),
        ("induced", ["--make", "--threshold", "3"], "--threshold does not go with --make"),
        ("induced", ["--make", "--format", "csv"], "--format does not go with --make, which wri"),
        ("induced", ["--make", "--subset", "gitlab"], "'gitlab' is no SITE=N"),
        ("induced", ["--make", "--subset", ""], "'' is no SITE=N"),
        ("induced", ["--make", "--subset", f"gitlab={'9' * 5000}"], "is no SITE=N"),
        ("induced", ["--make", "--subset", "gitlab=1,gitlab=2"], "gitlab is there twice"),
        ("induced", ["--make", "--subset", "gitlab=163"], "gitlab is 163; an integer from 1 to"),
        ("induced", ["--make", "--subset", "gitlap=1"], "did you mean gitlab?"),
        ("induced", ["--make", "--step-budget", "5"], "more than a step budget of 5 allows"),
        ("induced", ["--make", "--step-budget", "0"], "step_budget is 0; a positive integer"),
        ("induced", ["--make", "--step-budget", "9" * 40], "a positive integer is needed"),
        ("workflow", ["--make", "--subset", "wordpress=79"], "wordpress × tgt-perc 77 of 79"),
        ("*", ["--make"], "these records are of 3 (induced, reference, workflow); --pool"),
        ("*", ["--anchor", "ANCHOR"], "these records are of 3 (induced, reference, workflow)"),
    ],
)
def test_what_cannot_be_compared_exits_2_and_is_named(
    cli: Cli, make: Make, run: str, options: list[str], message: str
) -> None:
    anchor = str(make("induced", "--step-budget", 30))
    given = [anchor if option == "ANCHOR" else option for option in options]
    result = cli("calibrate", DEMO / f"{run}.jsonl", *given)
    assert result.code == 2
    assert result.out == ""
    assert message in result.err
    assert "Traceback" not in result.err


def test_run_with_more_steps_than_the_anchor_allows_had_another_budget(
    cli: Cli, runs: dict[str, Path], make: Make, tmp_path: Path
) -> None:
    anchor = make("induced", "--step-budget", 30)
    records = list(map(json.loads, runs["induced"].read_text().splitlines()))
    records[5]["steps"] = 31
    longer = tmp_path / "longer.jsonl"
    longer.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    result = cli("calibrate", longer, "--anchor", anchor)
    assert result.code == 2
    assert result.err == (
        f"error: the run had another step budget: {records[5]['uid']} in gitlab × src took 31 steps, "
        f"more than the budget in {anchor}, 30 allows\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schema_version": "1.0"}',
        '{"schema_version": "9.0"}',
        "\x1b[31m",
        '{"run": NaN}',
        "[" * 50_000,
    ],
    ids=range(8),
)
def test_broken_anchor_exits_2_without_a_traceback(
    cli: Cli, runs: dict[str, Path], tmp_path: Path, text: str
) -> None:
    anchor = tmp_path / "anchor.json"
    anchor.write_text(text)
    result = cli("calibrate", runs["induced"], "--anchor", anchor)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {anchor}: ")
    assert result.err.count("\n") == 1


def test_names_in_an_anchor_are_shown_and_never_obeyed(
    cli: Cli, runs: dict[str, Path], make: Make
) -> None:
    anchor = make()
    content = json.loads(anchor.read_text())
    content["run"] = "\x1b[31mred<b>"
    anchor.write_text(json.dumps(content))
    for chosen in FORMATS:
        result = cli("calibrate", runs["induced"], "--anchor", anchor, "--format", chosen)
        assert result.code == 0
        assert "\x1b" not in result.out + result.err
    assert "<b>" not in cli("calibrate", runs["induced"], "--anchor", anchor, "-f", "html").out
    content["cells"][0]["site"] = "\x1b[31m"
    anchor.write_text(json.dumps(content))
    result = cli("calibrate", runs["induced"], "--anchor", anchor)
    assert (result.code, "\x1b" in result.err) == (2, False)


def test_help_ends_with_an_example(cli: Cli) -> None:
    shown = cli("calibrate", "--help").out
    example = shown[shown.index("Example:\n") :].splitlines()[1:]
    assert example
    assert all(line.startswith("    skillshift-frames calibrate ") for line in example)


def test_anchor_is_a_json_file(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    result = cli("calibrate", "--make", runs["induced"], "-o", tmp_path / "anchor.csv")
    assert (result.code, result.out) == (2, "")
    assert "an anchor is a .json file" in result.err
