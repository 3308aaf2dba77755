"""Benchmarks: what makes one unusable, how it is read from TOML, and how it is read off the data."""

from __future__ import annotations

import copy
import pickle
import random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from pathlib import Path

SHOP: dict[str, Any] = {
    "name": "shop",
    "sites": {"cart": 12, "search": 30},
    "conditions": ("plain", "shifted"),
}


def test_skillshift_is_the_paper_s() -> None:
    assert dict(sf.SKILLSHIFT.sites) == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert sf.SKILLSHIFT.conditions == (
        "src",
        "src-perc",
        "src-exec",
        "tgt",
        "tgt-perc",
        "tgt-exec",
    )
    assert sf.SKILLSHIFT.expected == 2_130
    assert sf.SKILLSHIFT.slots == (
        "gitlab", "magento", "wordpress", "src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec", "overall",
    )  # fmt: skip
    assert [sf.SKILLSHIFT.title(slot) for slot in ("gitlab", "src-perc", "overall")] == [
        "GitLab",
        "Src-Perc",
        "overall",
    ]


def test_order_is_the_order_given() -> None:
    benchmark = sf.Benchmark("b", sites={"z": 1, "a": 2}, conditions=["y", "b"])  # type: ignore[arg-type]
    assert benchmark.slots == ("z", "a", "y", "b", "overall")
    assert benchmark.conditions == ("y", "b")
    assert benchmark.expected == 6


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sites": {}}, "it needs at least one site and one condition"),
        ({"conditions": ()}, "it needs at least one site and one condition"),
        ({"conditions": "plain"}, "conditions is 'plain'; several names are needed"),
        ({"sites": {"cart": 0}}, "site 'cart' has 0 tasks; a positive integer is needed"),
        ({"sites": {"cart": -3}}, "site 'cart' has -3 tasks; a positive integer is needed"),
        ({"sites": {"cart": 12.0}}, "site 'cart' has 12.0 tasks; a positive integer is needed"),
        ({"sites": {"cart": "12"}}, "site 'cart' has '12' tasks; a positive integer is needed"),
        ({"sites": {"cart": True}}, "site 'cart' has True tasks; a positive integer is needed"),
        ({"sites": {"cart": None}}, "site 'cart' has None tasks; a positive integer is needed"),
        ({"sites": {"": 1}}, "'' is not a name"),
        ({"sites": {" ": 1}}, "' ' is not a name"),
        ({"sites": {7: 1}}, "7 is not a name"),
        ({"conditions": ("plain", "")}, "'' is not a name"),
        ({"conditions": ("plain", None)}, "None is not a name"),
        ({"conditions": ("plain", "plain")}, "'plain' stands for more than one thing"),
        ({"conditions": ("plain", "cart")}, "'cart' stands for more than one thing"),
        ({"sites": {"overall": 1}}, "'overall' is a name that the table needs for itself"),
        ({"sites": {"run": 1}}, "'run' is a name that the table needs for itself"),
        ({"conditions": ("metric",)}, "'metric' is a name that the table needs for itself"),
        ({"titles": {"basket": "Basket"}}, "it gives a title to 'basket', which it does not have"),
        ({"titles": {"cart": 7}}, "the title of 'cart' is 7; a string is needed"),
        ({"titles": {"cart": ""}}, "the title of 'cart' is ''; a string is needed"),
    ],
)
def test_a_benchmark_that_contradicts_itself_is_refused(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(sf.BenchmarkError) as caught:
        sf.Benchmark(**(SHOP | change))
    assert str(caught.value) == f"benchmark 'shop': {problem}"


# One benchmark is shared by everything computed under it


def test_a_benchmark_cannot_be_changed() -> None:
    sites, titles = {"cart": 12}, {"cart": "Cart"}
    benchmark = sf.Benchmark("shop", sites=sites, conditions=("plain",), titles=titles)
    sites["search"], titles["plain"] = 1, "Plain"
    assert benchmark.slots == ("cart", "plain", "overall")
    assert benchmark.title("plain") == "plain"
    assert isinstance(benchmark.sites, MappingProxyType)
    with pytest.raises(AttributeError):
        benchmark.name = "other"  # type: ignore[misc]
    for mapping in (benchmark.sites, benchmark.titles):
        with pytest.raises(TypeError):
            mapping["cart"] = 1  # type: ignore[index]


def test_equal_benchmarks_are_one_key() -> None:
    one, same = sf.Benchmark(**SHOP), sf.Benchmark(**SHOP)
    other = sf.Benchmark(**(SHOP | {"sites": {"cart": 12, "search": 31}}))
    assert one == same
    assert one != other
    assert {one: "found"}[same] == "found"
    assert len({one, same, other, sf.SKILLSHIFT}) == 3


def test_a_benchmark_can_be_copied_and_sent_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps(sf.SKILLSHIFT))  # noqa: S301 - our own bytes
    for again in (sent, copy.copy(sf.SKILLSHIFT), copy.deepcopy(sf.SKILLSHIFT)):
        assert again == sf.SKILLSHIFT
        assert again.slots == sf.SKILLSHIFT.slots
        assert again.titles == sf.SKILLSHIFT.titles


