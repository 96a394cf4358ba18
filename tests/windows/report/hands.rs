//! The page of `ethbus report` in a browser, as hands use it: keys, a change of the scenario, paper, dark and light.

use super::{CABLE, Runs, logged, plca};
use crate::common::browser::{self, Page};
use crate::common::skip;
use crate::page::{MEASURE, page};
use serde_json::json;

/// The page of these runs in a browser; nothing where there is none, or no engine.
fn shown(runs: &Runs, files: &[&str]) -> Option<Page> {
    if !browser::is_there() {
        skip("needs chromium");
        return None;
    }
    page()?;
    runs.report(files, &[]);
    let mut page = Page::open(&runs.path("report.html"), runs.folder.path());
    page.wait_for("window.bus !== undefined && bus.benches().length > 0");
    Some(page)
}

/// The page opens on a collision and tells it; keys go on; the life of a frame is that of `explain`; one change of the
/// scenario makes another run beside.
#[test]
fn hands_find_a_collision_and_change_one_thing() {
    let runs = Runs::new("a", &CABLE);
    let Some(mut page) = shown(&runs, &["a.events"]) else { return };
    let said = page.value("document.querySelector('.sentence').textContent");
    assert!(said.as_str().is_some_and(|said| said.starts_with("4 stations of CSMA/CD on a bus")), "{said}");
    let first = logged(&runs, "a.events").iter().find(|event| event["kind"] == "collision").expect("one")["t"].clone();
    page.value("bus.benches()[0].go(0); document.querySelector('.picture').focus()");
    page.press("c");
    assert_eq!(page.value("bus.benches()[0].state.now"), first);
    assert_eq!(page.value("document.querySelectorAll('.rows li.collision').length > 0"), true);
    page.press("ArrowRight");
    assert!(page.value("bus.benches()[0].state.now").as_u64() >= first.as_u64());
    page.value("bus.benches()[0].find('st1#1')");
    assert_eq!(page.value("document.querySelectorAll('.life li').length > 2"), true);
    page.value("document.querySelector('.whatif button').click()");
    page.wait_for("document.querySelectorAll('.whatif .tiles dd.figure').length > 0");
    let figures = "document.querySelector('.whatif .tiles').textContent";
    let same = page.value(figures);
    page.value("(() => { const all = document.getElementById('stations'); all.value = 8; all.dispatchEvent(new Event('change')); })()");
    assert_ne!(page.value(figures), same, "eight stations are not four");
    assert_eq!(page.value("document.querySelectorAll('.whatif .heads button').length"), 8);
}

/// A page of PLCA opens on a cycle; two runs go in step; no control is clipped or covered, on paper, in the dark, in a
/// narrow, a usual and a wide window.
#[test]
fn two_runs_go_in_step_at_every_width() {
    let runs = plca();
    runs.add("a", &CABLE);
    let Some(mut page) = shown(&runs, &["plca.events", "a.events"]) else { return };
    assert_eq!(page.value("/BEACON/.test(document.querySelector('.rows').textContent)"), true);
    page.value("bus.benches()[0].go(5000)");
    assert_eq!(page.value("bus.benches()[1].state.now"), 5000);
    page.value("document.querySelector('.together').click(); bus.benches()[0].go(6000)");
    assert_eq!(page.value("bus.benches()[1].state.now"), 5000);
    for (width, height) in [(390, 844), (1280, 800), (2560, 1440)] {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        page.call("Emulation.setDeviceMetricsOverride", metrics);
        for (name, value) in [("prefers-color-scheme", "light"), ("prefers-color-scheme", "dark")] {
            page.call("Emulation.setEmulatedMedia", json!({ "features": [{ "name": name, "value": value }] }));
            assert_eq!(page.value(MEASURE), "", "at {width} pixels, {value}");
        }
        page.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        assert_eq!(page.value(MEASURE), "", "at {width} pixels, on paper");
        page.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    }
}

/// A live trace, which has no scenario, says why it cannot be run again.
#[test]
fn a_live_trace_says_why_it_is_not_run_again() {
    let runs = Runs::new("a", &CABLE);
    let log = crate::common::logs::unproven(&std::fs::read_to_string(runs.path("a.events")).expect("a log"));
    let header: serde_json::Value = serde_json::from_str(log.lines().next().expect("a header")).expect("JSON");
    let live = log.replacen(&format!(",\"scenario\":{}", header["scenario"]), "", 1);
    assert!(live.len() < log.len(), "{header}");
    std::fs::write(runs.path("live"), live).expect("own folder");
    let Some(mut page) = shown(&runs, &["live"]) else { return };
    let said = page.value("document.querySelector('.whatif').textContent");
    assert!(said.as_str().is_some_and(|said| said.contains("its hosts would have reacted")), "{said}");
}
