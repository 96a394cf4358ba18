"""Runs the program ethbus and gives its JSON as objects: no binding, no second implementation.

    >>> import ethbus
    >>> ethbus.sim(stations=50, duration="2s").medium.utilization_total
    0.84...
    >>> with ethbus.lab(stations=3, access="plca") as lab:
    ...     answer = lab["st1"].run(["ping", "-c", "1", lab["st2"].ip])
    ...     lab.stats().station("st1").collisions
    0

Options are named as on the command line, with `_` for `-`. The program is the one in the wheel, else the one that
the environment variable ETHBUS names, else the one in PATH.
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import results
from ._lab import Capture, Event, Events, Lab, OwnLab, Program, ProgramFailed, Station, connect, lab, labs
from ._program import Error, main, options as _options, program, run, run_json as _json, scenario_file as _file
from ._study import Picture, Story, explain, life, plot, report
from .results import BridgedResults, Results
from .table import read, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas
    from typing_extensions import Unpack

    from ._options import SimOptions, SweepOptions
    from ._program import PathLike, Scenario

__all__ = [
    "BridgedResults", "Capture", "Error", "Event", "Events", "Lab", "OwnLab", "Picture", "Program", "ProgramFailed",
    "Results", "Station", "Story", "connect", "events", "explain", "lab", "labs", "life", "main", "plot", "program", "read",
    "report", "results", "run", "sim", "sim_buses", "sweep",
]  # fmt: skip

try:
    __version__ = version("ethbus")
except PackageNotFoundError:  # Used from the source tree.
    __version__ = "0"


def sim(scenario: Scenario | None = None, **options: Unpack[SimOptions]) -> Results:
    """One run in virtual time, of a scenario as a file or a mapping: the results of docs/results.md, as objects."""
    results = _sim(scenario, options)
    if "buses" in results:
        raise ValueError("the scenario has several buses: call `ethbus.sim_buses`, which gives the results of each")
    return Results.from_json(results)


def sim_buses(scenario: Scenario, **options: Unpack[SimOptions]) -> BridgedResults:
    """One run in virtual time of a scenario with several buses: what docs/bridge.md describes, as objects."""
    results = _sim(scenario, options)
    if "buses" not in results:
        raise ValueError("the scenario has one bus: call `ethbus.sim`")
    return BridgedResults.from_json(results)


def _sim(scenario: Scenario | None, options: Mapping[str, object]) -> Any:
    with _file(scenario) as files:
        return _json("sim", *_options(options), *files)


def events(path: PathLike) -> pandas.DataFrame:
    """The events of a log, as `--events` wrote it: a pandas frame with a row for each."""
    import pandas

    with open(path, encoding="utf-8") as log:
        next(log)  # The header.
        return pandas.DataFrame(json.loads(line) for line in log)


def sweep(
    scenario: Scenario | None = None,
    grid: Mapping[str, Iterable[object]] | None = None,
    executor: Any = None,
    rows_per_task: int | None = None,
    **options: Unpack[SweepOptions],
) -> pandas.DataFrame:
    """A sweep over `grid`, like {"stations": [2, 4, 8]}: its table as a pandas frame.

    With an `executor`, tasks of `rows_per_task` runs go to its `submit`, whose results have `result()`: those of
    concurrent.futures, of Dask (`Client.get_executor()`), submitit and mpi4py do. The frame is the same.
    """
    import pandas

    sets: list[str] = []
    for key, values in (grid or {}).items():
        sets += ["--set", f"{key}={','.join(map(str, values))}"]
    with _file(scenario) as files, tempfile.TemporaryDirectory() as folder:
        if executor is not None:
            return spread([*files, *sets, *_options(options)], executor, rows_per_task)
        table = Path(folder) / "sweep.csv"
        run("sweep", *files, *sets, "--out", table, *_options(options))
        return pandas.read_csv(table)
