"""Every rule of a record: what breaks it is named with path, line, field and the value as written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

import skillshift_frames as sf
from tests.readers.conftest import faults, record, texts, written

if TYPE_CHECKING:
    from tests.readers.conftest import Write

_DIGITS = "9" * 4_400
_CUT = "9" * 59 + "…"
_WHOLE = "an integer or null is needed"
_FRACTION = "is a number with a fraction or exponent"
_PARTIAL = " (partial credit is not success; keep it in a key of its own with --extra keep)"
_AT_LEAST_0 = "(an integer ≥ 0 is needed)"
_NOT_RECORDED = "(write null where it was not recorded)"
_NO_SUCCESS = "(true or false is needed; only a record with a non-empty error may leave it open)"
_TOGETHER = "(both are recorded, or both are null)"
_SITES = (
    "(known are gitlab, magento, wordpress; --benchmark infer or FILE.toml reads another "
    "benchmark's records)"
)


class Broken(NamedTuple):
    """Tokens that differ from a valid line's, and what is found: at one field, its value as it was written."""

    tokens: dict[str, str | None]
    field: str
    value: str | None
    rule: str
    said: str


BROKEN = [
    # success
    Broken({"success": "1"}, "success", "1", "type", f"1 is an integer; true or false is needed{_PARTIAL}"),
    Broken({"success": "0.5"}, "success", "0.5", "type", f"0.5 {_FRACTION}; true or false is needed{_PARTIAL}"),
    Broken({"success": '"true"'}, "success", '"true"', "type", '"true" is a string; true or false is needed'),
    Broken({"success": "[true]"}, "success", "[true]", "type", "[true] is an array; true or false is needed"),
    Broken({"success": "NaN"}, "success", "NaN", "json", "NaN is not a JSON number"),
    Broken({"success": "null"}, "success", "null", "success-null", f"is null {_NO_SUCCESS}"),
    Broken({"success": "null", "error": '""'}, "success", "null", "success-null", f"is null {_NO_SUCCESS}"),
    Broken({"success": "null", "error": "null"}, "success", "null", "success-null", f"is null {_NO_SUCCESS}"),
    # steps, as every integer
    Broken({"steps": "3.0"}, "steps", "3.0", "type", f"3.0 {_FRACTION}; {_WHOLE}"),
    Broken({"steps": "1e2"}, "steps", "1e2", "type", f"1e2 {_FRACTION}; {_WHOLE}"),
    Broken({"steps": '"3"'}, "steps", '"3"', "type", f'"3" is a string; {_WHOLE}'),
    Broken({"steps": "true"}, "steps", "true", "type", f"true is a boolean; {_WHOLE}"),
    Broken({"steps": '{"n": 3.50}'}, "steps", '{"n": 3.50}', "type", f'{{"n": 3.50}} is an object; {_WHOLE}'),
    Broken({"steps": "NaN"}, "steps", "NaN", "json", f"NaN is not a JSON number {_NOT_RECORDED}"),
    Broken({"steps": "-Infinity"}, "steps", "-Infinity", "json", f"-Infinity is not a JSON number {_NOT_RECORDED}"),
    Broken({"steps": "-1"}, "steps", "-1", "steps-range", f"-1 is below 0 {_AT_LEAST_0}"),
    Broken({"steps": str(2**63)}, "steps", str(2**63), "range", f"{2**63} is beyond 64 bits"),
    Broken({"steps": str(-(2**63) - 1)}, "steps", str(-(2**63) - 1), "range", f"{-(2**63) - 1} is beyond 64 bits"),
    Broken({"steps": _DIGITS}, "steps", _CUT, "range", f"{_CUT} is beyond 64 bits"),
    # calls and failures
    Broken({"skill_calls": "2.0"}, "skill_calls", "2.0", "type", f"2.0 {_FRACTION}; {_WHOLE}"),
    Broken({"skill_failures": "-1"}, "skill_failures", "-1", "skill-failures-range", f"-1 is below 0 {_AT_LEAST_0}"),
    Broken({"skill_failures": "true"}, "skill_failures", "true", "type", f"true is a boolean; {_WHOLE}"),
    Broken({"skill_failures": "3"}, "skill_failures", "3", "failures-exceed-calls", "3 failures of 2 skill calls (no more calls can fail than were made)"),
    Broken({"skill_calls": "null", "error": '"e"'}, "skill_calls", "null", "calls-together", f"is null where skill_failures is 1 {_TOGETHER}"),
    Broken({"skill_failures": "null"}, "skill_failures", "null", "calls-together", f"is null where skill_calls is 2 {_TOGETHER}"),
    # uid
    Broken({"uid": "7"}, "uid", "7", "type", "7 is an integer; a string is needed"),
    Broken({"uid": "null"}, "uid", "null", "type", "is null; a string is needed"),
    Broken({"uid": '""'}, "uid", '""', "empty-uid", "is empty; a name is needed"),
    Broken({"uid": r'"\ud83d"'}, "uid", r'"\ud83d"', "surrogate", r'"\ud83d" holds half of a surrogate pair, which is no character (write the character itself, or both halves)'),
    Broken({"uid": '"skillshift.magento.v1.3"'}, "uid", '"skillshift.magento.v1.3"', "uid-site", '"skillshift.magento.v1.3" belongs to another site than "gitlab" (the site in the uid and the key site must be equal)'),
    # site and condition
    Broken({"site": "null"}, "site", "null", "type", "is null; a string is needed"),
    Broken({"site": '""'}, "site", '""', "empty-site", "is empty; a name is needed"),
    Broken({"site": '"GitLab"'}, "site", '"GitLab"', "unknown-site", '"GitLab" is not a site of this benchmark (did you mean gitlab?)'),
    Broken({"site": '" gitlab"'}, "site", '" gitlab"', "unknown-site", '" gitlab" is not a site of this benchmark (did you mean gitlab?)'),
    Broken({"site": '"wordpres"'}, "site", '"wordpres"', "unknown-site", '"wordpres" is not a site of this benchmark (did you mean wordpress?)'),
    Broken({"site": '"zzz"'}, "site", '"zzz"', "unknown-site", f'"zzz" is not a site of this benchmark {_SITES}'),
    Broken({"condition": "true"}, "condition", "true", "type", "true is a boolean; a string is needed"),
    Broken({"condition": '""'}, "condition", '""', "empty-condition", "is empty; a name is needed"),
    Broken({"condition": '"src_perc"'}, "condition", '"src_perc"', "unknown-condition", '"src_perc" is not a condition of this benchmark (did you mean src-perc?)'),
    Broken({"condition": '"Tgt Exec"'}, "condition", '"Tgt Exec"', "unknown-condition", '"Tgt Exec" is not a condition of this benchmark (did you mean tgt-exec?)'),
    # trial, error, run
    Broken({"trial": "0"}, "trial", "0", "trial-range", "0 is below 1 (an integer ≥ 1 is needed)"),
    Broken({"trial": "1.5"}, "trial", "1.5", "type", f"1.5 {_FRACTION}; an integer is needed"),
    Broken({"trial": "null"}, "trial", "null", "type", "is null; an integer is needed (leave the key out where there is one trial)"),
    Broken({"trial": "true"}, "trial", "true", "type", "true is a boolean; an integer is needed"),
    Broken({"error": "false"}, "error", "false", "type", "false is a boolean; a string is needed"),
    Broken({"run": "7"}, "run", "7", "type", "7 is an integer; a string is needed"),
    Broken({"run": '""'}, "run", '""', "empty-run", "is empty; a name is needed"),
    # keys
    Broken({"uid": None}, "uid", None, "missing-key", "is missing"),
    Broken({"success": None}, "success", None, "missing-key", "is missing"),
    Broken({"steps": None}, "steps", None, "missing-key", f"is missing {_NOT_RECORDED}"),
    Broken({"skill_failures": None}, "skill_failures", None, "missing-key", f"is missing {_NOT_RECORDED}"),
    Broken({"reward": "0.50"}, "reward", "0.50", "unknown-key", "is not a key of a record (--extra keep keeps it as a column, --extra ignore drops it)"),
    Broken({"Error": '"e"'}, "Error", '"e"', "unknown-key", "is not a key of a record (did you mean error?)"),
]  # fmt: skip


