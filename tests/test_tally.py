"""The tally: the same counts from every engine, sums of parts, and as strict as reading record by record."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import duckdb  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import skillshift_frames as sf
from skillshift_frames.outcomes import OUTCOME
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference import Record

Errors: TypeAlias = Literal["exclude", "zero"]

BENCHMARK = sf.Benchmark("small", sites=SMALL.sites, conditions=SMALL.conditions)
ERRORS = st.sampled_from(["exclude", "zero"])
CALLS = ("skill_calls", "skill_failures")
FAMILIES = pytest.mark.parametrize("families", [False, True])


def framed(listed: list[Record]) -> pl.DataFrame:
    return pl.DataFrame(listed, schema_overrides=dict(sf.TASKS), infer_schema_length=None)


def tasks_from(listed: list[Record]) -> pl.DataFrame:
    return sf.from_frame(framed(listed), benchmark=BENCHMARK)


def tally(frame: Any, **options: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame
    return sf.tally(frame, **{"benchmark": BENCHMARK, **options})


def relation(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - DuckDB ships no types for it
    # A relation lives as long as its connection, which it does not keep.
    connection = duckdb.connect()
    made = connection.from_arrow(frame.to_arrow())
    _CONNECTIONS.append(connection)
    return made


_CONNECTIONS: list[Any] = []

ENGINES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "polars lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pandas nullable": lambda frame: frame.to_pandas(
        use_pyarrow_extension_array=True
    ).convert_dtypes(dtype_backend="numpy_nullable"),
    "pyarrow": lambda frame: frame.to_arrow(),
    "duckdb": relation,
}
ENGINE = pytest.mark.parametrize("engine", ENGINES)


# The same on every engine, and in any order


@ENGINE
@FAMILIES
@settings(max_examples=12)
@given(listed=records(SMALL))
def test_every_engine_gives_the_same_tally(
    engine: str, listed: list[Record], *, families: bool
) -> None:
    frame = framed(listed)
    found = tally(ENGINES[engine](frame), families=families)
    assert found.schema == (sf.FAMILY_TALLY if families else sf.TALLY)
    assert found.equals(tally(frame, families=families))


@FAMILIES
@settings(max_examples=15)
@given(listed=records(SMALL), data=st.data())
def test_the_order_of_the_rows_does_not_matter(
    listed: list[Record], data: st.DataObject, *, families: bool
) -> None:
    other = data.draw(st.permutations(listed))
    assert tally(framed(other), families=families).equals(tally(framed(listed), families=families))


def test_a_lazy_frame_may_be_a_file_that_is_not_in_memory(tmp_path: Any) -> None:  # noqa: ANN401
    tasks = tasks_of()
    tasks.write_parquet(tmp_path / "asi.parquet")
    found = sf.tally(pl.scan_parquet(tmp_path / "asi.parquet"), benchmark=SHOP)
    assert found.equals(sf.tally(tasks, benchmark=SHOP))


def test_a_tally_is_worked_out_by_hand() -> None:
    row = {"run": "asi", "site": "forum", "condition": "plain", "skill_calls": 2, "error": None}
    listed = [
        row | {"uid": "a", "trial": 1, "success": True, "steps": 3, "skill_failures": 1},
        row | {"uid": "a", "trial": 2, "success": False, "steps": 4, "skill_failures": 0},
        row | {"uid": "b", "trial": 1, "success": True, "steps": 7, "skill_failures": 0},
        row | {"uid": "b", "trial": 3, "success": None, "steps": None, "skill_failures": 2, "error": "x"},
    ]  # fmt: skip
    b, a = tally(framed(listed)).to_dicts()
    zero = dict.fromkeys((name for name in sf.TALLY if name.startswith("errored_")), 0)
    key = {"run": "asi", "site": "forum", "condition": "plain", "tasks": 1}
    assert a == key | zero | {
        "trials": 2,
        "successes": 1,
        "steps": 7,
        "steps_trials": 2,
        "skill_calls": 4,
        "skill_failures": 1,
        "calls_trials": 2,
    }
    assert b == key | zero | {
        "trials": 1,
        "successes": 1,
        "steps": 7,
        "steps_trials": 1,
        "skill_calls": 2,
        "skill_failures": 0,
        "calls_trials": 1,
        "errored_trials": 1,
        "errored_skill_calls": 2,
        "errored_skill_failures": 2,
        "errored_calls_trials": 1,
    }


def test_families_with_the_same_outcomes_are_one_kind() -> None:
    row = {"run": "asi", "site": "forum", "success": True, "steps": 3, "skill_calls": 0}
    row |= {"skill_failures": 0, "error": None, "trial": 1}
    listed = [
        row | {"uid": f"skillshift.forum.{version}.{index}", "condition": condition}
        for index in range(3)
        for version, condition in (("v1", "plain"), ("v2", "hard"))
    ]
    listed[0]["steps"] = 9
    found = tally(framed(listed), families=True)
    assert found.select("kind", "condition", "version", "steps", "tasks").rows() == [
        (0, "hard", "v2", 3, 2),
        (0, "plain", "v1", 3, 2),
        (1, "hard", "v2", 3, 1),
        (1, "plain", "v1", 9, 1),
    ]


def test_a_kind_is_the_same_families_in_all_runs() -> None:
    """Of x, y and z the last two are alike in run a, the first two in run b, which lacks the last."""
    row = {"site": "forum", "condition": "plain", "success": True, "skill_calls": 0}
    row |= {"skill_failures": 0, "error": None, "trial": 1}
    steps = {"a": {"x": 1, "y": 2, "z": 2}, "b": {"x": 3, "y": 3}}
    listed = [
        row | {"run": run, "uid": uid, "steps": n} for run in steps for uid, n in steps[run].items()
    ]
    found = tally(framed(listed), families=True)
    assert found.select("run", "kind", "steps", "tasks").rows() == [
        ("a", 0, 1, 1),
        ("a", 1, 2, 1),
        ("a", 2, 2, 1),
        ("b", 0, 3, 1),
        ("b", 2, 3, 1),
    ]


@given(listed=shuffled(records(SMALL, odd_uids=True)))
def test_kinds_hold_every_family_with_all_its_tasks(listed: list[Record]) -> None:
    """One after the other in Python: each family's tasks with their outcomes, counted by the site."""
    families: dict[tuple[str, str], dict[Any, Counter[str]]] = {}
    for record in listed:
        official = re.fullmatch(r"skillshift\.(.+)\.(v[12])\.(\d+)", record["uid"])
        name, version = (
            (f"{official[1]}.{official[3]}", official[2]) if official else (record["uid"], None)
        )
        key = (record["run"], record["condition"], version)
        sums = families.setdefault((record["site"], name), {}).setdefault(key, Counter())
        side = "errored_" if record.get("error") else ""
        sums[f"{side}trials"] += 1
        if not side:
            sums["successes"] += record["success"]
        for trials, *counted in (("steps_trials", "steps"), ("calls_trials", *CALLS)):
            if record[counted[0]] is not None:
                sums[f"{side}{trials}"] += 1
                for column in counted:
                    sums[f"{side}{column}"] += record[column]
    expected = Counter(
        (site, frozenset((key, tuple(sums[part] for part in OUTCOME)) for key, sums in of.items()))
        for (site, _), of in families.items()
    )
    kinds: dict[tuple[str, int], set[Any]] = {}
    tasks: dict[tuple[str, int], set[int]] = {}
    for row in tally(framed(listed), families=True).iter_rows(named=True):
        key = (row["run"], row["condition"], row["version"])
        outcome = tuple(row[part] for part in OUTCOME)
        kinds.setdefault((row["site"], row["kind"]), set()).add((key, outcome))
        tasks.setdefault((row["site"], row["kind"]), set()).add(row["tasks"])
    found = {(site, frozenset(of)): tasks[site, number] for (site, number), of in kinds.items()}
    assert found == {kind: {number} for kind, number in expected.items()}
    for site in {site for site, _ in kinds}:
        numbers = sorted(number for other, number in kinds if other == site)
        assert numbers == list(range(len(numbers)))


