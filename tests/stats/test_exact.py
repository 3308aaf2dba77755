"""Means of ratios against fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, strategies as st

from skillshift_frames.stats.exact import mean_of_ratios, means_of_groups

# Products of such denominators are far beyond 64 bits, as those of many cells' calls are.
RATIOS = st.tuples(st.integers(0, 10**12), st.integers(1, 10**6))
GROUPS = st.slices(24)


def _mean(ratios: list[tuple[int, int] | None]) -> float | None:
    known = [Fraction(*ratio) for ratio in ratios if ratio is not None]
    return float(sum(known, Fraction()) / len(known)) if known else None


@given(st.lists(st.one_of(st.none(), RATIOS), max_size=24), st.lists(GROUPS, max_size=5))
def test_each_group_has_the_float_nearest_to_its_mean(
    ratios: list[tuple[int, int] | None], groups: list[slice]
) -> None:
    assert means_of_groups(ratios, groups) == [_mean(ratios[group]) for group in groups]


@given(st.lists(RATIOS, max_size=24))
def test_mean_is_the_nearest_float(ratios: list[tuple[int, int]]) -> None:
    assert mean_of_ratios(ratios) == _mean(list(ratios))
