"""Orders: blocks that are counterbalanced over participants, and trials in random order.

Blocks follow the Latin squares of Williams (1949): in every square each condition stands once in each place, and over the
whole cycle each condition follows each other one equally often. A cycle takes as many participants as there are conditions,
or twice as many if their number is odd.

Trials are drawn one after the other from those that are left, each as likely as any other: without a limit that is a plain
shuffle. With a limit on repeats, trials after which the rest could not be completed are passed over, and where counting
alone does not see a dead end, the search goes back.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from designstudio.errors import StudioError

# Beyond this many steps a search begins anew: early choices, not late ones, were unlucky.
NUM_ATTEMPTS = 10
STEPS_PER_TRIAL = 20
FEWEST_STEPS = 1000


class Kind(NamedTuple):
    """Which trials count as repeats of each other: those with equal entries. An entry of None equals no other.

    Attributes:
        condition: which condition, where several share a block.
        value: which stimulus, where there are few.
    """

    condition: int | None
    value: float | None


class OrderError(StudioError):
    """An order that does not exist, or could not be found."""


def order_blocks(num_conditions: int, participant: int) -> list[int]:
    """The order of a participant's conditions; participants and conditions are counted from 0."""
    # 0, 1, n-1, 2, n-2, ...: neighbours differ by every number once, so that shifting all by one gives every pair.
    first = [0] + [
        place // 2 + 1 if place % 2 == 0 else num_conditions - place // 2 - 1 for place in range(num_conditions - 1)
    ]
    is_mirrored = num_conditions % 2 == 1 and (participant // num_conditions) % 2 == 1
    row = [(condition + participant) % num_conditions for condition in first]
    return row[::-1] if is_mirrored else row


def find_smallest_limit(kinds: Sequence[Kind]) -> tuple[int, int, int | float | None]:
    """How many repeats in a row cannot be avoided, by counting.

    Returns:
        The number of trials in a row, which entry of a kind it comes from, and the label that is so frequent.
    """
    worst: tuple[int, int, int | float | None] = (1, 0, None)
    for place in range(len(Kind._fields)):
        for label, num in Counter(kind[place] for kind in kinds if kind[place] is not None).items():
            # So many gaps are there between and around the others.
            num_gaps = len(kinds) - num + 1
            worst = max(worst, (math.ceil(num / num_gaps), place, label), key=lambda entry: entry[0])
    return worst


def order_trials(blocks: Sequence[Sequence[Kind]], *, max_repeats: int | None, rng: np.random.Generator) -> list[list[Kind]]:
    """The trials of each block in random order.

    Args:
        blocks: kinds of the trials of each block, in the order of the blocks.
        max_repeats: how many trials in a row may be alike, also from the end of one block to the start of the next.
        rng: random numbers.

    Raises:
        OrderError: if there is no such order, or none was found.
    """
    num_steps = FEWEST_STEPS + STEPS_PER_TRIAL * sum(len(block) for block in blocks)
    dead_ends: set[tuple[object, ...]] = set()
    for _ in range(NUM_ATTEMPTS):
        search = _Search(blocks, max_repeats, rng, dead_ends)
        found = search.run(num_steps)
        if found is not None:
            ends = np.cumsum([len(block) for block in blocks])
            return [found[end - len(block) : end] for end, block in zip(ends, blocks, strict=True)]
        if search.is_exhausted:
            raise OrderError(f"there is no order of the trials with at most {max_repeats} alike in a row")
    raise OrderError(
        f"no order of the trials with at most {max_repeats} alike in a row was found in {NUM_ATTEMPTS} searches"
    )


# The last label of each entry of a kind, and how many trials in a row it has been.
_Runs = tuple[tuple[int | float | None, int], ...]
_START: _Runs = ((None, 0),) * len(Kind._fields)


class _Search:
    """One attempt to find an order, trial by trial, going back from dead ends."""

    def __init__(
        self,
        blocks: Sequence[Sequence[Kind]],
        limit: int | None,
        rng: np.random.Generator,
        dead_ends: set[tuple[object, ...]],
    ) -> None:
        self._limit = limit
        self._rng = rng
        self._blocks = [number for number, block in enumerate(blocks) for _ in block]
        self._left = [Counter(block) for block in blocks]
        # What is dead once is dead in every attempt.
        self._dead = dead_ends
        self.is_exhausted = False

    def run(self, num_steps: int) -> list[Kind] | None:
        """All trials in order; None if there is no such order or the steps ran out."""
        sequence: list[Kind] = []
        runs = [_START]
        options = [self._choose(0, _START)]
        for _ in range(num_steps):
            if len(sequence) == len(self._blocks):
                return sequence
            kind = next(options[-1], None)
            if kind is not None:
                self._left[self._blocks[len(sequence)]][kind] -= 1
                sequence.append(kind)
                runs.append(_extend(runs[-1], kind))
                options.append(self._choose(len(sequence), runs[-1]))
                continue
            self._dead.add(self._describe(len(sequence), runs[-1]))
            if not sequence:
                self.is_exhausted = True
                return None
            options.pop()
            runs.pop()
            kind = sequence.pop()
            self._left[self._blocks[len(sequence)]][kind] += 1
        return sequence if len(sequence) == len(self._blocks) else None

    def _choose(self, place: int, runs: _Runs) -> Iterator[Kind]:
        """What may come next, in random order: the more of a kind are left, the earlier it is likely to come."""
        if place == len(self._blocks) or self._describe(place, runs) in self._dead:
            return iter(())
        left = self._left[self._blocks[place]]
        kinds = [kind for kind, num in left.items() if num]
        # The earliest of so many independent waits, for each kind.
        waits = -np.log1p(-self._rng.random(len(kinds))) / [left[kind] for kind in kinds]
        return (kinds[i] for i in np.argsort(waits, kind="stable") if self._allows(left, runs, kinds[i]))

    def _allows(self, left: Mapping[Kind, int], runs: _Runs, kind: Kind) -> bool:
        """Whether a kind may come next, and the rest of its block thereafter, as far as counting tells."""
        if self._limit is None:
            return True
        after = _extend(runs, kind)
        if any(length > self._limit for _, length in after):
            return False
        num_left = sum(left.values()) - 1
        for place, (last, length) in enumerate(after):
            nums: Counter[int | float] = Counter()
            for other, num in left.items():
                label = other[place]
                if label is not None:
                    nums[label] += num - (other == kind)
            for label, num in nums.items():
                started = length if label == last else 0
                if num > self._limit * (num_left - num + 1) - started:
                    return False
        return True

    def _describe(self, place: int, runs: _Runs) -> tuple[object, ...]:
        """All that decides what can still follow."""
        if place == len(self._blocks):
            return (place,)
        return place, tuple(self._left[self._blocks[place]].values()), runs


def _extend(runs: _Runs, kind: Kind) -> _Runs:
    return tuple(
        (label, 0 if label is None else length + 1 if label == last else 1)
        for label, (last, length) in zip(kind, runs, strict=True)
    )