# Everything follows from it


@FAMILIES
@settings(max_examples=20)
@given(listed=records(SMALL), errors=ERRORS)
def test_cells_of_a_tally_are_those_of_the_tasks(
    listed: list[Record], errors: Errors, *, families: bool
) -> None:
    counts = tally(framed(listed), families=families)
    for benchmark in (BENCHMARK, "infer"):
        of_tally = sf.cells(counts, benchmark=benchmark, errors=errors)
        of_tasks = sf.cells(tasks_from(listed), benchmark=benchmark, errors=errors)
        assert of_tally.equals(of_tasks)
        assert sf.coverage(of_tally).equals(sf.coverage(of_tasks))
        assert sf.bounds(of_tally).equals(sf.bounds(of_tasks))
        table = sf.table(of_tally, benchmark=BENCHMARK) if benchmark == BENCHMARK else None
        assert table is None or table.equals(sf.table(of_tasks, benchmark=BENCHMARK))


@settings(max_examples=10)
@given(listed=records(SMALL), errors=ERRORS)
def test_intervals_of_a_tally_are_those_of_the_tasks(listed: list[Record], errors: Errors) -> None:
    counts, tasks = tally(framed(listed), families=True), tasks_from(listed)
    for function in (sf.intervals, sf.cell_intervals, sf.shift_intervals):
        for method in ("auto", "delta"):
            options: Any = {"errors": errors, "method": method, "resamples": 200}
            inferred = method == "auto" and function is not sf.shift_intervals
            options["benchmark"] = "infer" if inferred else BENCHMARK
            found = function(counts, **options)
            assert found.equals(function(tasks, **options))
            for run in tasks.get_column(
                "run"
            ).unique():  # whatever sets its families apart in other runs
                alone = function(counts.filter(run=run), **options)
                assert alone.equals(function(tasks.filter(run=run), **options))


