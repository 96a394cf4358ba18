"""Commands that read what runs have written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from ._program import options, run, run_json

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._options import ExplainOptions, PlotOptions, ReportOptions
    from ._program import PathLike


class Picture(str):
    """An SVG picture: a text that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: PathLike) -> None:
        """Writes it into a file."""
        Path(path).write_text(self, encoding="utf-8")


class Story(str):
    """A text of `ethbus explain`, which a notebook shows as it is."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def explain(events: PathLike, frame: Optional[str] = None, **given: Unpack[ExplainOptions]) -> Story:
    """The life of one frame of a trace in words: `explain("run.events", "st2#17")`, or `pick="collisions=3"`."""
    return Story(run("explain", os.fspath(events), *options({"frame": frame, **given})))


def life(events: PathLike, frame: Optional[str] = None, **given: Unpack[ExplainOptions]) -> Any:
    """The same as data, as `ethbus explain --format json` has it."""
    return run_json("explain", os.fspath(events), *options({"frame": frame, **given}))


def plot(table: PathLike | pandas.DataFrame | None = None, **given: Unpack[PlotOptions]) -> Picture:
    """A figure of a sweep's table, a CSV file or a pandas frame: `plot(runs, x="stations", y="utilization_total")`."""
    with tempfile.TemporaryDirectory(prefix="ethbus-") as folder:
        picture = Path(folder) / "plot.svg"
        files: list[str] = []
        if table is not None and not isinstance(table, (str, os.PathLike)):
            files = [str(Path(folder) / "table.csv")]
            table.to_csv(files[0], index=False)
        elif table is not None:
            files = [os.fspath(table)]
        run("plot", *files, "--out", picture, *options(given))
        return Picture(picture.read_text(encoding="utf-8"))


def report(runs: PathLike | Sequence[PathLike], out: PathLike, **given: Unpack[ReportOptions]) -> Path:
    """A page of runs: traces, or results as JSON; two runs are side by side. Gives the page's path."""
    files = [runs] if isinstance(runs, (str, os.PathLike)) else runs
    run("report", *(os.fspath(file) for file in files), "--out", os.fspath(out), *options(given))
    return Path(out)
