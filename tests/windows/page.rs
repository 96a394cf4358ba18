//! The bus in a browser (`packaging/page.sh`): the same events as the program, and what hands do with the page.

use crate::common::browser::{self, Page};
use crate::common::process::{ethbus, program, run, run_for};
use crate::common::{ETHBUS, given, is_installed, note, skip};
use backoff::Generator;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Building the engine for a page takes minutes on a busy machine.
const BUILD: Duration = Duration::from_secs(1800);
/// Scenarios that the page and the program both run.
const SCENARIOS: u64 = 50;

/// The page, made once; nothing where rustc lacks the target.
pub fn page() -> Option<&'static Path> {
    static PAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        // Where the program looks for it.
        let page = Path::new(ETHBUS).parent().expect("a folder").with_file_name("page.html");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/page.sh");
        let made = run_for(program("bash", [Path::new(script), &page]), BUILD);
        match made.code() {
            Some(3) => {
                skip(made.stderr.trim());
                return None;
            }
            _ => made.succeeded(),
        };
        Some(page)
    };
    PAGE.get_or_init(make).as_deref()
}

/// Draws scenarios.
struct Draw(Generator);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// A scenario of any method.
    fn scenario(&mut self) -> String {
        let method = self.of(&["csma-cd", "plca", "csma", "csma-ca", "aloha", "slotted-aloha", "tdma"]);
        let persistence =
            if method == "csma" { self.of(&["\npersistence = \"non\"", "\npersistence = \"0.1\"", ""]) } else { "" };
        let fault = self.of(&["", "", "fault = \"deaf\"\n", "fault = \"ber:1e-4\"\n", "fault = \"bad_fcs\"\n"]);
        let more = "[[station]]\n".repeat(self.below(9) as usize);
        format!(
            "seed = {}\n[medium]\ntopology = \"{}\"\n[access]\nmethod = \"{method}\"{persistence}\n[traffic]\n\
             arrivals = \"{}\"\nframe_size = \"{}\"\ndestination = \"{}\"\n[run]\nduration = \"20ms\"\nwarmup = \"{}\"\n\
             [[station]]\n{fault}[[station]]\n{more}",
            self.below(1000),
            self.of(&["bus:25m", "bus:600m", "star:0bt", "star:40bt"]),
            self.of(&["saturated", "poisson:0.2", "poisson:0.9"]),
            self.of(&["64", "600", "64:7,594:4,1518:1"]),
            self.of(&["next", "random", "broadcast"]),
            self.of(&["0s", "5ms"]),
        )
    }
}

/// Loads the engine with the page's own script, and writes the trace of each scenario of a folder beside it, or the error.
const RUNNER: &str = r#"
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { Engine, unpacked } from "./engine.mjs";
const [page, folder] = process.argv.slice(-2);
const packed = /<script id="wasm"[^>]*>([^<]*)</.exec(readFileSync(page, "utf8"))[1];
const engine = await Engine.of(await unpacked(packed));
for (const name of readdirSync(folder).filter((name) => name.endsWith(".toml"))) {
  let told;
  try {
    engine.ask({ ask: "run", scenario: readFileSync(`${folder}/${name}`, "utf8") });
    told = engine.text({ ask: "trace" });
  } catch (error) {
    told = error.message;
  }
  writeFileSync(`${folder}/${name.replace(".toml", ".page")}`, told);
}
"#;
const ENGINE: &str = include_str!("../../crates/page/page/engine.js");

/// Same seed, same scenario: the page's trace is the program's, byte for byte, and so are the sentences about a scenario
/// that is wrong.
#[test]
fn fifty_scenarios_have_the_events_of_the_program() {
    if !is_installed("node") {
        return skip("needs node");
    }
    let Some(page) = page() else { return };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    let seed = given("ETHBUS_SEED", now);
    note(&format!("ETHBUS_SEED={seed}"));
    let (mut draw, folder) = (Draw(Generator::new(seed)), tempfile::tempdir().expect("a folder"));
    let at = |number: u64, kind: &str| folder.path().join(format!("{number}.{kind}"));
    for number in 0..SCENARIOS {
        std::fs::write(at(number, "toml"), draw.scenario()).expect("own folder");
    }
    std::fs::write(at(SCENARIOS, "toml"), "[medium]\nrate = \"10 parsec\"\n").expect("own folder");
    let runner = folder.path().join("runner.mjs");
    std::fs::write(&runner, RUNNER).expect("own folder");
    std::fs::write(folder.path().join("engine.mjs"), ENGINE).expect("own folder");
    run_for(program("node", [&runner, page, folder.path()]), BUILD).succeeded();
    let read =
        |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for number in 0..SCENARIOS {
        let (scenario, log) = (at(number, "toml"), at(number, "events"));
        run(ethbus([Path::new("sim"), &scenario, Path::new("--events"), &log])).succeeded();
        let (own, theirs) = (read(at(number, "page")), read(log));
        assert!(own == theirs, "ETHBUS_SEED={seed}, {}\n{}", read(scenario), &own[..own.len().min(600)]);
    }
    std::fs::copy(at(SCENARIOS, "toml"), folder.path().join("scenario.toml")).expect("own folder");
    let mut wrong = ethbus(["sim", "scenario.toml"]);
    wrong.current_dir(folder.path());
    let (said, told) = (run(wrong).stderr, read(at(SCENARIOS, "page")));
    assert!(said.contains(&told), "{told}\nis not in\n{said}");
}

