"""Parameters that many functions take, each declared once.

A group of them is a frozen dataclass below :class:`Parameters`, whose fields are made by
:func:`parameter`: default, type in words, text and check. With it goes a ``TypedDict`` of the
same names, by which a function takes them::

    @public
    def recover_metrics(counts, *, threshold=None, **options: Unpack[MetricKeywords]): ...

Type checkers and editors read the ``TypedDict``. `public` gives the function a signature with all
parameters and defaults, writes their texts where its docstring says ``**options``, and refuses
other names. A function may write out its parameters as well: a line of names in its docstring is
replaced by their texts.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial, reduce
from typing import Any, Self

from purecover.exceptions import InvalidTypeError


@dataclass(frozen=True)
class Parameter:
    """The declaration of one parameter.

    Attributes
    ----------
    default : object
        Where it is left out; None is always allowed where it is the default.
    kind, text : str
        Its type and its meaning, as a docstring says them.
    check : callable or None
        ``check(name, value)`` complains, or gives the value in its plain form (or None where it
        is that). Limits are its keywords: ``check.keywords["low"]``.
    """

    default: Any
    kind: str
    text: str
    check: Callable[[str, Any], Any] | None

    def checked(self, name: str, value: Any) -> Any:
        """Check a value and return it in its plain form."""
        if self.check is None or (value is None and self.default is None):
            return value
        plain = self.check(name, value)
        return value if plain is None else plain

    def entry(self, name: str) -> str:
        """Return the entry of the parameter in a docstring."""
        value = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        default = "optional" if self.default is None else f"default={value}"
        text = textwrap.fill(self.text, 88, break_long_words=False, break_on_hyphens=False)
        return f"{name} : {self.kind}, {default}\n{textwrap.indent(text, '    ')}"


DECLARED: dict[str, Parameter] = {}
"""All of them by name: a name means the same wherever it stands."""


def parameter(
    default: Any, kind: str, text: str, check: Callable[[str, Any], Any] | None = None
) -> Any:
    """A field that declares a parameter."""
    declared = Parameter(default, kind, " ".join(text.split()), check)
    return dataclasses.field(default=default, metadata={"declared": declared})


def again(name: str) -> Any:
    """A field of a parameter that another group declares."""
    declared = DECLARED[name]
    return dataclasses.field(default=declared.default, metadata={"declared": declared})


def checked(
    default: Any, check: Callable[..., Any], *, optional: bool = False, **limits: Any
) -> Any:
    """A field of an estimator that is a dataclass: what ``check(name, value, **limits)`` allows.

    None is allowed too where it is the default, or where the parameter is ``optional``.
    """
    rule = Parameter(None if optional else default, "", "", partial(check, **limits))
    return dataclasses.field(default=default, metadata={"declared": rule})


def check_fields(estimator: Any) -> None:
    """Complain about parameters of an estimator whose fields were made by `checked`."""
    for each in getattr(estimator, "__dataclass_fields__", {}).values():
        if "declared" in each.metadata:
            each.metadata["declared"].checked(each.name, getattr(estimator, each.name))


class Parameters:
    """Base of groups of parameters: frozen dataclasses whose fields are made by `parameter`."""

    def __init_subclass__(cls) -> None:
        declared = {
            name: value.metadata["declared"]
            for name, value in vars(cls).items()
            if isinstance(value, dataclasses.Field)
        }
        twice = [name for name, own in declared.items() if DECLARED.get(name, own) is not own]
        if twice:
            raise TypeError(f"declared before: {', '.join(sorted(twice))}")
        DECLARED.update(declared)
        cls.__doc__ = described(cls.__doc__ or "", DECLARED)

    @classmethod
    def among(cls, options: Mapping[str, object]) -> Self:
        """Make the group of those keywords of a function that belong to it."""
        names = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: options[name] for name in names if name in options})

    def validated(self) -> Self:
        """Check every value that is not the default, and return the group with plain values."""
        values = {
            name: DECLARED[name].checked(name, value)
            for name, value in vars(self).items()
            if value is not DECLARED[name].default
        }
        return dataclasses.replace(self, **values)  # type: ignore[type-var]


def expanded(call: Callable[..., Any]) -> tuple[inspect.Signature, list[str]]:
    """Return a signature with the parameters behind ``**options: Unpack[...]``, and their names."""
    signature = inspect.signature(call)
    own = list(signature.parameters.values())
    words = str(own[-1].annotation) if own else ""
    if not words.startswith("Unpack["):
        return signature, []
    # Not typing.get_type_hints: other annotations may name types loaded for type checkers alone.
    first, *rest = words.removeprefix("Unpack[").removesuffix("]").split(".")
    group: Any = reduce(getattr, rest, call.__globals__[first])
    keywords = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=DECLARED[name].default,
            annotation=getattr(annotation, "__forward_arg__", annotation),
        )
        for name, annotation in group.__annotations__.items()
    ]
    whole = signature.replace(parameters=[*own[:-1], *keywords])
    return whole, [each.name for each in keywords]


def described(text: str, names: Collection[str], hidden: Sequence[str] = ()) -> str:
    """Return a docstring with the texts of parameters.

    They take the place of lines that consist of some of these ``names`` with commas between them,
    and those of ``hidden`` ones the place of ``**options``.
    """

    def written(found: re.Match[str]) -> str:
        listed = hidden if found[2].startswith("**") else found[2].split(", ")
        if not all(name in DECLARED and name in names for name in listed):
            return found[0]
        entries = "\n".join(DECLARED[name].entry(name) for name in listed)
        return textwrap.indent(entries, found[1])

    return re.sub(r"^( *)(\*\*\w+|\w+(?:, \w+)*)$", written, text, flags=re.MULTILINE)


def holder_of(name: str, known: Iterable[str]) -> tuple[str, Any] | None:
    """Return the parameter, among those known, whose value is a group with that parameter in it."""
    for each in known:
        check: Any = getattr(DECLARED.get(each), "check", None)
        kind = getattr(check, "keywords", {}).get("kind")
        if name in getattr(kind, "__dataclass_fields__", ()):
            return each, kind
    return None


def unexpected(
    given: Mapping[str, object], known: Iterable[str], shown: Callable[[object], str]
) -> InvalidTypeError:
    """Return an error about a keyword that a function does not take."""
    name = next(each for each in given if each not in known)
    near = get_close_matches(name, list(known), n=1, cutoff=0.75)
    hint = f"did you mean {near[0]!r}?" if near else None
    for inside in [name] if near else get_close_matches(name, list(DECLARED), cutoff=0.75):
        if found := holder_of(inside, known):
            holder, kind = found
            value = shown(given[name]) if inside == name else "..."
            hint = f"did you mean {holder}={kind.__name__}({inside}={value})?"
            break
    look = next((each for each in known if each.endswith("_kwargs")), None)
    if look and not near:
        hint = f"for the look of what is drawn pass {look}={{{name!r}: {shown(given[name])}}}"
    return InvalidTypeError(
        f"{{function}}() got an unexpected keyword argument {name!r}.", hint=hint
    )


def crowded(parameters: Mapping[str, inspect.Parameter], given: Sequence[Any]) -> InvalidTypeError:
    """Return an error about more arguments by position than a function takes."""
    names = [each.name for each in parameters.values() if each.kind is not each.KEYWORD_ONLY]
    if names[:1] in (["self"], ["cls"]):
        names, given = names[1:], given[1:]
    taken = f"{', '.join(names) or 'nothing'} by position"
    hint = "pass what follows by name"
    frame, *columns = given
    if len(columns) > 1 and _are_columns(frame, columns):
        *score, labeled = columns
        scores = score[0] if len(score) == 1 else score
        by_name = f"(frame, score={scores!r}, labeled={labeled!r})"
        if "score" in parameters:
            hint = "{function}" + by_name
        elif names[:1] in (["scores"], ["counts"]):
            hint = f"count the rows first, ScoreCounts.from_frame{by_name}"
    return InvalidTypeError(
        f"{{function}}() takes {taken}, got {len(given)} arguments.\nHint: {hint}"
    )


def _are_columns(frame: Any, names: Iterable[Any]) -> bool:
    """Whether the arguments after the first are names of its columns."""
    try:
        return all(isinstance(name, str) and frame[name] is not None for name in names)
    except Exception:  # noqa: BLE001 - no frame, or another one
        return False