def _name(broken: Broken) -> str:
    return ",".join(f"{key}={str(token)[:20]}" for key, token in broken.tokens.items())


@pytest.mark.parametrize("broken", BROKEN, ids=_name)
def test_a_broken_rule_is_named_with_its_place_and_value(write: Write, broken: Broken) -> None:
    write("x.jsonl", record("before"), written(**broken.tokens), record("after"))
    valid, _ = sf.check_tasks("x.jsonl")
    (fault,) = faults("x.jsonl")
    assert (fault.path, fault.line, fault.field) == ("x.jsonl", 2, broken.field)
    assert (fault.value, fault.rule, fault.severity) == (broken.value, broken.rule, "error")
    assert str(fault) == f"x.jsonl:2: {broken.field}: {broken.said}"
    assert valid["uid"].to_list() == ["before", "after"]

    with pytest.raises(sf.RecordError) as caught:
        sf.read_tasks("x.jsonl")
    error = caught.value
    assert str(error) == str(fault)
    assert (error.path, error.line, error.field) == ("x.jsonl", 2, broken.field)
    assert (error.value, error.rule) == (broken.value, broken.rule)


def test_negative_calls_are_below_the_range_and_below_the_failures(write: Write) -> None:
    write("x.jsonl", written(skill_calls="-1"))
    assert [(fault.field, fault.rule) for fault in faults("x.jsonl")] == [
        ("skill_calls", "skill-calls-range"),
        ("skill_failures", "failures-exceed-calls"),
    ]


