"""A lab that is up, over its control socket (docs/api.md); and labs that this process brings up and takes down."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from ._program import Error, options, program, run, run_json, scenario_file
from .results import Results

if TYPE_CHECKING:
    import sys

    from typing_extensions import Unpack

    from ._options import UpOptions
    from ._program import PathLike, Scenario

    if sys.version_info >= (3, 11):
        from typing import Self
    else:
        from typing_extensions import Self

# `read` ends with this process, however that ends: then the shell ends the lab, which cleans up. The shell itself holds no
# standard output, so that the end of the lab's is seen.
_GUARD = '"$@" < /dev/null & exec > /dev/null; read -r _; kill "$!" 2> /dev/null; wait "$!"'
# How long a lab may take to come up and to go down, in seconds: many times what 1,024 stations take.
_PATIENCE = 120.0

_count = itertools.count(1)


class ProgramFailed(subprocess.CalledProcessError):
    """A program in a station ended with an error; the text has what it wrote."""

    def __str__(self) -> str:
        written = "\n".join(text.rstrip() for text in (self.stdout, self.stderr) if text)
        return f"{super().__str__()}\n{written}".rstrip()


class Event(dict[str, Any]):
    """An event: a row of a trace (docs/trace.md), with its columns as members and as attributes."""

    @property
    def t(self) -> int:
        """When, in bit times since the medium began."""
        return int(self["t"])

    @property
    def kind(self) -> str:
        """What happened; of a deed, its word, like `fault`."""
        if self.get("layer") == "deed":
            return next(column for column in self if column not in ("t", "layer", "station"))
        return str(self["kind"])

    @property
    def station(self) -> Optional[str]:
        """Where."""
        return self.get("station")

    @property
    def frame(self) -> Optional[str]:
        """The frame, like `st1#3`."""
        return self.get("frame")

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"an event `{self.kind}` has no `{name}`: {', '.join(self)}") from None


class Program(subprocess.Popen[str]):
    """A program that runs in a station. The end of a `with` block ends it, and so does the end of the lab."""

    def end(self, patience: float = 2.0) -> int:
        """Ends it by SIGTERM, and by SIGKILL if it takes longer than `patience` seconds; gives its exit code."""
        if self.poll() is None:
            self.terminate()
            try:
                self.wait(patience)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.wait()

    def __exit__(self, *error: Any) -> None:
        self.end()
        super().__exit__(*error)


class _Connection:
    """One connection to a control socket: a line for each message."""

    def __init__(self, path: Path, timeout: Optional[float]) -> None:
        self.timeout = timeout
        self.octets = bytearray()
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(str(path))
        except OSError as error:
            self.socket.close()
            raise Error(1, f"no lab listens at {path}: {error.strerror}") from error

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = self.message(_within(_PATIENCE))
        if answer is None:
            raise Error(1, f"the lab ended before it answered `{method}`")
        if "error" in answer:
            raise Error(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def message(self, end: Optional[float]) -> Any:
        """The next message, or none after the last; a `TimeoutError` if it has not come by `end`."""
        while (place := self.octets.find(b"\n")) < 0:
            self.socket.settimeout(None if end is None else max(end - time.monotonic(), 0.001))
            try:
                more = self.socket.recv(1 << 16)
            except socket.timeout:
                raise TimeoutError("the lab sent nothing in time") from None
            if not more:
                return None
            self.octets += more
        line = bytes(self.octets[:place])
        del self.octets[: place + 1]
        return json.loads(line)

    def rest(self) -> Iterator[bytes]:
        """What comes after the messages, to the end."""
        yield bytes(self.octets)
        self.socket.settimeout(None)
        while more := self.socket.recv(1 << 16):
            yield more

    def close(self) -> None:
        self.socket.close()


def _within(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else time.monotonic() + timeout


class Events(Iterator[Event]):
    """The events of a lab from now on. `missed` counts those that the lab left out, since the reader was too slow."""

    missed: int = 0
    header: dict[str, Any]

    def __init__(self, connection: _Connection, kinds: Sequence[str], stations: Sequence[str], inputs: bool) -> None:
        self._connection = connection
        self._inputs = inputs
        self._ready: Iterator[dict[str, Any]] = iter(())
        wanted = {"kinds": list(kinds), "stations": list(stations)}
        self.header = connection.call("subscribe", {"events": wanted})["header"]

    def __next__(self) -> Event:
        end = _within(self._connection.timeout)
        while True:
            for event in self._ready:
                # The lab filters no inputs.
                if self._inputs or event.get("layer") != "deed":
                    return Event(event)
            try:
                # A message without events comes some twenty times a second.
                if end is not None and time.monotonic() > end:
                    raise TimeoutError
                told = self._connection.message(end)
            except TimeoutError:
                raise TimeoutError(f"no event within {self._connection.timeout} s") from None
            if told is None:
                raise StopIteration
            self.missed += told["params"]["missed"]
            self._ready = iter(told["params"]["events"])

    def close(self) -> None:
        """Ends the subscription."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Capture:
    """A capture in pcapng that goes on until `close`, the end of its `with` block, or the end of the lab."""

    def __init__(self, connection: _Connection, path: Path, params: Mapping[str, Any]) -> None:
        self.path = path
        self._connection = connection
        self._failure: Optional[OSError] = None
        self._file = open(path, "wb")
        try:
            connection.call("capture", params)
        except BaseException:
            self._file.close()
            path.unlink()
            connection.close()
            raise
        self._thread = threading.Thread(target=self._write, name=f"ethbus capture {path}", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        try:
            for octets in self._connection.rest():
                self._file.write(octets)
        except OSError as error:
            self._failure = error

    def close(self) -> None:
        """Ends the capture. What happened before this call is in the file then."""
        if self._file.closed:
            return
        try:
            self._connection.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The lab has ended, and with it the capture.
        self._thread.join()
        self._file.close()
        self._connection.close()
        if self._failure:
            raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Station:
    """A station of a lab that is up."""

    def __init__(self, lab: Lab, name: str, mac: str, addresses: Sequence[str]) -> None:
        self.lab = lab
        self.name = name
        self.mac = mac
        self.addresses = list(addresses)

    def __repr__(self) -> str:
        return f"<station {self.name} of lab {self.lab.name}: {', '.join([self.mac, *self.addresses])}>"

    def _address(self, mark: str) -> str:
        for address in self.addresses:
            if mark in address:
                return address
        raise LookupError(f"station {self.name} has no such address: {', '.join(self.addresses) or 'none at all'}")

    @property
    def ip(self) -> str:
        """Its IPv4 address."""
        return self._address(".")

    @property
    def ipv6(self) -> str:
        """Its IPv6 address."""
        return self._address(":")

    def command(self, arguments: Sequence[PathLike]) -> list[str]:
        """The command by which a program runs in this station, for tools that start programs by themselves."""
        if isinstance(arguments, str):
            raise TypeError(f"a program and its arguments are a list: {arguments.split()!r}")
        return [program(), "exec", "--name", self.lab.name, self.name, "--", *(os.fspath(each) for each in arguments)]

    def run(
        self,
        arguments: Sequence[PathLike],
        *,
        check: bool = True,
        timeout: Optional[float] = None,
        input: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[PathLike] = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program in the station to its end. Another exit code than 0 raises `ProgramFailed`, unless `check=False`."""
        command = self.command(arguments)
        ended = subprocess.run(
            command, check=False, timeout=timeout, input=input, env=env, cwd=cwd, text=True, capture_output=True
        )
        if check and ended.returncode != 0:
            raise ProgramFailed(ended.returncode, command[6:], ended.stdout, ended.stderr)
        return ended

    def start(self, arguments: Sequence[PathLike], **popen: Any) -> Program:
        """Starts a program in the station, which goes on beside the test: a server. Its output is in pipes, unless said otherwise."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **popen}
        started = Program(self.command(arguments), **settings)
        self.lab._programs.append(started)
        return started

    def wait_for_port(self, port: int, timeout: float = 10.0) -> None:
        """Waits until a program in the station listens at this port of TCP or UDP: `start` does not wait for that."""
        end = time.monotonic() + timeout
        files = [f"/proc/net/{name}" for name in ("tcp", "tcp6", "udp", "udp6")]
        while not _listens(self.run(["cat", *files], check=False).stdout, port):
            if time.monotonic() > end:
                raise TimeoutError(f"no program in station {self.name} listens at port {port} within {timeout} s")
            time.sleep(0.02)

    def remove(self) -> Results:
        """Has the station leave the lab; its counts stay in the results."""
        results = self.lab._changed("remove", station=self.name)
        self.lab._stations.pop(self.name, None)
        return results

    def set(self, **settings: Any) -> Results:
        """Sets what the station offers: `arrivals`, and with it `frame_size` and `destination` (docs/live.md)."""
        return self.lab._changed("set", station=self.name, **settings)

    def fault(self, fault: Optional[str]) -> Results:
        """Makes the station faulty, like `deaf` or `ber:1e-6`, or right again with `None`; gives the results after it."""
        return self.lab._changed("fault", station=self.name, fault=fault)

    def attach(self) -> Results:
        """Puts the station back on the medium."""
        return self.lab._changed("attach", station=self.name)

    def detach(self) -> Results:
        """Takes the station off the medium."""
        return self.lab._changed("detach", station=self.name)

    def plca(self, **settings: Any) -> Results:
        """Changes settings of PLCA: `enabled`, `node_id`, `node_cnt`, `to_tmr`, `burst_cnt`, `burst_tmr`, `dplca`; others stay."""
        now = self.lab.call("stats")["stations"]
        node = next(each for each in now if each["name"] == self.name).get("plca")
        if node is None:
            raise Error(1, f"station {self.name} has no PLCA: bring the lab up with access=\"plca\"")
        kept = {name: value for name, value in node.items() if name not in ("status", "counters", "noise_until_bt")}
        kept.update({name.replace("_", "-"): value for name, value in settings.items()})
        return self.lab._changed("plca", station=self.name, settings=kept)


def _listens(table: str, port: int) -> bool:
    """Whether a table like /proc/net/tcp has a socket of TCP that listens (0A), or one of UDP without a peer (07), at this port."""
    rows = (line.split() for line in table.splitlines())
    return any(row[1].endswith(f":{port:04X}") and row[3] in ("0A", "07") for row in rows if len(row) > 3)


class Lab(Mapping[str, Station]):
    """A lab that is up: a mapping of its stations. `connect` finds one, and `lab` brings one up."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.name: str = described["name"]
        self._control = Path(described["control"])
        self._stations: dict[str, Station] = {}
        self._programs: list[Program] = []
        for each in described["stations"]:
            self._stations[each["name"]] = Station(self, **each)

    def __repr__(self) -> str:
        return f"<lab {self.name}: {', '.join(self)}>"

    def __getitem__(self, station: str) -> Station:
        try:
            return self._stations[station]
        except KeyError:
            raise KeyError(f"no station is called `{station}`: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._stations)

    def __len__(self) -> int:
        return len(self._stations)

    def call(self, method: str, **params: Any) -> Any:
        """Calls a method of docs/api.md, and gives its result as JSON has it."""
        connection = _Connection(self._control, _PATIENCE)
        try:
            return connection.call(method, params)
        finally:
            connection.close()

    def _changed(self, method: str, **params: Any) -> Results:
        return Results.from_json(self.call(method, **params))

    def ethbus(self, command: str, *arguments: object) -> str:
        """Runs a command of ethbus on this lab, like `lab.ethbus("send", "--from", "st1")`, and gives what it prints."""
        return run(command, "--name", self.name, *arguments)

    def stats(self) -> Results:
        """The results so far."""
        return self._changed("stats")

    def events(
        self,
        kinds: Sequence[str] = (),
        stations: Sequence[str] = (),
        *,
        inputs: bool = False,
        timeout: Optional[float] = None,
    ) -> Events:
        """The events from now on, of these kinds and stations or of all.

        With `inputs=True` also what is done to the lab: `unplug`, `fault`, of all stations. A wait that takes longer than
        `timeout` seconds raises `TimeoutError`.
        """
        connection = _Connection(self._control, timeout)
        try:
            return Events(connection, kinds, stations, inputs)
        except BaseException:
            connection.close()
            raise

    def capture(self, path: PathLike, filter: str = "", *, plain: bool = False) -> Capture:
        """Captures from now on into a file in pcapng; `filter` and `plain` are those of `ethbus capture`."""
        connection = _Connection(self._control, _PATIENCE)
        return Capture(connection, Path(path), {"framing": "plain" if plain else "whole", "filter": filter})

    def add(self, name: Optional[str] = None, **keys: Any) -> Station:
        """Has a station join: `keys` are those of a `[[station]]` section, like `netns` (docs/api.md)."""
        given = {"name": name, **keys}
        made = self.call("add", **{key: value for key, value in given.items() if value is not None})
        addresses = [address.partition("/")[0] for address in made["addresses"]]
        station = Station(self, made["name"], made["mac"], addresses)
        self._stations[station.name] = station
        return station

    def set(self, **settings: Any) -> Results:
        """Sets `arrivals` of all stations together, the `queue` limit, the `filter`, the `link`, or `until`, the lab's end."""
        return self._changed("set", **settings)

    def cut(self, one: str, other: str) -> Results:
        """Cuts the cable halfway between two stations."""
        self.ethbus("cut", one, other)
        return self.stats()

    def mend(self) -> Results:
        """Mends the cable."""
        return self._changed("mend")

    def keep(self) -> Path:
        """Writes the last seconds of events, in a lab that was brought up with `keep`; gives the file."""
        return Path(self.call("keep")["file"])

    def down(self) -> Optional[Results]:
        """Takes the lab down; gives its last results."""
        self._end_programs()
        farewell = self.call("down")
        if farewell["failed"]:
            raise Error(1, farewell["says"])
        return Results.from_json(farewell["results"]) if farewell["results"] else None

    def _end_programs(self) -> None:
        while self._programs:
            self._programs.pop().end()


class OwnLab(Lab):
    """A lab that this process has brought up. It ends with its `with` block, or with this process, however that ends."""

    _last: Optional[Results] = None

    def __init__(self, scenario: Scenario | None, given: Mapping[str, Any]) -> None:
        given = {"name": f"py{os.getpid()}-{next(_count)}", **given}
        # A report of a lab that does not come up prints it all the same.
        self.name, self._stations = str(given["name"]), {}
        self._said = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")
        with scenario_file(scenario) as files:
            command = [program(), "up", "--format", "json", *options(given), *files]
            # Ctrl-C is for this process, which then takes the lab down.
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "ethbus", *command],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True, start_new_session=True,
            )  # fmt: skip
            self._finalize = weakref.finalize(self, _release, self._guard, os.getpid())
            try:
                described = _object(self._guard)
            except BaseException:
                self._finalize()
                raise
        if described is None:
            raise self._ended()
        super().__init__(described)

    @property
    def says(self) -> str:
        """The messages of ethbus so far."""
        self._said.seek(0)
        return self._said.read()

    def _ended(self) -> Error:
        self._finalize()
        return Error(self._guard.returncode, self.says or "the lab ended without a word")

    def down(self) -> Optional[Results]:
        """Takes the lab down; gives its last results. With `strict=True` a lab that is not to be trusted raises `Error`."""
        if not self._finalize.alive:
            return self._last
        self._end_programs()
        try:
            farewell = self.call("down")
        except Error:
            # It has ended by itself: by `ethbus down`, or by an error that it has written.
            farewell = {"results": _object(self._guard), "failed": False}
        self._finalize()
        self._last = Results.from_json(farewell["results"]) if farewell["results"] else None
        if self._guard.returncode != 0:
            raise Error(self._guard.returncode, self.says)
        return self._last

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], where: Optional[TracebackType]
    ) -> None:
        try:
            self.down()
        except Error as failure:
            if kind is None:
                raise
            warnings.warn(f"lab {self.name}: {failure}", stacklevel=2)


