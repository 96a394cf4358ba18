"""Runs in virtual time, and what reads their files; no rights are needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ethbus
from ethbus._program import run
from ethbus._scenario import toml
from ethbus.results import LABELS, Results


def test_results_have_what_the_json_has() -> None:
    options = ["--stations", 5, "--duration", "20ms", "--seed", 3]
    written = json.loads(ethbus.run("sim", *options, "--format", "json"))
    results = ethbus.sim(stations=5, duration="20ms", seed=3)
    assert results == Results.from_json(written) and results.json == written
    assert results.medium.utilization_total == written["medium"]["utilization_total"]
    assert results.station("st3").collisions == written["stations"][2]["collisions"]
    assert results.medium.access_delay.histogram == {
        int(delay): frames for delay, frames in written["medium"]["access_delay"]["histogram"].items()
    }
    assert results.trusted and results.emulator is None
    with pytest.raises(KeyError, match="no station is called `st9`"):
        results.station("st9")


@pytest.mark.parametrize("access", ["csma-cd", "plca", "csma", "csma-ca", "aloha", "slotted-aloha", "tdma"])
def test_no_member_of_the_json_is_unknown(access: str) -> None:
    """Every member is one of the class; `json` keeps those of later versions."""

    def unknown(record: object, members: object) -> list[str]:
        if isinstance(members, list):
            return [name for each, inner in zip(record, members) for name in unknown(each, inner)]
        if not isinstance(members, dict) or isinstance(record, dict):
            return []
        names = [name for name in members if not hasattr(record, name.replace("-", "_"))]
        for name in set(members) - set(names):
            names += unknown(getattr(record, name.replace("-", "_")), members[name])
        return names

    results = ethbus.sim(stations=4, access=access, duration="20ms")
    assert unknown(results, results.json) == []


def test_a_row_has_the_columns_of_csv() -> None:
    options = {"stations": 4, "duration": "20ms", "seed": 5, "access": "csma"}
    head, values = ethbus.run("sim", *ethbus._options(options), "--format", "csv").splitlines()
    columns = dict(zip(head.split(","), values.split(",")))
    row = ethbus.sim(**options).row()
    same = [name for name in row if name in columns]
    # The slot of CSV is the mean of a list in the JSON.
    assert (set(LABELS) & set(columns)) - {"ran_away_slot"} <= set(same)
    for name in same:
        assert row[name] == (float(columns[name]) if columns[name] else None), name


def test_results_are_shown_as_html() -> None:
    html = ethbus.sim(stations=3, duration="20ms")._repr_html_()
    assert "Utilization, with preambles and gaps" in html and "<td>st3</td>" in html and "delivered" in html


def test_a_scenario_is_a_mapping() -> None:
    scenario = {
        "seed": 7,
        "medium": {"topology": "bus:500m", "bursting": None},
        "station": [{"name": "ada"}, {"name": "b.c-d"}],
        "traffic": {"arrivals": "poisson:0.4"},
    }
    results = ethbus.sim(scenario, duration="20ms")
    assert [station.name for station in results.stations] == ["ada", "b.c-d"]
    assert (results.seed, results.config.topology) == (7, "bus")
    with pytest.raises(ethbus.Error, match="topologie"):
        ethbus.sim({"medium": {"topologie": "bus:500m"}})
    with pytest.raises(TypeError, match=r"`station\[0\].name`: a scenario takes no set"):
        ethbus.sim({"station": [{"name": {"ada"}}]})


def test_several_buses_have_results_of_each() -> None:
    def traffic(load: float, to: str) -> dict[str, str]:
        return {"arrivals": f"poisson:{load}", "destination": to}

    scenario = {
        "bus": {
            "one": {"stations": 2, "traffic": traffic(0.1, "two-1")},
            "two": {"stations": 2, "traffic": traffic(0.02, "one-1"), "medium": {"rate": "100M"}},
        },
        "bridge": [{"name": "sw", "joins": ["one", "two"]}],
    }
    results = ethbus.sim_buses(scenario, duration="20ms")
    assert list(results.buses) == ["one", "two"]
    assert results.buses["two"].config.rate_bits_per_second == 100_000_000
    assert results.buses["one"].station("sw").frames_transmitted_ok > 0
    assert [port.bus for port in results.bridges[0].ports] == ["one", "two"]
    assert {(crossing.from_, crossing.to) for crossing in results.crossings} == {("one", "two"), ("two", "one")}
    with pytest.raises(ValueError, match="sim_buses"):
        ethbus.sim(scenario, duration="20ms")
    with pytest.raises(ValueError, match="one bus"):
        ethbus.sim_buses({"stations": 2}, duration="20ms")


def test_texts_of_a_scenario_are_texts_of_toml() -> None:
    odd = 'quote " backslash \\ line\n tab\t bell\a delete\x7f \N{ELEPHANT}'
    text = toml({"a": odd, "b c": [1, 2.5, True, {"d": "e"}], "none": None})
    tomllib = pytest.importorskip("tomllib")
    assert tomllib.loads(text) == {"a": odd, "b c": [1, 2.5, True, {"d": "e"}]}


def test_a_frame_is_explained_and_a_page_made(tmp_path: Path) -> None:
    log = tmp_path / "run.events"
    ethbus.sim(stations=3, duration="10ms", warmup="0s", seed=7, events=log)
    story = ethbus.explain(log, "st1#1", short=True)
    assert "st1#1" in story
    assert ethbus.life(log, "st1#1")["station"] == "st1"
    page = ethbus.report(log, tmp_path / "run.html", at=5_000)
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_a_sweep_is_drawn(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    ethbus.run("sweep", "--set", "stations=2,4", "--duration", "10ms", "--out", table)
    picture = ethbus.plot(table, x="stations", y="utilization_total")
    assert picture.startswith("<svg") or picture.startswith("<?xml")
    assert picture._repr_svg_() == picture


def test_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    results = ethbus.sim(stations=3, duration="20ms")
    frame = results.frame()
    assert list(frame.index) == ["st1", "st2", "st3"]
    assert frame.collisions.sum() == sum(station.collisions for station in results.stations)
    rows = pandas.DataFrame(ethbus.sim(stations=count, duration="10ms").row() for count in (2, 3))
    assert len(rows) == 2 and rows.utilization_total.between(0, 1.01).all()


def test_a_changed_row_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    table = tmp_path / "runs.csv"

    def sweep(seeds: int) -> None:
        run("sweep", "--set", "stations=2,3", "--seeds", seeds, "--duration", "5ms", "--warmup", "1ms", "--out", table)

    sweep(1)
    sweep(2)
    assert len(ethbus.read(table)) == 4
    # As an interrupt leaves it: without the checksum of the whole, and with half a row.
    grid = Path(f"{table}.grid.json")
    grid.write_text(json.dumps({key: value for key, value in json.loads(grid.read_text()).items() if key != "rows_crc32"}))
    whole = table.read_text()
    table.write_text(whole[:-20])
    assert len(ethbus.read(table)) == 3
    lines = whole.splitlines()
    table.write_text("\n".join([*lines[:2], lines[2] + "1", *lines[3:], ""]))
    with pytest.raises(ValueError, match="row 2 was changed"):
        ethbus.read(table)


def test_a_wrong_option_says_what_would_be_right() -> None:
    with pytest.raises(ethbus.Error, match="--statoins"):
        ethbus.sim(statoins=3)