def test_a_misspelt_key_is_unknown_and_the_right_one_missing(write: Write) -> None:
    write("x.jsonl", written(skill_failures=None, skill_fails="1"))
    assert texts("x.jsonl") == [
        f"x.jsonl:1: skill_failures: is missing {_NOT_RECORDED}",
        "x.jsonl:1: skill_fails: is not a key of a record (did you mean skill_failures?)",
    ]


@pytest.mark.parametrize(
    ("again", "values"),
    [
        ('"site": "gitlab"', '"gitlab", "gitlab"'),
        ('"site": "magento"', '"gitlab", "magento"'),
        (r'"\u0073ite": "gitlab"', '"gitlab", "gitlab"'),
        (r'"site": "\u0067itlab"', '"gitlab", "gitlab"'),
        ('"site": null', '"gitlab", null'),
        ('"site": "gitlab", "site": 1.50', '"gitlab", "gitlab", 1.50'),
    ],
)
def test_a_repeated_key_is_a_fault_even_when_the_values_agree(
    write: Write, again: str, values: str
) -> None:
    write("x.jsonl", record("before"), f"{written()[:-1]}, {again}}}")
    fault = faults("x.jsonl")[0]
    assert (fault.line, fault.field, fault.rule, fault.value) == (2, "site", "repeated-key", values)
    assert fault.message == f"is there {values.count(', ') + 1} times: {values}"


def test_a_repeated_optional_key_is_a_fault(write: Write) -> None:
    write(
        "x.jsonl", '{"trial": 1, "error": null, ' + written()[1:-1] + ', "error": null, "trial": 1}'
    )
    assert [(f.field, f.value) for f in faults("x.jsonl")] == [
        ("error", "null, null"),
        ("trial", "1, 1"),
    ]


def test_one_line_can_have_several_faults(write: Write) -> None:
    write("x.jsonl", written(uid="7", success="1", steps="true", trial="0.5", reward="1"))
    assert [fault.field for fault in faults("x.jsonl")] == [
        "reward",
        "uid",
        "success",
        "steps",
        "trial",
    ]


def test_null_in_part_of_a_run_is_a_fault_where_null_is(write: Write) -> None:
    calls = {"skill_calls": None, "skill_failures": None}
    write("x.jsonl", record("a"), record("b", steps=None), record("c", **calls), record("d"))
    why = "(null says that a whole run does not record it; 0 is a measurement; error excuses one record)"
    assert texts("x.jsonl") == [
        f'x.jsonl:2: steps: is null, and recorded in 3 other records of run "x" {why}',
        f'x.jsonl:3: skill_calls: is null, and recorded in 3 other records of run "x" {why}',
    ]


def test_null_in_a_whole_run_is_fine_whatever_other_runs_record(write: Write) -> None:
    calls = {"skill_calls": None, "skill_failures": None}
    write("awm.jsonl", record("a", **calls, steps=None), record("b", **calls, steps=None))
    write("asi.jsonl", record("a"), record("b"))
    assert sf.read_tasks(["awm.jsonl", "asi.jsonl"])["steps"].to_list() == [None, None, 3, 3]
    write("one.jsonl", record("a", **calls, run="awm"), record("a", run="asi"))
    assert sf.read_tasks("one.jsonl")["skill_calls"].to_list() == [None, 2]


def test_the_same_run_in_two_files_must_record_the_same(write: Write) -> None:
    write("1.jsonl", record("a", run="asi"))
    write("2.jsonl", record("b", run="asi", steps=None))
    assert [(f.path, f.line, f.field) for f in faults("1.jsonl", "2.jsonl")] == [
        ("2.jsonl", 1, "steps")
    ]