@settings(max_examples=15)
@given(listed=records(SMALL), errors=ERRORS)
def test_ranks_of_a_tally_are_those_of_the_tasks(listed: list[Record], errors: Errors) -> None:
    """Runs are drawn jointly, so this needs to know which tasks they share."""
    counts, tasks = tally(framed(listed), families=True), tasks_from(listed)
    options: Any = {"benchmark": BENCHMARK, "errors": errors, "resamples": 200}
    assert sf.ranks(counts, **options).equals(sf.ranks(tasks, **options))


def test_families_that_are_alike_are_each_drawn() -> None:
    runs = pl.concat([tasks_of("asi", seed=1), tasks_of("mpcr", seed=2, logit=1.0)])
    same = {name: pl.lit(1, dtype=pl.Int64) for name in ("steps", *CALLS)}
    tasks = runs.with_columns(**same)
    counts = sf.tally(tasks, benchmark=SHOP, families=True)
    kinds = counts.unique(["site", "kind"]).get_column("tasks")
    assert kinds.to_list() != [1] * len(kinds)
    assert kinds.sum() == sum(SHOP.sites.values())
    for function in (sf.intervals, sf.cell_intervals, sf.shift_intervals, sf.ranks):
        take: Any = function
        found = take(counts, benchmark=SHOP, resamples=500)
        assert found.equals(take(tasks, benchmark=SHOP, resamples=500))


@pytest.mark.parametrize(
    "function", [sf.intervals, sf.cell_intervals, sf.shift_intervals, sf.ranks]
)
def test_families_are_asked_for_where_they_are_needed(function: Any) -> None:  # noqa: ANN401
    counts = sf.tally(tasks_of(), benchmark=SHOP)
    for benchmark in (SHOP, "infer"):
        with pytest.raises(sf.InputError, match="make it with families=True"):
            function(counts, benchmark=benchmark)


def test_a_tally_that_another_program_has_changed_is_refused() -> None:
    counts = sf.tally(tasks_of(), benchmark=SHOP)
    changed = counts.cast({"steps": pl.Float64})
    with pytest.raises(sf.InputError, match=r"column steps is not as in .*\.TALLY"):
        sf.cells(changed, benchmark=SHOP)
    with pytest.raises(sf.InputError, match="columns trials, note are not as in"):
        sf.merge([counts.drop("trials").with_columns(note=1)])
    of_families = sf.tally(tasks_of(), benchmark=SHOP, families=True)
    with pytest.raises(sf.InputError, match=r"column version is not as in .*FAMILY_TALLY"):
        sf.intervals(of_families.drop("version"), benchmark=SHOP)


# Tallies add up


