"""Runs the program ethbus and gives its JSON as objects: no binding, no second implementation.

    >>> import ethbus
    >>> ethbus.sim(stations=50, duration="2s").medium.utilization_total
    0.84...

Options are named as on the command line, with `_` for `-`. The program is the one in the wheel, else the one that
the environment variable ETHBUS names, else the one in PATH.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

__all__ = ["Error", "events", "program", "run", "sim", "sweep"]


class Error(RuntimeError):
    """ethbus ended with an error; `code` is its exit code, the text what it said."""

    def __init__(self, code, text):
        super().__init__(text.strip())
        self.code = code


def program():
    """The path of the program."""
    own = Path(__file__).parent / "bin" / "ethbus"
    if own.is_file():
        return str(own)
    found = os.environ.get("ETHBUS") or shutil.which("ethbus")
    if not found:
        raise FileNotFoundError("no program ethbus: put it into PATH, or name it in the environment variable ETHBUS")
    return found


def main():
    """The command `ethbus` of the wheel: becomes the program."""
    own = program()
    os.execv(own, [own, *sys.argv[1:]])


def run(*arguments):
    """Runs ethbus with these arguments, and gives what it writes to standard output."""
    ended = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Error(ended.returncode, ended.stderr)
    return ended.stdout


def _options(options):
    arguments = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(str(value))
    return arguments


def _objects(text):
    return json.loads(text, object_hook=lambda keys: SimpleNamespace(**keys))


def sim(scenario=None, **options):
    """One run in virtual time: the results of docs/results.md, as objects."""
    files = [scenario] if scenario is not None else []
    return _objects(run("sim", *files, "--format", "json", *_options(options)))


def events(path):
    """The events of a log, as `--events` wrote it: a pandas frame with a row for each."""
    import pandas

    with open(path, encoding="utf-8") as log:
        next(log)  # The header.
        return pandas.DataFrame(json.loads(line) for line in log)


def sweep(scenario=None, grid=None, **options):
    """A sweep over `grid`, like {"stations": [2, 4, 8]}: its table as a pandas frame."""
    import pandas

    sets = []
    for key, values in (grid or {}).items():
        sets += ["--set", f"{key}={','.join(map(str, values))}"]
    files = [scenario] if scenario is not None else []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "sweep.csv"
        run("sweep", *files, *sets, "--out", table, *_options(options))
        return pandas.read_csv(table)
