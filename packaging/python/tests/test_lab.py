"""The package against labs in namespaces: tests/house of the project runs these in an environment of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ethbus
from ethbus.results import DelayResults

SCRIPT = Path(__file__).parent / "keeps_a_lab.py"


def wait_until(what: str, holds, patience: float = 20.0) -> None:
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {patience} s"
        time.sleep(0.02)


def ping(lab: ethbus.Lab, source: str, target: str) -> None:
    lab[source].run(["ping", "-q", "-c", "1", "-W", "5", lab[target].ip], timeout=20)


def test_a_lab_carries_frames_and_counts_them() -> None:
    with ethbus.lab(stations=3, access="plca") as lab:
        assert list(lab) == ["st1", "st2", "st3"]
        ping(lab, "st1", "st2")
        results = lab.stats()
        st1 = results.station("st1")
        assert st1.frames_transmitted_ok >= 2, "an ARP request and an echo"
        assert st1.plca is not None and st1.plca.node_id == 0 and isinstance(st1.access_delay, DelayResults)
        assert results.config.name == lab.name and lab.name in ethbus.labs()
        assert results.emulator is not None and len(results.emulator.links) == 3
        last = lab.down()
    assert last is not None and last.measured_bit_times >= results.measured_bit_times
    assert lab.name not in ethbus.labs()


def test_events_faults_and_captures(tmp_path: Path) -> None:
    capture = tmp_path / "lab.pcapng"
    with ethbus.lab(stations=2) as lab, lab.events(["delivered"], inputs=True, timeout=20) as events:
        with lab.capture(capture, filter="frames"):
            ping(lab, "st1", "st2")
        assert lab["st2"].fault("bad_fcs").station("st2").fault == "bad_fcs"
        assert lab["st2"].fault(None).station("st2").fault is None
        assert not lab["st2"].detach().station("st2").attached
        kinds: list[str] = []
        for event in events:
            kinds.append(event.kind)
            if event.kind == "unplug":
                assert event.unplug == "st2" and event.layer == "deed"
                break
            if event.kind != "delivered":
                continue
            assert event.size >= 64 and event.frame.startswith(("st1#", "st2#"))
        assert {"delivered", "fault"} < set(kinds) and events.missed == 0
        with pytest.raises(AttributeError, match="an event `unplug` has no `slots`"):
            event.slots
    octets = capture.read_bytes()
    assert octets.startswith(b"\x0a\x0d\x0d\x0a") and socket.inet_aton("10.77.0.2") in octets


def test_a_wait_for_an_event_ends() -> None:
    with ethbus.lab(stations=2) as lab, lab.events(["collision"], timeout=0.3) as events:
        with pytest.raises(TimeoutError, match=r"no event within 0\.3 s"):
            next(events)


def test_plca_changes_one_setting_and_keeps_the_others() -> None:
    with ethbus.lab(stations=2, access="plca", to_timer=40) as lab:
        before = lab.stats().station("st2").plca
        after = lab["st2"].plca(burst_cnt=3).station("st2").plca
        assert before is not None and after is not None
        assert (before.to_tmr, before.burst_cnt, after.to_tmr, after.burst_cnt) == (40, 0, 40, 3)


def test_stations_join_and_leave() -> None:
    with ethbus.lab(stations=2) as lab, lab.events(["delivered"], inputs=True, timeout=20) as events:
        late = lab.add("late")
        assert list(lab) == ["st1", "st2", "late"] and late.mac
        lab["st1"].run(["ping", "-q", "-c", "1", "-W", "5", late.ip], timeout=20)
        ping(lab, "late", "st1")
        sent = lab.stats().station("late").frames_transmitted_ok
        assert sent >= 2
        results = lab["late"].remove()
        assert list(lab) == ["st1", "st2"]
        assert results.station("late").frames_transmitted_ok >= sent, "its counts stay"
        kinds = []
        while "remove" not in kinds:
            kinds.append(next(events).kind)
        assert "add" in kinds
        with pytest.raises(ethbus.Error, match="st9"):
            lab.call("remove", station="st9")


def test_a_server_is_waited_for() -> None:
    with ethbus.lab(stations=2) as lab:
        server = "import socket; s = socket.create_server(('', 7000)); c, _ = s.accept(); c.sendall(b'hello')"
        lab["st2"].start([sys.executable, "-c", server])
        lab["st2"].wait_for_port(7000)
        client = f"import socket; print(socket.create_connection(('{lab['st2'].ip}', 7000)).recv(5))"
        assert lab["st1"].run([sys.executable, "-c", client]).stdout == "b'hello'\n"
        with pytest.raises(TimeoutError, match="no program in station st1 listens at port 7001 within 0.1 s"):
            lab["st1"].wait_for_port(7001, timeout=0.1)


def test_a_cable_is_cut_and_mended() -> None:
    with ethbus.lab({"stations": 2, "medium": {"topology": "bus:500m"}}) as lab:
        assert lab.cut("st1", "st2").medium.cut is not None
        assert lab["st1"].run(["ping", "-c", "1", "-W", "1", lab["st2"].ip], check=False).returncode != 0
        assert lab.mend().medium.cut is None
        ping(lab, "st1", "st2")


def test_programs_of_a_station_end_with_the_lab() -> None:
    with ethbus.lab(stations=2) as lab:
        with lab["st1"].start(["sleep", "1000"]) as first:
            assert first.poll() is None
        assert first.returncode == -signal.SIGTERM
        second = lab["st2"].start(["sleep", "1000"])
    assert second.returncode == -signal.SIGTERM


def test_a_program_that_fails_shows_what_it_wrote() -> None:
    with ethbus.lab(stations=2) as lab:
        with pytest.raises(ethbus.ProgramFailed, match="cannot access '/no/such/file'"):
            lab["st1"].run(["ls", "/no/such/file"])
        with pytest.raises(TypeError, match=r"a program and its arguments are a list: \['ls', '/'\]"):
            lab["st1"].run("ls /")
        with pytest.raises(subprocess.TimeoutExpired):
            lab["st1"].run(["sleep", "1000"], timeout=0.2)


def test_a_lab_that_is_up_already_stays_up() -> None:
    with ethbus.lab(stations=2) as lab:
        other = ethbus.connect(lab.name)
        ping(other, "st2", "st1")
        assert other["st1"].mac == lab["st1"].mac
        del other
        assert lab.stats().trusted in (True, False)
        # Another program takes it down.
        last = ethbus.connect(lab.name).down()
        assert last is not None and last.station("st2").frames_transmitted_ok > 0
        own = lab.down()
        assert own is not None and own.stations == last.stations
    with pytest.raises(ethbus.Error, match=f"no lab called `{lab.name}` is up"):
        ethbus.connect(lab.name)
    with pytest.raises(ethbus.Error, match="no lab listens at"):
        lab.stats()


@pytest.mark.parametrize(
    ("scenario", "options", "says"),
    [
        (None, {"stations": 0}, "how many stations|1 to 1024|1 .* 1024"),
        (None, {"no_such_option": 1}, "--no-such-option"),
        ({"medium": {"topology": "ring"}}, {}, "ring"),
        ({"stations": 2, "medium": {"rat": "10M"}}, {}, "rat"),
        ("no/such/file.toml", {}, "no/such/file.toml"),
    ],
)  # fmt: skip
def test_a_wrong_lab_is_refused_with_what_would_be_right(scenario, options, says) -> None:
    before = ethbus.labs()
    with pytest.raises(ethbus.Error, match=f"(?s){says}") as refused:
        ethbus.lab(scenario, **options)
    assert refused.value.code in (1, 2)
    assert ethbus.labs() == before


def test_the_methods_name_what_is_wrong() -> None:
    with ethbus.lab(stations=2) as lab:
        with pytest.raises(KeyError, match="no station is called `st3`: st1, st2"):
            lab["st3"]
        with pytest.raises(ethbus.Error, match="explode"):
            lab["st1"].fault("explode")
        with pytest.raises(ethbus.Error, match="has no PLCA"):
            lab["st1"].plca(to_tmr=20)
        with pytest.raises(ethbus.Error, match="--keep"):
            lab.keep()
        with pytest.raises(ethbus.Error, match="nonsense"):
            lab.capture("never.pcapng", filter="nonsense")
        assert not os.path.exists("never.pcapng")


def started(folder: Path, how: str) -> tuple[subprocess.Popen[str], str]:
    """A script with a lab, and the lab's name."""
    script = subprocess.Popen([sys.executable, str(SCRIPT), how], stdout=subprocess.PIPE, text=True, cwd=folder)
    assert script.stdout is not None
    return script, script.stdout.readline().strip()


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_script_leaves_nothing(tmp_path: Path, signal_: signal.Signals) -> None:
    script, name = started(tmp_path, "wait")
    assert name in ethbus.labs()
    script.send_signal(signal_)
    script.wait(20)
    if signal_ == signal.SIGINT:
        assert name not in ethbus.labs(), "KeyboardInterrupt takes the lab down before the script ends"
    wait_until("the lab is gone", lambda: name not in ethbus.run("list"))
    namespaces = Path("/run/netns")
    left = [path.name for path in namespaces.glob(f"{name}-*")] if namespaces.is_dir() else []
    assert left == []


def test_a_script_that_forgets_its_lab_leaves_nothing(tmp_path: Path) -> None:
    script, name = started(tmp_path, "forget")
    assert script.wait(20) == 0 and name.startswith("py")
    assert name not in ethbus.run("list")


def test_an_exception_takes_the_lab_down_and_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        with ethbus.lab(stations=2) as lab:
            1 // 0
    assert lab.name not in ethbus.labs()