@FAMILIES
@settings(max_examples=15)
@given(listed=records(SMALL), data=st.data())
def test_tallies_of_shards_add_up_to_the_tally_of_the_whole(
    listed: list[Record], data: st.DataObject, *, families: bool
) -> None:
    """Shards are by family, so that each holds all trials of its tasks, and all tasks of its families."""
    part_of = data.draw(st.lists(st.integers(0, 2), min_size=7, max_size=7))
    tasks = tasks_from(listed)
    key = tasks.select(pl.struct("site", sf.family()).rank("dense") % 7).to_series()
    shards = [
        tasks.filter(key.replace_strict(list(range(7)), part_of) == number) for number in range(3)
    ]
    tallies = [tally(shard, families=families) for shard in shards if shard.height]
    whole = tally(tasks, families=families)
    one, *others = data.draw(st.permutations(tallies))
    assert sf.merge([one, *others], shards=True).equals(whole)
    for other in others:  # pair by pair is the same
        one = sf.merge([one, other], shards=True)
    assert one.equals(whole)


@FAMILIES
@settings(max_examples=8)
@given(listed=records(SMALL), data=st.data())
def test_the_order_of_merging_does_not_matter(
    listed: list[Record], data: st.DataObject, *, families: bool
) -> None:
    """Whatever the parts are: any tasks here and the others there, families torn or not."""
    tasks = tasks_from(listed)
    uids = tasks.get_column("uid").unique().sort()
    dealt = data.draw(st.lists(st.integers(0, 2), min_size=len(uids), max_size=len(uids)))
    of = tasks.get_column("uid").replace_strict(uids, dealt, return_dtype=pl.Int64)
    a, b, c = (
        tally(part, families=families) if part.height else empty(families=families)
        for part in (tasks.filter(of == number) for number in range(3))
    )
    together = sf.merge([a, b, c], shards=True)
    for one, other, last in itertools.permutations((a, b, c)):
        assert sf.merge([one, other, last], shards=True).equals(together)
        pair = sf.merge([one, other], shards=True)
        assert sf.merge([pair, last], shards=True).equals(together)
        assert sf.merge([last, pair], shards=True).equals(together)


def empty(*, families: bool) -> pl.DataFrame:
    return (sf.FAMILY_TALLY if families else sf.TALLY).to_frame()


@settings(max_examples=15)
@given(listed=shuffled(records(SMALL)))
def test_tallies_of_runs_add_up_without_a_word(listed: list[Record]) -> None:
    tasks = tasks_from(listed)
    runs = [tally(part) for part in tasks.partition_by("run")]
    assert sf.merge(reversed(runs)).equals(tally(tasks))


@settings(max_examples=15)
@given(listed=records(SMALL))
def test_families_of_runs_that_were_tallied_apart_stay_apart(listed: list[Record]) -> None:
    tasks = tasks_from(listed)
    runs = [tally(part, families=True) for part in tasks.partition_by("run")]
    merged = sf.merge(runs)
    assert merged.group_by("site", "kind").agg(pl.col("run").n_unique() == 1)["run"].all()
    options: Any = {"benchmark": BENCHMARK, "resamples": 200}
    for function in (sf.intervals, sf.cell_intervals):
        assert function(merged, **options).equals(function(tasks, **options))


@FAMILIES
def test_the_same_cell_twice_is_refused(*, families: bool) -> None:
    tasks = tasks_of()
    counts = sf.tally(tasks, benchmark=SHOP, families=families)
    half = sf.tally(tasks.filter(condition="src"), benchmark=SHOP, families=families)
    with pytest.raises(sf.InputError, match=r'of run "asi", site "cart".*shards=True'):
        sf.merge([half, counts])
    twice = sf.merge([half, counts], shards=True)  # which is for the caller to know
    assert twice.get_column("tasks").sum() == sum(
        part.get_column("tasks").sum() for part in (half, counts)
    )


def test_other_cells_of_a_site_are_other_tasks_but_not_other_families() -> None:
    parts = tasks_of().partition_by("condition")
    plain = [sf.tally(part, benchmark=SHOP) for part in parts]
    assert sf.merge(plain).equals(sf.tally(tasks_of(), benchmark=SHOP))
    grouped = [sf.tally(part, benchmark=SHOP, families=True) for part in parts]
    with pytest.raises(sf.InputError, match='two tallies have families of run "asi", site "cart";'):
        sf.merge(grouped)


@FAMILIES
def test_the_order_of_a_tallys_rows_and_columns_does_not_matter(*, families: bool) -> None:
    counts = sf.tally(tasks_of(), benchmark=SHOP, families=families)
    turned = counts.select(reversed(counts.columns)).sample(fraction=1, shuffle=True, seed=1)
    assert sf.merge([turned]).equals(counts)
    other = sf.tally(tasks_of("mpcr"), benchmark=SHOP, families=families)
    assert sf.merge([other, turned]).equals(sf.merge([counts, other]))
    assert sf.cells(turned, benchmark=SHOP).equals(sf.cells(counts, benchmark=SHOP))