# From a file


def _toml(folder: Path, text: str, name: str = "shop.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_a_benchmark_is_read_from_toml_in_the_file_s_order(tmp_path: Path) -> None:
    path = _toml(
        tmp_path,
        'name = "Läden"\nconditions = ["shifted", "plain"]\n[sites]\nsearch = 30\ncart = 12\n[titles]\ncart = "Cart"\n',
    )
    benchmark = sf.load_benchmark(path)
    assert (benchmark.name, benchmark.slots) == (
        "Läden",
        ("search", "cart", "shifted", "plain", "overall"),
    )
    assert (benchmark.expected, benchmark.title("cart")) == (84, "Cart")


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_a_benchmark_without_a_name_is_called_by_its_file(tmp_path: Path, as_path: Any) -> None:  # noqa: ANN401
    path = _toml(tmp_path, 'conditions = ["plain"]\nsites = {cart = 1}\n', "my.shop.toml")
    assert sf.load_benchmark(as_path(path)).name == "my.shop"


_SITES = "[sites]\ncart = 1\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_SITES, "conditions is missing"),
        ('conditions = ["plain"]\n', "sites is missing"),
        ("", "conditions is missing"),
        (
            'condition = ["plain"]\n' + _SITES,
            "unknown key 'condition' (known: name, conditions, sites, titles)",
        ),
        ('conditions = "plain"\n' + _SITES, "conditions is 'plain'; a TOML array is needed"),
        ('conditions = ["plain"]\nsites = ["cart"]\n', "sites is ['cart']; a TOML table is needed"),
        ('name = 7\nconditions = ["plain"]\n' + _SITES, "name is 7; a TOML string is needed"),
        (
            'conditions = ["plain"]\ntitles = "T"\n' + _SITES,
            "titles is 'T'; a TOML table is needed",
        ),
    ],
)
def test_a_file_of_the_wrong_shape_is_named_with_the_key(
    tmp_path: Path, text: str, said: str
) -> None:
    path = _toml(tmp_path, text)
    with pytest.raises(sf.BenchmarkError) as caught:
        sf.load_benchmark(path)
    assert str(caught.value) == f"benchmark {path}: {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conditions = []\n" + _SITES, "it needs at least one site and one condition"),
        ("conditions = [1]\n" + _SITES, "1 is not a name"),
        ('conditions = [["plain"]]\n' + _SITES, "['plain'] is not a name"),
        ('conditions = ["cart"]\n' + _SITES, "'cart' stands for more than one thing"),
        ('conditions = ["plain"]\n[sites]\ncart = 1.0\n', "site 'cart' has 1.0 tasks; a positive integer is needed"),
        ('conditions = ["plain"]\n[sites]\ncart = true\n', "site 'cart' has True tasks; a positive integer is needed"),
        ('conditions = ["plain"]\n[sites]\ncart = 1\n[titles]\ncat = "C"\n', "it gives a title to 'cat', which it does not have"),
    ],
)  # fmt: skip
def test_a_file_that_contradicts_itself_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = _toml(tmp_path, text)
    with pytest.raises(sf.BenchmarkError) as caught:
        sf.load_benchmark(path)
    assert str(caught.value) == f"{path}: benchmark 'shop': {said}"


