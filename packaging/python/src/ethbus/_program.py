"""The program ethbus as a child process: where it is, its options, its errors, and scenarios as files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Union

from ._scenario import toml

if TYPE_CHECKING:
    PathLike = Union[str, os.PathLike[str]]
    Scenario = Union[PathLike, Mapping[str, Any]]


class Error(RuntimeError):
    """ethbus refused something; the text is what it said, `code` its exit code or the code of docs/api.md."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text.strip())
        self.code = code


def program() -> str:
    """The path of the program."""
    own = Path(__file__).parent / "bin" / "ethbus"
    if own.is_file():
        return str(own)
    found = os.environ.get("ETHBUS") or shutil.which("ethbus")
    if not found:
        raise FileNotFoundError("no program ethbus: put it into PATH, or name it in the environment variable ETHBUS")
    return found


def main() -> NoReturn:
    """The command `ethbus` of the wheel: becomes the program."""
    own = program()
    os.execv(own, [own, *sys.argv[1:]])


def run(*arguments: object) -> str:
    """Runs ethbus with these arguments, and gives what it writes to standard output."""
    ended = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Error(ended.returncode, ended.stderr)
    return ended.stdout


def run_json(*arguments: object) -> Any:
    """The same with the answer as JSON."""
    return json.loads(run(*arguments, "--format", "json"))


def options(given: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as options: `frame_size=64` is `--frame-size 64`, `from_=0` is `--from 0`, a list repeats its option."""
    arguments: list[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                arguments.append(option)
            elif each is not None and each is not False:
                # A value may begin with a dash.
                arguments.append(f"{option}={os.fspath(each) if isinstance(each, os.PathLike) else each}")
    return arguments


@contextmanager
def scenario_file(scenario: Scenario | None) -> Iterator[Sequence[str]]:
    """The argument for a scenario: none, the path of a file, or that of a file which has what the mapping says."""
    if scenario is None:
        yield []
    elif isinstance(scenario, Mapping):
        with tempfile.TemporaryDirectory(prefix="ethbus-") as folder:
            path = Path(folder) / "scenario.toml"
            path.write_text(toml(scenario), encoding="utf-8")
            yield [str(path)]
    else:
        yield [os.fspath(scenario)]