def test_nothing_and_tallies_of_two_sorts_cannot_be_merged() -> None:
    tasks = tasks_of()
    both = [sf.tally(tasks, benchmark=SHOP, families=families) for families in (True, False)]
    with pytest.raises(sf.InputError, match="some tallies have families"):
        sf.merge(both)
    with pytest.raises(sf.InputError, match="no tally"):
        sf.merge([])
    with pytest.raises(sf.InputError, match="one of the frames holds tasks"):
        sf.merge([both[1], tasks])


# As strict as record by record

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "empty-run": ({"run": ""}, "run: is empty"),
    "uid-null": ({"uid": None}, "uid: is null"),
    "empty-uid": ({"uid": ""}, "uid: is empty"),
    "site-null": ({"site": None}, "site: is null"),
    "empty-site": ({"site": ""}, "site: is empty"),
    "unknown-site": ({"site": "Cart", "uid": "x"}, "did you mean cart?"),
    "unknown-condition": ({"condition": "src_perc"}, "did you mean src-perc?"),
    "condition-null": ({"condition": None}, "condition: is null"),
    "uid-site": ({"uid": "skillshift.search.v1.99"}, 'another site than "cart"'),
    "trial-range": ({"trial": 0}, "trial: 0 is below 1"),
    "success-null": ({"success": None}, "success: is null"),
    "steps-range": ({"steps": -2}, "steps: -2 is below 0"),
    "skill-failures-range": ({"skill_failures": -1}, "-1 is below 0"),
    "failures-exceed-calls": ({"skill_calls": 2, "skill_failures": 3}, "3 failures of 2 skill calls"),
    "calls-together": ({"skill_failures": None}, "both are recorded"),
    "null-in-part": ({"steps": None}, "recorded in 98 other records of the run"),
}  # fmt: skip


@ENGINE
@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_named_with_its_cell(engine: str, rule: str) -> None:
    changes, said = BROKEN[rule]
    listed = simulate()
    listed[0] |= changes
    frame = framed(listed)
    with pytest.raises(sf.RecordError) as caught:
        sf.tally(ENGINES[engine](frame), benchmark=SHOP)
    assert caught.value.rule == rule
    assert (caught.value.path, caught.value.line) == ("<frame>", None)
    assert said in str(caught.value)
    assert "in 1 record of run " in str(caught.value)
    assert caught.value.faults.schema == sf.FAULTS
    _, faults = _judged_one_by_one(frame)
    assert caught.value.faults.height == faults.height


def _judged_one_by_one(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    with pytest.raises(sf.RecordError) as caught:
        sf.from_frame(frame, benchmark=SHOP)
    return frame, caught.value.faults


@ENGINE
def test_faults_are_counted_and_not_listed_record_by_record(engine: str) -> None:
    frame = tasks_of().with_columns(
        steps=pl.when(pl.col("condition") != "src").then(-1).otherwise("steps")
    )
    with pytest.raises(sf.RecordError) as caught:
        sf.tally(ENGINES[engine](frame), benchmark=SHOP)
    first, *others = str(caught.value).splitlines()
    assert first == (
        '<frame>: steps: -1 is below 0 in 24 records of run "asi", site "cart", condition "src-perc" '
        "(an integer ≥ 0 is needed)"
    )
    assert len(others) == 3


@ENGINE
@pytest.mark.parametrize("trials", [1, 2])
@FAMILIES
def test_repeated_keys_are_refused(engine: str, trials: int, *, families: bool) -> None:
    tasks = pl.concat(
        [
            tasks_of().with_columns(trial=pl.lit(trial, dtype=pl.Int64))
            for trial in range(1, trials + 1)
        ]
    )
    twice = pl.concat([tasks, tasks.filter(site="search", condition="tgt").head(3)])
    with pytest.raises(sf.RecordError) as caught:
        sf.tally(ENGINES[engine](twice), benchmark=SHOP, families=families)
    assert str(caught.value) == (
        '<frame>: uid: more than one record of "skillshift.search.v2.0" and of 2 other keys: '
        'in 6 records of run "asi", site "search", condition "tgt" (number the trials, or remove all but one)'
    )


@ENGINE
def test_uids_of_the_other_version_are_a_warning(engine: str) -> None:
    listed = simulate()
    for record in listed[:2]:
        record["uid"] = record["uid"].replace("v1", "v2")
    with pytest.warns(sf.SkillshiftWarning, match="other site version than condition") as caught:
        found = sf.tally(ENGINES[engine](framed(listed)), benchmark=SHOP)
    assert found.get_column("tasks").sum() == len(listed)
    assert str(caught[0].message).count('in 1 record of run "asi", site "cart"') == 2


@ENGINE
@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("steps", pl.col("steps").cast(pl.Float64), "convert them before"),
        ("success", pl.col("success").cast(pl.Int64), "success: the column is Int64; Boolean is needed"),
        ("steps", pl.col("steps").cast(pl.String), "steps: the column is String; Int64 is needed"),
        ("steps", pl.col("steps").cast(pl.UInt64) + 2**63, "is beyond 64 bits with a sign"),
        ("eror", pl.lit("x"), "did you mean error?"),
    ],
)  # fmt: skip
def test_a_column_of_the_wrong_type_is_refused(
    engine: str, name: str, values: pl.Expr, said: str
) -> None:
    frame = tasks_of().drop("error").with_columns(values.alias(name))
    with pytest.raises(sf.RecordError) as caught:
        sf.tally(ENGINES[engine](frame), benchmark=SHOP)
    assert said in str(caught.value)
    assert caught.value.field == name