def _object(process: subprocess.Popen[str]) -> Any:
    """The next object that the program prints, or none if it has ended."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.rstrip() == "}":
            return json.loads("".join(lines))
    return None


def _release(process: subprocess.Popen[str], owner: int) -> None:
    """Lets the guard end the lab, and waits until everything is removed. A forked child owns no lab."""
    if os.getpid() != owner:
        return
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    # What it still prints, so that it does not wait for a reader.
    process.stdout.read()
    process.stdout.close()
    process.wait()


def lab(scenario: Scenario | None = None, **options: Unpack[UpOptions]) -> OwnLab:
    """Brings a lab up: `with ethbus.lab(stations=3, access="plca") as lab:`. It is down after the block.

    The scenario is the path of a file, or a mapping like `{"stations": 3, "medium": {"topology": "bus:500m"}}`. Options are
    those of `ethbus up`, with `_` for `-`.
    """
    return OwnLab(scenario, options)


def labs() -> list[str]:
    """The names of the labs that are up."""
    return [str(each["name"]) for each in _up()]


def connect(name: str) -> Lab:
    """The lab of this name, which is up already; it stays up."""
    for each in _up():
        if each["name"] == name:
            return Lab(each)
    raise Error(1, f"no lab called `{name}` is up; labs that are up: {', '.join(labs()) or 'none'}")


def _up() -> Iterable[Mapping[str, Any]]:
    return [each for each in run_json("list") if each["state"] == "up"]
