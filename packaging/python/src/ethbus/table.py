"""Tables of sweeps: a folder of Parquet files as a frame, and the rows of a grid on any executor."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas

    PathLike = str | os.PathLike[str]

TABLES = ("runs", "stations", "series", "frames", "events")
_NAME = re.compile(r"([a-z]+)-\d+-\d+-([0-9a-f]{8})\.parquet")


def files(folder: PathLike, table: str = "runs") -> list[Path]:
    """The files of a table in a folder that `ethbus sweep --out FOLDER/` writes, in order. One that was changed is an error."""
    if table not in TABLES:
        raise ValueError(f"a folder has no table {table!r}: write one of {', '.join(TABLES)}")
    found = []
    for path in sorted(Path(folder).rglob("*.parquet")):
        name = _NAME.fullmatch(path.name)
        if path.name.startswith(".") or (name and name[1] in TABLES and name[1] != table):
            continue
        if not name or name[1] != table:
            raise ValueError(f"{path}: no sweep wrote a file of this name: move it elsewhere")
        crc32 = zlib.crc32(path.read_bytes())
        if crc32 != int(name[2], 16):
            raise ValueError(f"{path}: it was changed since the sweep wrote it: its CRC-32 was {name[2]} and is {crc32:08x}")
        found.append(path)
    if not found:
        wish = "" if table == "runs" else f" --tables {table}"
        raise FileNotFoundError(f"{folder} has no {table}: give the folder of `ethbus sweep --out FOLDER/{wish}`")
    return found


def read(folder: PathLike, table: str = "runs") -> pandas.DataFrame:
    """The runs of a sweep: of a folder that `ethbus sweep --out FOLDER/` writes, in the order of the grid, or of a CSV file.

    `table` is one of `--tables` that the sweep of the folder had: `stations`, `series`, `frames` or `events`. The folder may
    still grow. A table that was changed is an error. `attrs` of a folder's frame has `units` and `definitions`, each by the name
    of the column. A folder needs pandas and pyarrow, a file pandas alone.
    """
    import pandas

    if not Path(folder).is_dir():
        if table != "runs":
            raise ValueError(f"{folder} is a file and has no table {table!r}: give the folder of a sweep")
        return _read_csv(Path(folder))
    import pyarrow.dataset as dataset
    import pyarrow.fs as fs

    options = dataset.FileSystemFactoryOptions(
        partition_base_dir=str(folder), partitioning=dataset.HivePartitioning.discover()
    )
    paths = [str(path) for path in files(folder, table)]
    factory = dataset.FileSystemDatasetFactory(fs.LocalFileSystem(), paths, dataset.ParquetFileFormat(), options)
    whole = factory.finish(factory.inspect(fragments=None)).to_table()
    frame: pandas.DataFrame = whole.to_pandas().sort_values("run", ignore_index=True, kind="stable")
    metadata = {field.name: field.metadata or {} for field in whole.schema}
    for key, of in (("units", b"unit"), ("definitions", b"definition")):
        frame.attrs[key] = {name: texts[of].decode() for name, texts in metadata.items() if of in texts}
    return frame


def _read_csv(path: Path) -> pandas.DataFrame:
    import pandas

    beside, content = Path(f"{path}.grid.json"), path.read_bytes()
    if beside.exists():
        grid = json.loads(beside.read_text(encoding="utf-8"))
        written, found = grid.get("rows_crc32"), zlib.crc32(content)
        if written is not None and found != written:
            raise ValueError(f"{path}: it was changed since the sweep wrote it: its CRC-32 was {written:08x} and is {found:08x}")
        # Half a line is of a sweep that still writes, or was killed.
        content = content[: content.rfind(b"\n") + 1]
        checksums = _row_checksums(Path(f"{path}.log.jsonl"), len(grid["seeds"]))
        for line in content.splitlines()[1:]:
            number, _, rest = line.partition(b",")
            found = zlib.crc32(rest)
            if not number.isdigit() or checksums.get(int(number), found) != found:
                raise ValueError(f"{path}: row {number.decode()} was changed since the sweep wrote it")
    return pandas.read_csv(io.BytesIO(content))


def _row_checksums(log: Path, seeds: int) -> dict[int, int]:
    """The CRC-32 of each row without its number, from a sweep's log; combinations have `seeds` seeds now, once fewer."""
    checksums: dict[int, int] = {}
    own = seeds
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "format" in entry:
            own = entry["seeds"]
            if entry.get("fresh"):
                checksums.clear()
        elif "crc32" in entry:
            point, seed = divmod(entry["run"] - 1, own)
            checksums[point * seeds + seed + 1] = int(entry["crc32"], 16)
    return checksums


def rows(arguments: Sequence[str], first: int, last: int) -> str:
    """Rows of a grid as CSV with a header: what one task of an executor does."""
    from . import run

    return run("sweep", *arguments, "--rows", f"{first}..{last}", "--jobs", 1)


def spread(arguments: Sequence[str], executor: Any, rows_per_task: int | None = None) -> pandas.DataFrame:
    """The whole grid, in tasks that `executor.submit` takes: the frame is that of one sweep."""
    import pandas

    from . import run

    listed = list(csv.reader(io.StringIO(run("sweep", *arguments, "--list"))))
    count = len(listed) - 1
    # Some hundred tasks balance the load, and each is long beside what starts it.
    step = rows_per_task or max(1, count // 256)
    spans = [(first, min(first + step - 1, count)) for first in range(1, count + 1, step)]
    futures = [executor.submit(rows, list(arguments), first, last) for first, last in spans]
    parts = [future.result() for future in futures]
    text = parts[0] + "".join(part.split("\n", 1)[1] for part in parts[1:])
    return pandas.read_csv(io.StringIO(text))
