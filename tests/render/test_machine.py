"""JSON as Python's own encoder would indent it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillshift_frames.render.machine import to_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)),
)


@given(st.dictionaries(TEXTS, VALUES))
def test_indents_as_python_does(content: dict[str, Any]) -> None:
    assert to_json(content) == json.dumps(content, ensure_ascii=False, indent=2) + "\n"


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_refuses_what_json_has_no_number_for(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json({"value": [number]})
