"""A scenario as a mapping, written as TOML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(scenario: Mapping[str, Any]) -> str:
    """A line for each key of a scenario like `{"stations": 3, "medium": {"topology": "bus:500m"}}`; `None` is left out.

    A section is an inline table, so that each error of ethbus names the line of one key.
    """
    return "".join(f"{_key(key)} = {_value(key, value)}\n" for key, value in scenario.items() if value is not None)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a scenario's keys are texts, and {key!r} is none")
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON escapes what TOML does, but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return _text(os.fspath(value))
    if isinstance(value, Mapping):
        members = (f"{_key(name)} = {_value(f'{key}.{name}', each)}" for name, each in value.items() if each is not None)
        return "{ " + ", ".join(members) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(f"{key}[{place}]", each) for place, each in enumerate(value)) + "]"
    raise TypeError(f"`{key}`: a scenario takes no {type(value).__name__}: write a text, number, truth, list or mapping")
