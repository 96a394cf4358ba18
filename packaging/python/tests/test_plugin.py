"""The plugin: a lab by fixture and marker, and what the report of a failed test holds."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import ethbus


@pytest.mark.ethbus(stations=3, access="plca")
def test_a_marker_describes_the_lab(ethbus_lab: ethbus.OwnLab) -> None:
    assert len(ethbus_lab) == 3
    assert ethbus_lab.stats().station("st1").plca is not None


@pytest.mark.ethbus({"station": [{"name": "ada"}, {"name": "bob"}]}, seed=5)
def test_a_marker_takes_a_scenario(ethbus_lab: ethbus.OwnLab) -> None:
    assert list(ethbus_lab) == ["ada", "bob"] and ethbus_lab.stats().seed == 5


def test_no_marker_is_a_lab_of_defaults(ethbus_lab: ethbus.OwnLab) -> None:
    assert len(ethbus_lab) == 4


FAILS = """
import pytest

@pytest.mark.ethbus("lab.toml")
def test_fails(ethbus_lab):
    ethbus_lab["ada"].run(["ping", "-c", "1", "-W", "5", ethbus_lab["bob"].ip])
    assert ethbus_lab.stats().station("ada").frames_transmitted_ok == 0

@pytest.mark.ethbus(stations=2)
def test_passes(ethbus_lab):
    pass

@pytest.mark.ethbus(stations=2)
def test_its_lab_ends(ethbus_lab):
    import ethbus
    ethbus.connect(ethbus_lab.name).down()
    assert False
"""


def test_a_lab_that_does_not_come_up_is_reported_with_its_own_error(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text("import ethbus\ndef test_none():\n    ethbus.lab(stations=2, name='no lab')\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--showlocals", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 1 and "<lab no lab: >" in ended.stdout, ended.stdout + ended.stderr
    assert "AttributeError" not in ended.stdout, ended.stdout


def test_a_failed_test_has_verdict_and_capture(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "test_fails.py").write_text(FAILS)
    (suite / "lab.toml").write_text("[[station]]\nname = 'ada'\n[[station]]\nname = 'bob'\n")
    kept, junit = tmp_path / "kept", tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--ethbus-folder={kept}", f"--junitxml={junit}"]
    ended = subprocess.run([*command, str(suite)], capture_output=True, text=True, cwd=suite, check=False)
    assert ended.returncode == 1 and "2 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    capture = kept / "test_fails-1" / "lab.pcapng"
    for words in ("- ethbus lab -", "verdict: ", f"capture: {capture}", "verdict: the lab has ended"):
        assert words in ended.stdout, f"no {words!r} in {ended.stdout}"
    assert capture.read_bytes().startswith(b"\x0a\x0d\x0d\x0a") and capture.stat().st_size > 500
    # The log goes to `explain` as it is.
    assert "ada#1" in ethbus.explain(capture.with_name("lab.events"), list=True)
    assert sorted(path.name for path in kept.iterdir()) == ["test_fails-1", "test_its_lab_ends-1"], "files of failed tests"
    properties = {each.get("name"): each.get("value") for each in ElementTree.parse(junit).iter("property")}
    assert {"ethbus_verdict", "ethbus_capture", "ethbus_events"} <= set(properties), properties
