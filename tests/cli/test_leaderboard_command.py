"""``leaderboard``: entries or records, what ranks rest on, and what every format says of it."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf
from tests.cli.test_runs_and_labels import HOSTILE, Tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli, Shop, Spawn

PUBLISHED = Path(__file__).parents[2] / "data" / "published.csv"
READABLE = ("text", "markdown", "latex", "html")
QUICK = ("--resamples", "200")


def make_entry(
    method: str = "ASI",
    model: str = "gpt-5-mini",
    *,
    rate: float | None = 50.0,
    calls: int | None = 200,
    label: str = "reported-only",
    **metrics: Any,  # noqa: ANN401 - the blocks that differ
) -> dict[str, Any]:
    """Give an entry as the leaderboard has it, the same number in every slot of a metric."""

    def block(value: float | None) -> dict[str, Any]:
        return {
            "websites": dict.fromkeys(sf.SKILLSHIFT.sites, value),
            "conditions": dict.fromkeys(sf.SKILLSHIFT.conditions, value),
            "overall": value,
        }

    numbers = {"SR": rate, "AS": 5.0, "ASC": 0.5, "SFR": 20.0} | metrics
    return {
        "schema_version": "1.0",
        "submission": {
            "name": f"{method} with {model}",
            "date": "2026-09-01",
            "contact": None,
            "method": {"name": method, "description": "", "paper_url": None, "code_url": None},
            "model": {"id": model, "temperature": None, "vision": None},
            "provenance": {"label": label, "source": "a paper", "code_released": False},
            "repro_command": None,
        },
        "harness_version": "n/a",
        "metrics": {metric: block(value) for metric, value in numbers.items()},
        "n": {
            "websites": dict(sf.SKILLSHIFT.sites),
            "conditions": dict.fromkeys(sf.SKILLSHIFT.conditions, 355),
            "skill_calls": calls,
        },
        "reasons": {metric: "not measured" for metric, value in numbers.items() if value is None},
        "notes": "",
    }


@pytest.fixture
def write_entry(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, **said: Any) -> Path:  # noqa: ANN401
        path = tmp_path / "submissions" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(make_entry(**said)))
        return path

    return write


def words(line: str) -> list[str]:
    return line.split()


# Entries


def test_published_entries_are_ranked_within_their_models(cli: Cli) -> None:
    result = cli("leaderboard", "--published")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("gpt-5-mini"))
    assert words(lines[start]) == [
        *("gpt-5-mini", "1", "MPCR", "2026-08-27", "41.26", "6.93", "0.15", "31.00", "⚠"),
        *("36.68", "0.00"),
    ]
    assert [words(line)[1] for line in lines[start + 1 : start + 5]] == [
        *("WALT", "ASI", "AWM", "SkillWeaver"),
    ]
    assert words(lines[start + 3])[3:] == ["37.56", "6.20", "--", "--", "28.42", "3.70"]
    assert "Ranks are within a model: entries of different models are not ranked" in result.out
    assert "that is not stated, so that it may be small: all 13 entries that have one" in result.out
    assert "-- does not apply: ASC and SFR of AWM / claude-haiku-4.5, AWM /" in result.out
    assert "how sure a rank is can be told from records only" in result.out


def test_the_same_from_a_file_a_glob_and_the_package(cli: Cli, tmp_path: Path) -> None:
    table = cli("leaderboard", PUBLISHED, "-f", "csv").out
    shipped = cli("leaderboard", "--published", "-f", "csv").out
    assert table == shipped.replace("not-applicable", "")  # a table does not say why it has no rows
    folder = tmp_path / "entries"
    folder.mkdir()
    shutil.copy(PUBLISHED, folder / "table.csv")
    assert cli("leaderboard", folder / "*.csv", "-f", "csv").out == table


def test_a_table_of_success_rates_does_not_say_that_skills_do_not_apply(
    cli: Cli, tmp_path: Path
) -> None:
    table = tmp_path / "rates.csv"
    table.write_text("method,model,metric,overall\nmine,m,SR,50.00\n")
    for arguments in ([table], ["--published", table]):
        out = cli("leaderboard", *arguments).out
        row = next(line for line in out.splitlines() if " mine " in line)
        assert "--" not in row
        assert words(row).count("–") >= 3
    assert "does not apply" not in cli("leaderboard", table).out


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("Not applicable: AWM reuses textual workflows.", "--"),
        ("The metric does not apply here.", "--"),
        ("Calls were not logged by our harness.", "–"),
    ],
)
def test_a_null_prints_as_its_reason_says(
    cli: Cli, write_entry: Callable[..., Path], reason: str, shown: str
) -> None:
    path = write_entry("mine", ASC=None, SFR=None, calls=None)
    content = json.loads(path.read_text())
    content["reasons"] = {"ASC": reason, "SFR": reason}
    path.write_text(json.dumps(content))
    out = cli("leaderboard", path).out
    assert words(out.splitlines()[3])[7:9] == [shown, shown]
    assert ("does not apply: ASC and SFR of ASI / gpt-5-mini" in out) == (shown == "--")
    falls = cli("shift", path, "--metric", "ASC").out
    assert words(falls.splitlines()[3])[-4:] == [shown] * 4
    assert ("-- does not apply: ASC of ASI / gpt-5-mini\n" in falls) == (shown == "--")


def test_a_partial_entry_shows_its_denominator_and_has_no_rank(
    cli: Cli, write_entry: Callable[..., Path], strict_json: Callable[[str], Any]
) -> None:
    part = write_entry("part", method="Part", rate=100.0, AS=None)
    odd = write_entry("odd", method="Odd", rate=90.0)
    for path, counts in (
        (part, {"websites": {"gitlab": 20, "magento": 9, "wordpress": 2}}),
        (odd, {"websites": sf.SKILLSHIFT.sites}),
    ):
        content = json.loads(path.read_text())
        content["n"]["conditions"] = dict.fromkeys(sf.SKILLSHIFT.conditions, 101)
        content["n"] |= {name: dict(block) for name, block in counts.items()}
        path.write_text(json.dumps(content))
    out = cli("leaderboard", part, odd, write_entry("full", method="Full")).out
    lines = out.splitlines()
    assert words(lines[3])[:3] == ["gpt-5-mini", "1", "Full"]
    assert words(lines[4])[:6] == [
        *("–", "Part", "2026-09-01", "reported-only", "100.00", "606/2130"),
    ]
    assert words(lines[4])[6:8] == ["–", "0.50"]  # nothing was measured, so there is no denominator
    assert words(lines[5])[:2] == ["–", "Odd"]
    assert (
        "n/N tasks of the entry, as stated, of those that the benchmark has; not comparable with a complete run, "
        "and so without a rank: Part / gpt-5-mini (606 of 2,130 tasks), "
        "Odd / gpt-5-mini (n.websites and n.conditions contradict each other)\n"
    ) in out
    assert "Without SR overall" not in out
    (row,) = strict_json(cli("leaderboard", part, "-f", "json").out)["rows"]
    assert (row["tasks"], row["tasks_expected"], row["marks"]) == (606, 2130, ["partial"])
    falls = cli("shift", part).out
    assert "100.00 606/2130" in falls.splitlines()[3]
    assert "not comparable with a complete run: Part / gpt-5-mini (606 of 2,130 tasks)\n" in falls


def test_a_receipt_is_found_beside_a_file_of_any_name(
    cli: Cli, write_entry: Callable[..., Path], strict_json: Callable[[str], Any]
) -> None:
    path = write_entry("a\tb", label="self-reported")
    metrics = json.loads(path.read_text())["metrics"]
    receipt = {"harness_version": "n/a", "n_per_cell": {}, "per_task_commitment": "0" * 64}
    content = json.dumps(receipt | {"aggregate": metrics})
    path.with_suffix(".receipt.json").write_text(content)
    (row,) = strict_json(cli("leaderboard", path, "-f", "json").out)["rows"]
    assert row["receipt"] == "matches"


def test_runs_that_look_like_shards_are_hinted_at(
    cli: Cli, shop: Shop, write_run: Callable[..., Path]
) -> None:
    options = ("--benchmark", shop.benchmark, *QUICK)
    parts = [
        write_run(name, [row for row in shop.records if row["condition"] == name])
        for name in ("plain", "shifted")
    ]
    hint = (
        "hint: plain, shifted have no cell in common and look like shards of one run; "
        "--pool reads them as one\n"
    )
    for command in ("leaderboard", "shift"):
        assert cli(command, *parts, *options).err == hint
        assert cli(command, shop.run, *options).err == ""


def test_across_models_it_says_what_that_means(cli: Cli) -> None:
    out = cli("leaderboard", "--published", "--across-models").out
    assert [words(line)[0] for line in out.splitlines()[3:20]] == [str(n) for n in range(1, 18)]
    assert "a rank does not tell which of the two makes the difference" in out
    assert "mixed is no model of its own" in out
    assert "Ranks are within a model" not in out


def test_another_slot_and_another_order(cli: Cli) -> None:
    out = cli("leaderboard", "--published", "--slot", "tgt-exec", "--sort", "AS").out
    assert out.startswith("skillshift: entries by AS of Tgt-Exec, the lowest first, within each")
    assert words(out.splitlines()[3])[:4] == ["claude-haiku-4.5", "1", "WALT", "2026-08-26"]
    assert "Gap: steps of AS behind the best, of which less is better" in out


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("SFR", "a ratio over few skill calls is unstable, so it is never a sort key"),
        ("ASC", "neither more nor fewer skill calls are better"),
        ("overall", "sort is 'overall'; one of SR, AS is needed"),
    ],
)
def test_what_is_no_sort_key_is_refused_with_the_reason(cli: Cli, key: str, reason: str) -> None:
    result = cli("leaderboard", "--published", "--sort", key)
    assert (result.code, result.out) == (2, "")
    assert reason in result.err


def test_no_slot_of_that_name_is_refused(cli: Cli) -> None:
    result = cli("leaderboard", "--published", "--slot", "target")
    assert result.code == 2
    assert "slot is 'target'; one of gitlab, magento" in result.err


def test_entry_files_are_ranked_among_the_published(
    cli: Cli, write_entry: Callable[..., Path]
) -> None:
    path = write_entry("mine", method="Mine", rate=41.26, calls=12)
    write_entry("other", method="Other", model="another", rate=None)
    result = cli("leaderboard", "--published", path.parent)
    assert result.code == 0
    lines = [words(line) for line in result.out.splitlines()]
    ranked = next(number for number, line in enumerate(lines) if line[:1] == ["gpt-5-mini"])
    date = "2026-09-01"
    assert lines[ranked][:4] == ["gpt-5-mini", "1", "Mine", date]
    assert lines[ranked][4] == "reported-only"
    assert lines[ranked][-3:] == ["0.00", "0.00", "12"]
    assert lines[ranked + 1][:2] == ["1", "MPCR"]
    assert lines[ranked + 2][:2] == ["3", "WALT"]
    assert lines[3][:5] == ["another", "–", "Other", date, "reported-only"]
    assert "⚠ SFR over fewer than 30 skill calls: Mine / gpt-5-mini 12\n" in result.out
    assert "Without SR overall, and so without a rank: Other / another\n" in result.out
    assert "– not given, or undefined\n" in result.out
    assert "Entries with the same printed SR share a rank" in result.out


def test_entries_that_only_their_files_tell_apart_show_them(
    cli: Cli, write_entry: Callable[..., Path]
) -> None:
    paths = [write_entry(name, rate=rate) for name, rate in (("a", 50.0), ("b", 60.0))]
    out = cli("leaderboard", *paths).out
    assert "Entry" in words(out.splitlines()[2])
    assert out.index("submissions/b.json") < out.index("submissions/a.json")
    assert "submissions" not in cli("leaderboard", paths[0]).out


def test_receipts_are_looked_for_where_they_are_owed(
    cli: Cli, write_entry: Callable[..., Path], strict_json: Callable[[str], Any]
) -> None:
    own = {"missing": 40.0, "differs": 50.0, "matches": 60.0}
    paths = [
        write_entry(name, method=name, label="self-reported", rate=rate)
        for name, rate in own.items()
    ]
    paths.append(write_entry("paper", method="paper"))
    assert "Receipt" not in cli("leaderboard", paths[-1]).out
    metrics = json.loads(paths[2].read_text())["metrics"]
    receipt = {"harness_version": "n/a", "n_per_cell": {}, "per_task_commitment": "0" * 64}
    for path in paths[1:3]:
        content = json.dumps(receipt | {"aggregate": metrics})
        path.with_suffix(".receipt.json").write_text(content)
    found = strict_json(cli("leaderboard", *paths, "-f", "json").out)["rows"]
    assert {row["method"]: row["receipt"] for row in found} == {
        **{state: state for state in own},
        "paper": None,
    }
    out = cli("leaderboard", paths[0].parent).out
    assert words(out.splitlines()[3])[:6] == [
        *("gpt-5-mini", "1", "matches", "2026-09-01", "self-reported", "matches")
    ]
    assert "Receipt: whether the receipt that a self-reported entry owes is there" in out


def test_entry_from_standard_input(
    cli: Cli, spawn: Spawn, write_entry: Callable[..., Path]
) -> None:
    path = write_entry("mine", method="Mine")
    named = cli("leaderboard", path, "--published")
    piped = spawn("leaderboard", "-", "--published", stdin=path.read_bytes())
    assert piped == named


# Records


def test_runs_are_ranked_with_what_their_ranks_are_worth(cli: Cli, demo: list[Path]) -> None:
    result = cli("leaderboard", *demo)
    assert (result.code, result.err) == (0, "")
    lines = [
        line.replace("[", "").replace("]", "").replace(",", "") for line in result.out.splitlines()
    ]
    assert [words(line) for line in lines[3:6]] == [
        words("1 induced 35.66 32.5 38.8 1–2 355 +1.23 -0.7 3.2 workflow"),
        words("2 workflow 34.43 31.2 37.7 1–2 355 +3.05 1.0 5.0 reference"),
        words("3 reference 31.38 28.3 34.7 3 355"),
    ]
    said = result.out
    assert "Cannot be told apart: induced and workflow (+1.23 [-0.7, 3.2])\n" in said
    assert "without a correction for their number" in said
    assert "[ ] 95 % interval: families resampled within sites, 10,000 resamples, seed 0" in said
    assert "the same families drawn for all runs, 10,000 resamples, seed 0" in said
    assert "workflow: 2,124 of 2,130 tasks scored, 4 errored, 2 missing" in said
    assert "(--errors exclude)" in said


def test_level_seed_and_errors_are_passed_on(
    cli: Cli, demo: list[Path], strict_json: Callable[[str], Any]
) -> None:
    options = ("--level", "0.8", "--seed", "3", "--errors", "zero", *QUICK)
    content = strict_json(cli("leaderboard", *demo, *options, "-f", "json").out)
    tasks = sf.read_tasks(demo)
    found = sf.ranks(tasks, level=0.8, rng=3, errors="zero", resamples=200)
    assert content["rows"] == found.to_dicts()
    header = ["schema_version", "benchmark", "errors", "slot", "level", "seed", "resamples"]
    assert list(content) == [*header, "coverage", "rows"]
    assert [content[key] for key in header] == [1, "skillshift", "zero", "overall", 0.8, 3, 200]
    assert [run["run"] for run in content["coverage"]] == ["induced", "reference", "workflow"]
    assert "80 % interval" in cli("leaderboard", *demo, *options).out


def test_order_of_files_and_records_does_not_show(
    cli: Cli, demo: list[Path], tmp_path: Path
) -> None:
    copies = []
    for path in demo[::-1]:
        copies.append(tmp_path / path.name)
        copies[-1].write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))
    for chosen in ("text", "csv", "json"):
        expected = cli("leaderboard", *demo, *QUICK, "-f", chosen)
        assert cli("leaderboard", *copies, *QUICK, "-f", chosen) == expected


def test_a_run_alone_and_a_run_that_always_fails(
    cli: Cli, shop: Shop, write_run: Callable[..., Path]
) -> None:
    options = ("--benchmark", shop.benchmark, *QUICK)
    alone = cli("leaderboard", shop.run, *options).out
    assert "no interval of the rank: a run alone has no other to rank against: asi\n" in alone
    assert "Cannot be told apart" not in alone
    fails = write_run("fails", [row | {"success": False} for row in shop.records])
    both = cli("leaderboard", shop.run, fails, *options).out
    assert "no interval of the rank: all 5 families agree: fails\n" in both
    part = write_run("part", [row for row in shop.records if row["condition"] == "plain"])
    out = cli("leaderboard", shop.run, part, *options).out
    assert "no interval of SR and the rank: the number is undefined: part\n" in out
    assert words(out.splitlines()[4])[:3] == ["–", "part", "–"]


def test_runs_of_one_rank_both_show_it(
    cli: Cli, shop: Shop, write_run: Callable[..., Path]
) -> None:
    other = write_run("awm", shop.records)
    out = cli("leaderboard", other, shop.run, "--benchmark", shop.benchmark, *QUICK).out
    assert [words(line)[:2] for line in out.splitlines()[3:5]] == [["1", "asi"], ["1", "awm"]]
    assert "no interval of the lift: no spread: all 5 families agree: asi over awm\n" in out


def test_labels_and_shards(cli: Cli, shop: Shop, write_run: Callable[..., Path]) -> None:
    options = ("--benchmark", shop.benchmark, *QUICK)
    parts = [write_run(f"mine-{n}.jsonl", shop.records[n::2]) for n in range(2)]
    whole = cli("leaderboard", "--label", f"mine={shop.run}", *options, "-f", "csv")
    assert cli("leaderboard", "--pool", *parts, *options, "-f", "csv") == whole
    assert "\n1,mine," in whole.out


# Entries or records


def test_entries_and_records_are_not_ranked_together(
    cli: Cli, demo: list[Path], write_entry: Callable[..., Path], tmp_path: Path
) -> None:
    path = write_entry("mine")
    for arguments in (
        [path, demo[0]],
        ["--published", demo[0]],
        [PUBLISHED, "--label", f"a={demo[0]}"],
        [path.parent, demo[0].parent / "*.jsonl"],
    ):
        result = cli("leaderboard", *arguments)
        assert (result.code, result.out) == (2, "")
        assert "holds records, and " in result.err
    (tmp_path / "submissions" / "run").mkdir()
    shutil.copy(demo[0], tmp_path / "submissions" / "run" / "per_task.jsonl")
    result = cli("leaderboard", path.parent)
    assert result.code == 2
    assert "has both entries (" in result.err


def test_a_folder_is_of_the_kind_that_is_in_it(
    cli: Cli, shop: Shop, write_entry: Callable[..., Path]
) -> None:
    assert "entries by SR" in cli("leaderboard", write_entry("mine").parent).out
    out = cli("leaderboard", shop.run.parent, "--benchmark", shop.benchmark, *QUICK).out
    assert "shop: runs by SR" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "1"], "--seed is for records"),
        (["--level", "0.9"], "--level is for records"),
        (["--resamples", "200"], "--resamples is for records"),
        (["--errors", "zero"], "--errors is for records"),
        (["--pool"], "--pool is for records"),
        (["--extra", "keep"], "--extra is for records"),
    ],
)
def test_an_option_of_records_is_not_ignored_for_entries(
    cli: Cli, options: list[str], message: str
) -> None:
    result = cli("leaderboard", "--published", *options)
    assert result.code == 2
    assert f"error: {message}\n" in result.err


def test_an_option_of_entries_is_not_ignored_for_records(cli: Cli, demo: list[Path]) -> None:
    for options, message in (
        (["--across-models"], "--across-models is for published entries"),
        (["--sort", "AS"], "--sort AS is for published entries; runs are ranked by SR"),
    ):
        result = cli("leaderboard", *demo, *options)
        assert result.code == 2
        assert message in result.err
    assert cli("leaderboard", demo[0], "--sort", "SR", *QUICK).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sort", "SR"], "nothing was named; give published entries, files of records"),
        (["gone.json"], "gone.json: no entry there"),
        (["gone.jsonl"], "gone.jsonl: no such file or folder"),
        (["gone-*.json"], "gone-*.json: no entry there"),
        (["gone-*.jsonl"], "gone-*.jsonl: the pattern matches no file"),
        (["--published", "--benchmark", "infer"], "cannot be inferred"),
    ],
)
def test_what_names_nothing_is_an_error(cli: Cli, arguments: list[str], message: str) -> None:
    result = cli("leaderboard", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_published_entries_have_no_other_benchmarks_slots(cli: Cli, shop: Shop) -> None:
    result = cli("leaderboard", "--published", "--benchmark", shop.benchmark)
    assert result.code == 2
    assert "the published entries are SkillShift's" in result.err


def test_records_from_standard_input(cli: Cli, spawn: Spawn, demo: list[Path]) -> None:
    piped = spawn("leaderboard", "-", *QUICK, "-f", "csv", stdin=demo[0].read_bytes())
    named = cli("leaderboard", "--label", f"stdin={demo[0]}", *QUICK, "-f", "csv")
    assert piped == named


# Formats


def test_csv_is_the_frame_with_empty_nulls(cli: Cli, write_entry: Callable[..., Path]) -> None:
    result = cli("leaderboard", "--published", "-f", "csv")
    header, *rows = csv.reader(result.out.splitlines())
    assert header == list(sf.LEADERBOARD)
    assert rows[0] == [
        *("1", "claude-haiku-4.5", "AWM", "2026-08-26", "", "", "33.0", "7.47", "", ""),
        *("34.11", "0.0", "", "", "2130", "", "not-applicable", "AWM / claude-haiku-4.5"),
    ]
    assert rows[1][-2] == "unstable"
    assert "\r" not in result.out
    assert "note: ⚠ SFR over a number of skill calls that is not stated" in result.err
    path = write_entry("mine")  # without a mark: nothing stands between the commas
    assert f",200,2130,2130,,,{path}\n" in cli("leaderboard", path, "-f", "csv").out


def test_csv_of_runs_has_full_precision(cli: Cli, demo: list[Path]) -> None:
    result = cli("leaderboard", *demo, *QUICK, "-f", "csv")
    header, *rows = csv.reader(result.out.splitlines())
    assert header == list(sf.RANKS)
    table = sf.table(sf.cells(sf.read_tasks(demo))).filter(metric="SR")
    expected = dict(table.select("run", "overall").iter_rows())
    assert {row[1]: float(row[2]) for row in rows} == expected
    last = dict(zip(header, rows[-1], strict=True))
    assert [last[name] for name in ("below", "lift", "lift_low", "apart", "reason")] == [""] * 5
    assert "note: Cannot be told apart: induced and workflow" in result.err


def test_json_of_entries_is_strict(cli: Cli, strict_json: Callable[[str], Any]) -> None:
    content = strict_json(cli("leaderboard", "--published", "-f", "json").out)
    header = ["schema_version", "benchmark", "sort", "slot", "across_models"]
    assert list(content) == [*header, "rows"]
    assert [content[key] for key in header] == [1, "skillshift", "SR", "overall", False]
    assert len(content["rows"]) == 17
    assert all(list(row) == list(sf.LEADERBOARD) for row in content["rows"])
    first = content["rows"][0]
    assert (first["rank"], first["date"], first["SFR"]) == (1, "2026-08-26", None)
    assert first["marks"] == ["not-applicable"]


@pytest.mark.parametrize("chosen", [*READABLE, "csv", "json"])
def test_what_is_undefined_never_reads_nan_or_none(
    cli: Cli, demo: list[Path], write_entry: Callable[..., Path], chosen: str
) -> None:
    path = write_entry("mine", rate=None, calls=None, AS=None, ASC=None, SFR=None)
    for arguments in ([path], ["--published"], [demo[0], *QUICK]):
        out = cli("leaderboard", *arguments, "-f", chosen).out
        assert not any(word in out for word in ("nan", "NaN", "None", "Infinity", "inf "))


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_method_or_label_is_shown_and_never_obeyed(
    cli: Cli, shop: Shop, write_entry: Callable[..., Path], label: str
) -> None:
    entries = [write_entry("hostile", method=label, model=label, calls=3)]
    plain = [write_entry("plain", method="plain", model="plain", calls=3)]
    run = ["--label", f"{label}={shop.run}", "--benchmark", shop.benchmark, *QUICK]
    tame = ["--label", f"plain={shop.run}", "--benchmark", shop.benchmark, *QUICK]
    for arguments, control in ((entries, plain), (run, tame)):
        shown = {}
        for chosen in READABLE:
            result = cli("leaderboard", *arguments, "-f", chosen)
            assert result.code == 0
            assert not {"\x1b", "\u202e"} & set(result.out + result.err)
            shown[chosen] = result.out
            expected = cli("leaderboard", *control, "-f", chosen).out
            assert result.out.count("\n") == expected.count("\n")
        tags = Tags(shown["html"]).seen
        assert tags == Tags(cli("leaderboard", *control, "-f", "html").out).seen
        assert "\\input{" not in shown["latex"]


def test_output_goes_to_a_file_by_its_suffix(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "board.md"
    assert cli("leaderboard", "--published", "-o", target) == (0, "", "")
    assert target.read_text() == cli("leaderboard", "--published", "-f", "markdown").out
    assert cli("leaderboard", "--published", "-o", target).code == 2
    assert cli("leaderboard", "--published", "-o", target, "--force").code == 0
