"""The pytest plugin: a lab for a test, by the fixture `ethbus_lab` and the marker `ethbus`.

    @pytest.mark.ethbus(stations=3, access="plca")
    def test_my_program(ethbus_lab):
        ethbus_lab["st1"].run(["ping", "-c", "1", ethbus_lab["st2"].ip])

The report of a failed test has the verdict, the table of `ethbus stats` and the paths of capture and trace.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import pytest

from ._lab import OwnLab, lab
from ._program import Error

if TYPE_CHECKING:
    from ._program import Scenario

_FOLDER = "ethbus_folder"
_TITLE = "ethbus lab"


class EthbusWarning(pytest.PytestWarning):
    """A test passed on a lab that is not to be trusted: the machine did not keep up."""


_trial = pytest.StashKey["_Trial"]()


class _Trial:
    """A test's lab, and the folder of its files."""

    def __init__(self, own: OwnLab, folder: Path) -> None:
        self.lab = own
        self.folder = folder
        self.capture = folder / "lab.pcapng"
        self.events = folder / "lab.events"
        self.failed = False

    def section(self) -> tuple[str, str]:
        """The verdict, and what a reader of a failed test wants to see."""
        try:
            verdict, table = self.lab.stats().verdict, self.lab.ethbus("stats")
        except Error as error:
            verdict, table = "the lab has ended", f"{error}\n{self.lab.says}"
        files = f"capture: {self.capture}\nevents:  {self.events}    (ethbus explain {self.events})"
        return verdict, f"verdict: {verdict}\n{files}\n\n{table.rstrip()}\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(_FOLDER, "Where captures and traces of failed tests go [default: pytest's own folder]")
    group = parser.getgroup("ethbus")
    group.addoption("--ethbus-folder", metavar="FOLDER", help="keep captures and traces of failed tests here")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ethbus(scenario=None, **options): the lab of the fixture `ethbus_lab`: a file beside the test or a mapping, "
        "and options of `ethbus up` like stations=3",
    )


def _folder(request: pytest.FixtureRequest, factory: pytest.TempPathFactory) -> Path:
    """A folder of its own for each test."""
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in request.node.name)
    place = request.config.getoption("--ethbus-folder") or request.config.getini(_FOLDER)
    if not place:
        return factory.mktemp(f"ethbus-{name[:60]}-", numbered=True)
    parent = (request.config.rootpath / str(place)).absolute()
    parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1_000_000):
        try:
            (folder := parent / f"{name[:60]}-{number}").mkdir()
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(f"{parent}: remove captures of earlier runs")


def _scenario(node: pytest.Item, given: tuple[Any, ...]) -> Scenario | None:
    if len(given) > 1:
        raise pytest.UsageError(f"{node.nodeid}: the marker `ethbus` takes one scenario and options, not {given!r}")
    scenario: Scenario | None = given[0] if given else None
    if scenario is None or isinstance(scenario, Mapping):
        return scenario
    # A file is beside the test.
    return node.path.parent / scenario


@pytest.fixture
def ethbus_lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnLab]:
    """A lab of this test's own, as the marker `ethbus` describes it; it is down after the test."""
    marker: Optional[pytest.Mark] = request.node.get_closest_marker("ethbus")
    scenario = _scenario(request.node, marker.args if marker else ())
    folder = _folder(request, tmp_path_factory)
    files = {"pcapng": folder / "lab.pcapng", "events": folder / "lab.events"}
    try:
        own = lab(scenario, **{**files, **(marker.kwargs if marker else {})})
    except BaseException:
        shutil.rmtree(folder)
        raise
    trial = request.node.stash[_trial] = _Trial(own, folder)
    with own:
        yield own
    results = own.down()
    if trial.failed:
        return
    shutil.rmtree(folder)
    if results and not results.trusted:
        warnings.warn(EthbusWarning(f"this test passed, but {results.verdict}"), stacklevel=1)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Attaches verdict and capture to the report of a test that failed while its lab was up."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    trial = item.stash.get(_trial, None)
    if trial is None or not report.failed or call.when != "call":
        return
    trial.failed = True
    verdict, text = trial.section()
    report.sections.append((_TITLE, text))
    properties = [("ethbus_verdict", verdict), ("ethbus_capture", str(trial.capture)), ("ethbus_events", str(trial.events))]
    item.user_properties.extend(properties)
    report.user_properties.extend(properties)
