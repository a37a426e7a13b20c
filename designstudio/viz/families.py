"""How costs look in figures, and in which order: each of the paper's families of costs has a colour and a marker."""

from collections.abc import Iterable

from designstudio.model.costs import available_costs, find_family
from designstudio.model.costs.base import ASYMMETRIC, OTHER, SYMMETRIC, WITH_EFFORT
from designstudio.viz.theme import BLUE, GREEN, PURPLE, VERMILION, Series

# In the order of the paper.
FAMILY_LOOKS = {
    SYMMETRIC: Series("symmetric", BLUE, "o", "solid"),
    WITH_EFFORT: Series("symmetric with effort", VERMILION, "s", "solid"),
    ASYMMETRIC: Series("asymmetric", GREEN, "^", "solid"),
    OTHER: Series("other costs", PURPLE, "d", "solid"),
}


def get_look(cost: str) -> Series:
    """The look of a cost's family."""
    return FAMILY_LOOKS[find_family(cost)]


def order_costs(costs: Iterable[str]) -> list[str]:
    """Family by family, and within one as in the paper's table; other costs last, as they were given."""
    known = {cost: place for place, cost in enumerate(available_costs())}
    families = list(FAMILY_LOOKS)
    return sorted(costs, key=lambda cost: (families.index(find_family(cost)), known.get(cost, len(known))))


def list_families(costs: Iterable[str]) -> list[str]:
    """The families that some costs belong to, in the order of the paper."""
    found = {find_family(cost) for cost in costs}
    return [family for family in FAMILY_LOOKS if family in found]


def name_cost(cost: str, *, is_broken: bool = False) -> str:
    """A cost in words; broken into lines, it stands below a narrow column."""
    return cost.replace("_", "\n" if is_broken else " ")
