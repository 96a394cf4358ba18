"""Runs the program ethbus and gives its JSON as objects: no binding, no second implementation.

    >>> import ethbus
    >>> ethbus.sim(stations=50, duration="2s").medium.utilization_total
    0.84...

Options are named as on the command line, with `_` for `-`. The program is the one in the wheel, else the one that
the environment variable ETHBUS names, else the one in PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas

    PathLike = str | os.PathLike[str]

from .table import read, spread

__all__ = ["Error", "events", "program", "read", "run", "sim", "sweep"]

try:
    __version__ = version("ethbus")
except PackageNotFoundError:  # Used from the source tree.
    __version__ = "0"


class Error(RuntimeError):
    """ethbus ended with an error; `code` is its exit code, the text what it said."""

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


def _options(options: Mapping[str, Any]) -> list[str]:
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(str(value))
    return arguments


def _objects(text: str) -> Any:
    return json.loads(text, object_hook=lambda keys: SimpleNamespace(**keys))


def sim(scenario: PathLike | None = None, **options: Any) -> Any:
    """One run in virtual time: the results of docs/results.md, as objects."""
    files = [scenario] if scenario is not None else []
    return _objects(run("sim", *files, "--format", "json", *_options(options)))


def events(path: PathLike) -> pandas.DataFrame:
    """The events of a log, as `--events` wrote it: a pandas frame with a row for each."""
    import pandas

    with open(path, encoding="utf-8") as log:
        next(log)  # The header.
        return pandas.DataFrame(json.loads(line) for line in log)


def sweep(
    scenario: PathLike | None = None,
    grid: Mapping[str, Iterable[object]] | None = None,
    executor: Any = None,
    rows_per_task: int | None = None,
    **options: Any,
) -> pandas.DataFrame:
    """A sweep over `grid`, like {"stations": [2, 4, 8]}: its table as a pandas frame.

    With an `executor`, tasks of `rows_per_task` runs go to its `submit`, whose results have `result()`: those of
    concurrent.futures, of Dask (`Client.get_executor()`), submitit, mpi4py and Ray's pools do. The frame is the same.
    """
    import pandas

    sets: list[str] = []
    for key, values in (grid or {}).items():
        sets += ["--set", f"{key}={','.join(map(str, values))}"]
    files = [os.path.abspath(scenario)] if scenario is not None else []
    if executor is not None:
        return spread([*files, *sets, *_options(options)], executor, rows_per_task)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "sweep.csv"
        run("sweep", *files, *sets, "--out", table, *_options(options))
        return pandas.read_csv(table)