def test_an_errored_record_may_lack_every_number(write: Write) -> None:
    nothing = dict.fromkeys(("success", "steps", "skill_calls", "skill_failures"))
    write("x.jsonl", record("a"), record("b", **nothing, error="timeout"), record("c", error=" "))
    tasks = sf.read_tasks("x.jsonl")
    assert tasks.row(1)[5:] == (None, None, None, None, "timeout")
    assert tasks["error"].to_list() == [None, "timeout", " "]


def test_numbers_of_errored_records_alone_count_as_recorded(write: Write) -> None:
    write("x.jsonl", record("a", steps=None), record("b", error="timeout"))
    assert [(fault.line, fault.field) for fault in faults("x.jsonl")] == [(1, "steps")]


def test_an_empty_error_is_no_error(write: Write) -> None:
    write("x.jsonl", record("a", error=""), record("b", error=None), record("c"))
    assert sf.read_tasks("x.jsonl")["error"].to_list() == [None, None, None]


def test_optional_keys_have_defaults(write: Write) -> None:
    write("x.jsonl", record("a"), record("b", trial=2, run="own", error="e"), record("c", run=None))
    tasks = sf.read_tasks("x.jsonl")
    assert tasks.schema == sf.TASKS
    assert tasks.select("run", "trial", "error").rows() == [
        ("x", 1, None),
        ("own", 2, "e"),
        ("x", 1, None),
    ]


@pytest.mark.parametrize("steps", [0, 2**63 - 1])
def test_the_ends_of_the_range_are_in_it(write: Write, steps: int) -> None:
    write("x.jsonl", record(steps=steps, skill_calls=steps, skill_failures=steps, trial=2**63 - 1))
    assert sf.read_tasks("x.jsonl").select("trial", "steps", "skill_failures").row(0) == (
        2**63 - 1,
        steps,
        steps,
    )


def test_minus_zero_is_zero(write: Write) -> None:
    write("x.jsonl", written(steps="-0"))
    assert sf.read_tasks("x.jsonl")["steps"].item() == 0


@pytest.mark.parametrize(
    ("site", "uid", "condition"),
    [
        ("gitlab", "skillshift.gitlab.v1.3", "tgt-exec"),
        ("magento", "skillshift.magento.v2.0", "src"),
    ],
)
def test_a_uid_of_the_other_site_version_is_a_warning(
    write: Write, site: str, uid: str, condition: str
) -> None:
    write("x.jsonl", record("a"), record(uid, site=site, condition=condition))
    (fault,) = faults("x.jsonl")
    assert (fault.severity, fault.rule, fault.line, fault.value) == (
        "warning",
        "uid-version",
        2,
        f'"{uid}"',
    )
    said = (
        f'x.jsonl:2: warning: uid: "{uid}" is of the other site version than condition "{condition}" '
        "(v1 goes with src*, v2 with tgt*)"
    )
    assert str(fault) == said
    assert sf.check_tasks("x.jsonl")[0].height == 2
    with pytest.warns(sf.SkillshiftWarning) as caught:
        tasks = sf.read_tasks("x.jsonl")
    assert tasks.height == 2
    assert [str(warning.message) for warning in caught] == [said]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("site", "uid", "condition"),
    [
        ("wordpress", "skillshift.wordpress.v1.3", "tgt"),
        ("gitlab", "skillshift.gitlab.v1.3", "src-exec"),
        ("gitlab", "skillshift.gitlab.v2.3", "tgt-perc"),
        ("gitlab", "skillshift.gitlab.v1.3b", "tgt"),
        ("gitlab", "skillshift.gitlab.v3.3", "tgt"),
        ("gitlab", "skillshift.magento.3", "tgt"),
        ("gitlab", "skillshift.", "tgt"),
        ("gitlab", "my.skillshift.magento.v1.3", "src"),
        ("gitlab", "Tâche n° 1 👍", "tgt"),
        ("gitlab", " ", "tgt"),
    ],
)  # fmt: skip
def test_any_other_uid_is_accepted(write: Write, site: str, uid: str, condition: str) -> None:
    write("x.jsonl", record(uid, site=site, condition=condition))
    assert sf.read_tasks("x.jsonl")["uid"].item() == uid


def test_an_inferred_benchmark_knows_no_unknown_names(write: Write) -> None:
    write("x.jsonl", record(site="shop", condition="plain"))
    assert sf.read_tasks("x.jsonl", benchmark="infer")["site"].to_list() == ["shop"]


