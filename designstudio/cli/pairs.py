"""Options that are written like NAME=VALUE."""

from collections.abc import Sequence

from designstudio.errors import StudioError


def split_pair(text: str, option: str, like: str, *, may_be_empty: bool = False) -> tuple[str, str]:
    """The two sides of a NAME=VALUE, of which the value may be empty where that means something."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and (value or may_be_empty)):
        raise StudioError(f"{option} is written like {like}, but {text!r} was given.")
    return name, value


def split_pairs(texts: Sequence[str], option: str, like: str) -> dict[str, str]:
    """Values by name, each named once.

    Raises:
        StudioError: if one is not written so, or a name stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, value = split_pair(text, option, like)
        if name in found:
            raise StudioError(f"{option} names {name!r} twice: name it once.")
        found[name] = value
    return found
