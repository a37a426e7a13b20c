"""Things of one kind by name: the package's own, and those that a user registers from outside."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from designstudio.errors import StudioError, UnknownNameError

Thing = TypeVar("Thing")


class Registry(Mapping[str, Thing]):
    """The package's own things first, in their order, then the user's.

    Args:
        kind: what messages call one of them, such as "cost".
        own: those of the package, which nobody can replace.
    """

    def __init__(self, kind: str, own: Mapping[str, Thing]) -> None:
        self.kind = kind
        self._own = dict(own)
        self._users: dict[str, Thing] = {}

    def __getitem__(self, name: str) -> Thing:
        return self._users[name] if name in self._users else self._own[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._own, *self._users])

    def __len__(self) -> int:
        return len(self._own) + len(self._users)

    def find(self, name: str) -> Thing:
        """The one called `name`.

        Raises:
            UnknownNameError: naming those there are.
        """
        if name not in self:
            raise UnknownNameError(self.kind, name, self)
        return self[name]

    def register(self, name: str, thing: Thing) -> None:
        """Add one of the user's; the same name again, as from a notebook's cell that is run twice, replaces it.

        Raises:
            StudioError: if the name belongs to the package, or is empty.
        """
        if not name or name in self._own:
            reason = f"belongs to a {self.kind} of the package" if name else "is empty"
            raise StudioError(f"The name {name!r} {reason}: choose another.")
        self._users[name] = thing

    def unregister(self, name: str) -> None:
        """Forget one of the user's."""
        self._users.pop(name, None)