def test_an_inferred_benchmark_does_not_hide_an_empty_name(write: Write) -> None:
    write("x.jsonl", record("a", site=""), record("b", site="shop"))
    with pytest.raises(sf.RecordError, match=r"^x\.jsonl:1: site: is empty"):
        sf.read_tasks("x.jsonl", benchmark="infer")


def test_an_inferred_benchmark_refuses_a_name_that_is_both_site_and_condition(write: Write) -> None:
    write("x.jsonl", record("a", site="a", condition="b"), record("b", site="b", condition="a"))
    with pytest.raises(sf.BenchmarkError, match="'a' stands for more than one thing"):
        sf.read_tasks("x.jsonl", benchmark="infer")


def test_names_are_suggested_from_the_benchmark_in_use(write: Write) -> None:
    shop = sf.Benchmark("shop", sites={"cart": 2}, conditions=("plain",))
    write(
        "x.jsonl", record(site="Cart", condition="plain"), record(site="gitlab", condition="plain")
    )
    _, found = sf.check_tasks("x.jsonl", benchmark=shop)
    assert found["hint"].to_list() == [
        "did you mean cart?",
        "known are cart; --benchmark infer or FILE.toml reads another benchmark's records",
    ]


def test_a_key_that_would_forge_a_message_or_move_the_cursor_is_escaped(write: Write) -> None:
    forged = r"\u001b[2J\nx.jsonl:9: uid\u2028\u202e\ud800"
    write("x.jsonl", f'{written()[:-1]}, "{forged}": 1}}')
    found = texts("x.jsonl")
    assert len(found) == 2
    assert all(text.startswith(f"x.jsonl:1: {forged}: ") for text in found)
    assert all(text.isprintable() for text in found)


# Repeated records


def test_the_second_record_of_a_key_is_a_fault_that_names_both_places(write: Write) -> None:
    write("x.jsonl", record("a"), record("b"), record("a"))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.field, fault.value, fault.rule) == (
        3,
        "uid",
        '"a"',
        "repeated-record",
    )
    assert str(fault) == (
        'x.jsonl:3: uid: the record of "a", site "gitlab", condition "src", trial 1 (run "x") is already at '
        "x.jsonl:1 (the two are identical: remove one)"
    )


def test_of_records_that_share_a_key_none_is_valid(write: Write) -> None:
    write("x.jsonl", record("a"), record("b"), record("a", steps=4), record("a"))
    valid, found = sf.check_tasks("x.jsonl")
    assert valid["uid"].to_list() == ["b"]
    assert found["line"].to_list() == [3, 4]
    assert found["hint"].to_list() == [
        "they differ in steps: number the trials or remove one",
        "the two are identical: remove one",
    ]


def test_repeated_records_are_found_across_files_of_one_run(write: Write) -> None:
    write("s1.jsonl", record("a"), record("b"))
    write("s2.jsonl", record("c"), record("b", success=False, error="e"))
    assert sf.read_tasks(["s1.jsonl", "s2.jsonl"]).height == 4
    (fault,) = faults("s1.jsonl", "s2.jsonl", pool=True)
    assert (fault.path, fault.line) == ("s2.jsonl", 2)
    assert "already at s1.jsonl:2" in fault.message
    assert fault.hint == "they differ in success, error: number the trials or remove one"


def test_records_that_differ_in_any_part_of_the_key_are_not_repeated(write: Write) -> None:
    write(
        "x.jsonl",
        record("a"),
        record("a", trial=2),
        record("a", condition="tgt"),
        record("a", site="magento"),
        record("a", run="y"),
        record("A"),
    )
    assert sf.read_tasks("x.jsonl").height == 6


def test_a_trial_left_out_is_trial_1(write: Write) -> None:
    write("x.jsonl", record("a"), record("a", trial=1))
    assert [fault.rule for fault in faults("x.jsonl")] == ["repeated-record"]


def test_names_in_a_message_are_quoted_as_in_the_file(write: Write) -> None:
    write(
        "x.jsonl",
        record("a\n", run="r\x1b"),
        record("a\n", run="r\x1b"),
        record("b", steps=None, run="r\x1b"),
    )
    repeated, null = texts("x.jsonl")
    assert (
        r'the record of "a\n", site "gitlab", condition "src", trial 1 (run "r\u001b")' in repeated
    )
    assert r'other records of run "r\u001b"' in null


def test_a_record_can_be_repeated_and_break_another_rule(write: Write) -> None:
    write("x.jsonl", record("a", steps=-1), record("a", steps=-1))
    assert [(f.line, f.field) for f in faults("x.jsonl")] == [
        (1, "steps"),
        (2, "steps"),
        (2, "uid"),
    ]
