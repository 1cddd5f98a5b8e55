"""The picture of the house is that of the imports, and the page shows it as it is."""

import networkx as nx
import pytest

from paper_checks import house

pytestmark = pytest.mark.slow


def test_the_page_shows_the_house_as_it_is() -> None:
    page = house.PAGE.read_text(encoding="utf-8")
    assert page == house.drawn(page), "python -m paper_checks.house draws it anew"


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="page must have the marks <!-- house -->"):
        house.drawn("a page")
    with pytest.raises(ValueError, match="<!-- end of house -->"):
        house.drawn(f"a page\n{house.START}")


def test_what_stands_between_the_marks_is_replaced() -> None:
    page = f"above\n{house.START}\nan old picture\n{house.END}\nbelow\n"
    found = house.drawn(page)
    assert found.startswith(f"above\n{house.START}\n```mermaid\n")
    assert found.endswith(f"|\n{house.END}\nbelow\n")
    assert "an old picture" not in found


def test_reduction_keeps_what_is_reached_and_nothing_that_follows() -> None:
    graph = house.rooms()
    kept = house.reduced(graph)
    arrows = [
        nx.DiGraph((a, b) for a, used in part.items() for b in used) for part in (graph, kept)
    ]
    assert nx.transitive_closure_dag(arrows[1]).edges == nx.transitive_closure_dag(arrows[0]).edges
    assert kept == {name: set(nx.transitive_reduction(arrows[0])[name]) for name in graph}
    assert house.reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})["a"] == {"b"}


def test_every_room_says_what_it_holds() -> None:
    assert all(house.sentence(name) for name in house.rooms())
    assert house.sentence("theorems.checker").startswith("What accepts or refuses")