/// Which labels and controls are out of the window, or over another: names of them.
pub const MEASURE: &str = "(() => {
    const shown = [...document.querySelectorAll('button,select,input,label,h1,h2,h3')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().width > 0);
    const name = (one) => one.id || one.textContent.slice(0, 20);
    const out = shown.filter((one) => { const box = one.getBoundingClientRect(); return box.left < -1 || box.right > innerWidth + 1; }).map(name);
    const clipped = shown.filter((one) => one.tagName === 'BUTTON' && !one.closest('.heads') && one.scrollWidth > one.clientWidth + 1).map(name);
    const free = shown.filter((one) => !one.closest('.heads') && one.tagName === 'BUTTON');
    const over = free.filter((one) => free.some((other) => { const [a, b] = [one, other].map((it) => it.getBoundingClientRect());
        return one !== other && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1; })).map(name);
    return [...out, ...clipped, ...over].join(', ');
})()";

/// In a browser: the page opens on a collision, steps, explains a frame that is clicked, moves a station, and no control is
/// clipped or covered in a narrow, a usual and a wide window.
#[test]
fn hands_see_a_collision_in_a_browser() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let Some(file) = page() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut page = Page::open(file, folder.path());
    page.wait_for("window.bus !== undefined && bus.trial.bench.state.about !== null");
    assert_eq!(page.value("[...document.querySelectorAll('.rows li.collision')].length > 0"), true);
    let (before, _) = (page.value("bus.trial.bench.state.now"), page.value("document.querySelector('.step').click()"));
    assert!(page.value("bus.trial.bench.state.now").as_f64() > before.as_f64(), "a step goes on");
    assert!(page.value("document.querySelector('.live').textContent").as_str().is_some_and(|text| text.len() > 20));
    page.value("bus.trial.bench.life('st1#1')");
    assert_eq!(page.value("document.querySelectorAll('.life li').length > 2"), true);
    page.value("document.querySelector('.heads button:nth-child(2)').focus()");
    page.press("ArrowRight");
    let places = "(document.getElementById('toml').value.match(/position.*/g) || []).join()";
    let by_key = page.value(places);
    assert_ne!(by_key, "", "a station moves by a key");
    let head = page.value(
        "(() => { const box = document.querySelector('.heads button:nth-child(3)').getBoundingClientRect(); \
         return [box.left + box.width / 2, box.top + box.height / 2]; })()",
    );
    for (kind, by) in [("mousePressed", 0.0), ("mouseMoved", -60.0), ("mouseReleased", -60.0)] {
        let x = head[0].as_f64().expect("x") + by;
        page.call(
            "Input.dispatchMouseEvent",
            json!({ "type": kind, "x": x, "y": head[1], "button": "left", "clickCount": 1 }),
        );
    }
    assert_ne!(page.value(places), by_key, "a station moves by the mouse");
    for (width, height) in [(390, 844), (1280, 800), (2560, 1440)] {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        page.call("Emulation.setDeviceMetricsOverride", metrics);
        page.value("bus.trial.bench.render()");
        assert_eq!(page.value(MEASURE), "", "at {width} pixels");
    }
    page.value("document.getElementById('stations').value = 40; document.getElementById('stations').dispatchEvent(new Event('change'))");
    let took = page.value("(() => { const all = Array.from({ length: 30 }, () => bus.trial.bench.render()).sort((a, b) => a - b); return all[15]; })()");
    note(&format!("script of a frame with 40 stations: {took} ms, median of 30"));
}