@pytest.mark.parametrize(
    "text", ['conditions = ["plain"', "a = 1\na = 2\n", "\x00", '{"sites": {}}']
)
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str) -> None:
    path = _toml(tmp_path, text)
    with pytest.raises(sf.BenchmarkError) as caught:
        sf.load_benchmark(path)
    assert str(caught.value).startswith(f"benchmark {path}: not valid TOML: ")


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_bytes(b'name = "\xff"\n')
    with pytest.raises(sf.BenchmarkError, match="not valid TOML"):
        sf.load_benchmark(path)


def test_a_file_that_cannot_be_read_is_named_with_what_was_possible(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "no.toml", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(sf.BenchmarkError) as caught:
            sf.load_benchmark(path)
        assert str(caught.value) == (
            f"benchmark {path}: cannot be read: {reason} (skillshift, infer, or the path of a TOML file)"
        )


# From the data


def _tasks(*rows: tuple[str, str, str, str], **columns: Any) -> pl.DataFrame:  # noqa: ANN401
    return pl.DataFrame(
        rows, schema=["run", "site", "condition", "uid"], orient="row"
    ).with_columns(**columns)


def test_an_inferred_benchmark_has_the_names_in_alphabetical_order_and_the_fullest_cell() -> None:
    rows = [
        *(("a", "shop", "plain", f"s{index}") for index in range(2)),
        *(("b", "shop", "hard", f"s{index}") for index in range(3)),
        ("b", "shop", "hard", "s0"),  # another trial of the same task
        ("a", "Forum", "plain", "f0"),
        ("a", "forum", "éasy", "f1"),
    ]
    random.Random(0).shuffle(rows)  # noqa: S311 - the order of a test, not a secret
    benchmark = sf.resolve_benchmark("infer", _tasks(*rows))
    assert benchmark.name == "inferred"
    assert list(benchmark.sites.items()) == [("Forum", 1), ("forum", 1), ("shop", 3)]
    assert benchmark.conditions == ("hard", "plain", "éasy")


def test_a_benchmark_is_inferred_from_cells_as_from_tasks() -> None:
    tasks = _tasks(("a", "s", "x", "1"), ("a", "s", "x", "2"), ("a", "t", "y", "1")).with_columns(
        success=True, steps=1, skill_calls=0, skill_failures=0
    )
    tasks = sf.from_frame(tasks, benchmark="infer")
    from_tasks = sf.resolve_benchmark("infer", tasks)
    from_cells = sf.resolve_benchmark("infer", sf.cells(tasks, benchmark="infer"))
    assert from_cells == from_tasks
    assert dict(from_tasks.sites) == {"s": 2, "t": 1}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("a", "x", "s", "2"), "'s' stands for more than one thing"),
        (("a", "overall", "x", "2"), "'overall' is a name that the table needs for itself"),
        (("a", "s", "run", "2"), "'run' is a name that the table needs for itself"),
        (("a", " ", "x", "2"), "' ' is not a name"),
    ],
)
def test_names_that_no_table_can_have_are_not_inferred(
    row: tuple[str, str, str, str], said: str
) -> None:
    with pytest.raises(sf.BenchmarkError, match=f"^benchmark 'inferred': {said}"):
        sf.resolve_benchmark("infer", _tasks(("a", "s", "x", "1"), row))


def test_a_benchmark_is_resolved_by_name_object_or_path(tmp_path: Path) -> None:
    nothing = _tasks(("a", "s", "x", "1"))
    shop = sf.Benchmark(**SHOP)
    assert sf.resolve_benchmark("skillshift", nothing) is sf.SKILLSHIFT
    assert sf.resolve_benchmark(shop, nothing) is shop
    path = _toml(tmp_path, 'conditions = ["plain"]\n' + _SITES)
    assert sf.resolve_benchmark(path, nothing) == sf.resolve_benchmark(str(path), nothing)
    with pytest.raises(sf.BenchmarkError, match=r"^benchmark skilshift: cannot be read"):
        sf.resolve_benchmark("skilshift", nothing)