@ENGINE
def test_a_missing_column_is_refused_and_an_unknown_one_can_be_ignored(engine: str) -> None:
    make = ENGINES[engine]
    with pytest.raises(sf.RecordError, match="steps: the column is missing"):
        sf.tally(make(tasks_of().drop("steps")), benchmark=SHOP)
    with pytest.warns(sf.SkillshiftWarning, match="ignored, not keys of a record: seed"):
        found = sf.tally(make(tasks_of().with_columns(seed=1)), benchmark=SHOP, extra="ignore")
    assert found.equals(sf.tally(tasks_of(), benchmark=SHOP))
    with pytest.raises(sf.InputError, match="extra is 'keep'"):
        sf.tally(make(tasks_of()), benchmark=SHOP, extra="keep")  # type: ignore[arg-type]


@ENGINE
def test_columns_that_hold_nothing_have_no_type(engine: str) -> None:
    """No library keeps the type of a column of nulls, and no JSON ever said it."""
    nothing = {
        name: pl.lit(None, dtype=pl.String) for name in ("steps", "skill_calls", "skill_failures")
    }
    frame = tasks_of().drop("trial").with_columns(**nothing)
    found = sf.tally(ENGINES[engine](frame), benchmark=SHOP)
    assert found.get_column("steps_trials").sum() == 0
    assert found.get_column("calls_trials").sum() == 0


@ENGINE
def test_the_run_is_asked_for_where_no_column_says_it(engine: str) -> None:
    make, tasks = ENGINES[engine], tasks_of()
    found = sf.tally(make(tasks.drop("run")), run="asi", benchmark=SHOP)
    assert found.equals(sf.tally(tasks, benchmark=SHOP))
    for lacking in (
        tasks.drop("run"),
        tasks.with_columns(run=pl.when(pl.col("steps") > 3).then("run")),
    ):
        with pytest.raises(sf.InputError, match="give run="):
            sf.tally(make(lacking), benchmark=SHOP)


@ENGINE
def test_an_empty_error_is_none_and_a_trial_of_null_is_the_first(engine: str) -> None:
    frame = tasks_of().with_columns(error=pl.lit(""), trial=pl.lit(None, dtype=pl.Int64))
    assert sf.tally(ENGINES[engine](frame), benchmark=SHOP).equals(
        sf.tally(tasks_of(), benchmark=SHOP)
    )


@ENGINE
def test_a_frame_without_records_is_refused(engine: str) -> None:
    with pytest.raises(sf.RecordError, match="holds no record"):
        sf.tally(ENGINES[engine](frame_of(simulate()).clear()), benchmark=SHOP)


def test_names_that_cannot_be_axes_are_refused_when_inferred() -> None:
    frame = tasks_of().filter(condition="src").with_columns(condition=pl.lit("cart"))
    with pytest.raises(sf.BenchmarkError, match="'cart' stands for more than one thing"):
        sf.tally(frame, benchmark="infer")


def test_what_is_no_frame_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        sf.tally([{"uid": "a"}], benchmark=SHOP)
