"""Errors as objects: they say where, they can be caught by kind, and they travel between processes."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import polars as pl
import pytest

import skillshift_frames as sf
from tests.readers.conftest import record

if TYPE_CHECKING:
    from tests.readers.conftest import Write


@pytest.fixture
def error(write: Write) -> sf.RecordError:
    """Refuse a file with two faults."""
    write("x.jsonl", record("a", steps=-1), record("b", site="shop"))
    with pytest.raises(sf.RecordError) as caught:
        sf.read_tasks("x.jsonl")
    return caught.value


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (sf.RecordError, ValueError),
        (sf.InputError, ValueError),
        (sf.BenchmarkError, ValueError),
        (sf.OutputExistsError, FileExistsError),
    ],
)
def test_every_error_is_one_of_ours_and_the_builtin_of_its_kind(
    kind: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(kind, sf.SkillshiftError)
    assert issubclass(kind, builtin)
    assert issubclass(sf.SkillshiftWarning, UserWarning)


def test_a_record_error_carries_the_first_fault_and_all_of_them(error: sf.RecordError) -> None:
    assert (error.path, error.line, error.field) == ("x.jsonl", 1, "steps")
    assert (error.value, error.rule) == ("-1", "steps-range")
    assert error.faults.schema == sf.FAULTS
    assert error.faults["line"].to_list() == [1, 2]


def test_an_error_comes_back_whole_from_another_process(error: sf.RecordError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert isinstance(again, sf.RecordError)
        assert str(again) == str(error)
        assert again.faults.equals(error.faults)
        assert again.line == 1


def test_a_fault_without_a_line_or_hint_reads_well() -> None:
    fault = sf.Fault("x.jsonl", None, "file", None, "empty-file", "holds no record")
    assert str(fault) == "x.jsonl: file: holds no record"
    assert fault.severity == "error"


def test_a_fault_is_a_value() -> None:
    fault = sf.Fault("x.jsonl", 3, "steps", "-1", "steps-range", "is wrong", "mend it")
    assert fault == sf.Fault(**pl.DataFrame([fault]).row(0, named=True))
    assert len({fault, copy.copy(fault)}) == 1
    with pytest.raises(AttributeError):
        fault.line = 4  # type: ignore[misc]
