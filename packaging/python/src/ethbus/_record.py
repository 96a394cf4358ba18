"""What the classes of results share: they are made from JSON, and are shown as tables."""

from __future__ import annotations

import dataclasses
import functools
import html
import keyword
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

if TYPE_CHECKING:
    import pandas

    from .results import EmulatorResults, MediumResults, StationResults

R = TypeVar("R", bound="Record")


class Record:
    """An object of results. `json` has its members as they came, also those that this version does not know."""

    json: Mapping[str, Any]

    @classmethod
    def from_json(cls: type[R], members: Mapping[str, Any]) -> R:
        """From the members of an object in JSON; `node-id` there is `node_id` here, and `from` is `from_`."""
        if not isinstance(members, Mapping):
            raise ValueError(f"{members!r} is no {cls.__name__}: results of ethbus are objects of JSON")
        known = {name.replace("-", "_") + "_" * keyword.iskeyword(name): value for name, value in members.items()}
        record = cls(**{name: read(known.get(name)) for name, read in _readers(typing.cast(Any, cls))})
        object.__setattr__(record, "json", members)
        return record

    def numbers(self, prefix: str = "") -> Iterator[tuple[str, Union[int, float, None]]]:
        """Every number in it under the name of its column, with that of its object before it: `access_delay_mean_bt`."""
        for name, is_number in _members(typing.cast(Any, type(self))):
            value = getattr(self, name)
            if isinstance(value, Record):
                yield from value.numbers(f"{prefix}{name}_")
            elif is_number:
                yield prefix + name, value


Reader = Callable[[Any], Any]


@functools.lru_cache(maxsize=None)
def _readers(cls: Any) -> list[tuple[str, Reader]]:
    hints = typing.get_type_hints(cls)
    return [(field.name, _reader(hints[field.name])) for field in dataclasses.fields(cls)]


@functools.lru_cache(maxsize=None)
def _members(cls: Any) -> list[tuple[str, bool]]:
    """Each member, and whether it is a number or none."""
    numbers = (int, float, Optional[int], Optional[float])
    hints = typing.get_type_hints(cls)
    return [(field.name, hints[field.name] in numbers) for field in dataclasses.fields(cls)]


def _reader(hint: Any) -> Reader:
    """How a value of this type is read; a member that is absent comes as `None`."""
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union:
        inner = _reader(of[0])
        return lambda value: None if value is None else inner(value)
    if origin is list:
        each = _reader(of[0])
        return lambda values: [each(value) for value in values or ()]
    if origin is dict:
        key, value = of[0] if of[0] is int else str, _reader(of[1])
        return lambda members: {key(name): value(member) for name, member in (members or {}).items()}
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json
    if hint is Any:
        return lambda value: value
    return lambda value: hint() if value is None else hint(value)


class Run(Record):
    """What all results of a run can do."""

    if TYPE_CHECKING:
        medium: MediumResults
        stations: list[StationResults]
        emulator: Union[EmulatorResults, None]
        seed: int

    @property
    def verdict(self) -> str:
        """Whether to trust a live run: `trusted`, or what exceeds the tolerance. A run in virtual time is always trusted."""
        return (self.emulator.verdict if self.emulator else None) or "trusted"

    @property
    def trusted(self) -> bool:
        """Whether the machine kept up."""
        return self.verdict == "trusted"

    def station(self, name: str) -> StationResults:
        """The station of this name."""
        for station in self.stations:
            if station.name == name:
                return station
        raise KeyError(f"no station is called `{name}`: {', '.join(each.name for each in self.stations)}")

    def row(self) -> dict[str, Union[int, float, None]]:
        """The metrics of the medium, flat, under the names of `--format csv`: `pandas.DataFrame(run.row() for run in runs)`."""
        numbers = {name: value for name, value in self.medium.numbers() if not name.startswith(("ci95_", "cut_"))}
        return {"seed": self.seed, **numbers}

    def frame(self) -> pandas.DataFrame:
        """The counters and delays of the stations: a pandas frame with a row for each, which its name indexes."""
        import pandas

        return pandas.DataFrame({"station": each.name, **dict(each.numbers())} for each in self.stations).set_index("station")

    def _repr_html_(self) -> str:
        """For notebooks: the verdict of a live run, the metrics, and the counters that are not 0 at every station."""
        from .results import LABELS

        metrics = self.row()
        figures = [[words, metrics.get(name), unit] for name, (words, unit) in LABELS.items()]
        counters = [dict(station.numbers()) for station in self.stations]
        names = [name for name in counters[0] if not name.endswith("_bt")] if counters else []
        columns = [name for name in names if any(each[name] for each in counters)]
        stations = [[station.name, *map(each.get, columns)] for station, each in zip(self.stations, counters)]
        verdict = f"<p>{html.escape(self.verdict)}</p>" if self.emulator else ""
        return verdict + _table(["metric", "", "unit"], [row for row in figures if row[1] is not None]) + _table(["station", *columns], stations)


def _table(head: list[str], rows: list[list[Any]]) -> str:
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = ("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{names}</tr>{''.join(lines)}</table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else html.escape(str(value))
