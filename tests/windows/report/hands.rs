//! The page of `ethbus report` in a browser, as hands use it: keys, wheel, mouse, print, dark and light.

use super::{CABLE, Runs, described, logged, plca};
use crate::common::browser::{self, Page};
use crate::common::process::{ethbus, run};
use crate::common::{note, skip};
use serde_json::json;

/// A page in a browser, as hands use it.
struct Shown {
    page: Page,
}

impl Shown {
    fn new(runs: &Runs) -> Shown {
        let mut page = Page::open(&runs.path("report.html"), runs.folder.path());
        page.wait_for("document.body !== null && document.body.dataset.opened !== undefined");
        // Drawn once.
        page.wait_for("diagram = document.querySelector('section.diagram').diagram, diagram.top !== undefined");
        page.value("diagram.canvas.scrollIntoView({ block: 'center', behavior: 'instant' })");
        Shown { page }
    }

    /// The page's sentence about the selected event.
    fn told(&mut self) -> String {
        self.page.value("document.querySelector('output').textContent").as_str().expect("a text").replace('\u{a0}', " ")
    }

    /// How many bit times are shown.
    fn span(&mut self) -> f64 {
        self.page.value("diagram.to - diagram.from").as_f64().expect("a number")
    }

    fn from(&mut self) -> f64 {
        self.page.value("diagram.from").as_f64().expect("a number")
    }

    /// Where something of the drawing is in the window.
    fn place(&mut self, x: &str, y: &str) -> (f64, f64) {
        let place = self.page.value(&format!(
            "(() => {{ const box = diagram.canvas.getBoundingClientRect(); return [box.left + {x}, box.top + {y}]; }})()"
        ));
        (place[0].as_f64().expect("x"), place[1].as_f64().expect("y"))
    }

    fn tip(&mut self) -> String {
        self.page
            .value("diagram.tip.hidden ? '' : diagram.tip.textContent")
            .as_str()
            .expect("a text")
            .replace('\u{a0}', " ")
    }
}

/// In a browser: the page opens at the first collision and describes it; keys, wheel and mouse do what the page says
/// they do; the page describes each collision on the way in the words of `explain` and the capture.
#[test]
fn hands_find_a_collision_on_the_page() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let runs = Runs::new("a", &CABLE);
    let page = runs.report(&["a.events"], &[]);
    let mut shown = Shown::new(&runs);
    let opened = shown.page.value("document.body.dataset.opened");
    note(&format!("a page of {} events was open after {opened} ms", described(&page)["count"]));
    let first = shown.told();
    assert!(first.contains("Collision 1 on this medium (4.2.3.2.4)"), "{first}");

    let middle = shown.place("diagram.canvas.clientWidth / 2", "diagram.canvas.clientHeight / 2");
    shown.page.click(middle);
    let mut words = Vec::new();
    for _ in 0..4 {
        shown.page.press("n");
        words.push(shown.told());
    }
    assert!(
        words.iter().all(|told| told.contains(": Collision ") && told.contains(" on this medium (4.2.3.2.4)")),
        "{words:?}"
    );
    assert!(words.windows(2).all(|both| both[0] != both[1]), "each the next one: {words:?}");
    shown.page.press("N");
    assert_eq!(shown.told(), words[2], "back");
    for told in &words {
        let (frame, sentence) =
            told.split_once(" BT, ").and_then(|(_, rest)| rest.split_once(": ")).expect("a collision");
        let explained = run(ethbus(["explain", &runs.file("a.events"), "--frame", frame])).unwrapped();
        assert!(explained.contains(sentence), "{sentence}\n{explained}");
    }

    let (span, from) = (shown.span(), shown.from());
    shown.page.press("+");
    let half = shown.span();
    assert!((half / span - 0.5).abs() < 1e-9, "+ shows half as much: {span}, {half}");
    shown.page.press("-");
    assert!((shown.span() - span).abs() < 1e-6, "- shows it again");
    shown.page.press("ArrowDown");
    assert!(shown.from() > from, "down is later");
    shown.page.press("ArrowUp");
    shown.page.mouse("mouseWheel", middle, -120.0);
    shown.page.wait_for(&format!("diagram.to - diagram.from < {}", 0.9 * span));
    shown.page.mouse("mouseWheel", middle, 120.0);
    shown.page.wait_for(&format!("diagram.to - diagram.from > {}", 0.9 * span));
    let from = shown.from();
    shown.page.mouse("mousePressed", middle, 0.0);
    shown.page.mouse("mouseMoved", (middle.0, middle.1 - 80.0), 0.0);
    shown.page.mouse("mouseReleased", (middle.0, middle.1 - 80.0), 0.0);
    assert!(shown.from() > from, "the drawing was dragged up, so later times are seen");
    // A frame is found by its name and followed: the arrow keys then show its events alone.
    let frame = first.split(" BT, ").nth(1).and_then(|rest| rest.split(": ").next()).expect("a frame").to_owned();
    shown.page.value(&format!("diagram.find('{frame}')"));
    let followed = shown.told();
    let own = format!(", {frame}: ");
    assert!(followed.contains(&own), "{followed}");
    let hash = shown.page.value("location.hash");
    assert_eq!(hash, shown.page.value("`#t=${diagram.events.t[diagram.selected]}`"), "a link to what is shown");
    for _ in 0..3 {
        shown.page.press("ArrowRight");
        assert!(shown.told().contains(&own), "{}", shown.told());
    }
    shown.page.press("f");
    assert_eq!(shown.page.value("diagram.find('st9#1')"), false);
    assert!(shown.told().contains("Neither a frame of this page, like st1#1"), "{}", shown.told());
    let svg = shown.page.value("diagram.svg()");
    let svg = svg.as_str().expect("a text");
    assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>") && svg.contains(">st1</text>"));
    assert!(svg.contains("<metadata>\ncommand: ethbus report ") && svg.contains("\nseed: "), "{svg}");
    assert!(svg.contains("url(#overlap)") && !svg.contains("NaN") && !svg.contains("undefined"), "{svg}");
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    shown.page.press("Home");
    let end = described(&page)["end"].as_f64().expect("a number");
    assert!(shown.span() >= end, "all of it");

    shown.page.press("n");
    shown.page.press("+");
    (0..10).for_each(|_| shown.page.press("+"));
    let told = shown.told();
    let cross =
        shown.place("diagram.x(diagram.events.at[diagram.selected])", "diagram.y(diagram.events.t[diagram.selected])");
    shown.page.mouse("mouseMoved", cross, 0.0);
    assert_eq!(shown.tip(), told, "the mouse over a collision");
    let beside = shown.place("diagram.x(diagram.run.places[1])", "diagram.canvas.clientHeight - 30");
    shown.page.mouse("mouseMoved", beside, 0.0);
    let tip = shown.tip();
    assert!(tip.contains(" BT at st2: "), "{tip}");
}

/// `n` and `N` know logical collisions of PLCA too, and nothing is drawn of an attempt that only waits for its turn.
#[test]
fn hands_find_what_met_on_the_line_of_plca() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let runs = plca();
    runs.report(&["plca.events"], &[]);
    let mut shown = Shown::new(&runs);
    shown.page.value("diagram.canvas.focus()");
    let mut words = vec![shown.told()];
    for _ in 0..5 {
        shown.page.press("n");
        words.push(shown.told());
    }
    let kinds = [": Collision ", ": Told to wait for its turn"];
    assert!(words.iter().all(|told| kinds.iter().any(|kind| told.contains(kind))), "{words:?}");
    assert!(words.windows(2).all(|both| both[0] != both[1]), "each the next one: {words:?}");
    shown.page.press("N");
    assert_eq!(shown.told(), words[4], "back");
    let crosses = shown.page.value("diagram.scene.all.filter((one) => one.collision !== null).length");
    let met = logged(&runs, "plca.events").iter().filter(|event| event["episode"].as_u64() > Some(0)).count();
    assert_eq!(crosses, met);
}

/// On paper and in the dark: the page prints, its colours follow the reader's setting, and an address opens an instant.
#[test]
fn a_page_prints_and_follows_dark_and_light() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let runs = Runs::new("a", &CABLE);
    runs.report(&["a.events"], &[]);
    let mut shown = Shown::new(&runs);
    let paper = |shown: &mut Shown, setting: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": setting }] });
        shown.page.call("Emulation.setEmulatedMedia", features);
        shown.page.value("getComputedStyle(document.body).backgroundColor").as_str().expect("a colour").to_owned()
    };
    let (light, dark) = (paper(&mut shown, "light"), paper(&mut shown, "dark"));
    assert_ne!(light, dark);
    // What is folded up is on paper.
    let unfolded = "[...document.querySelectorAll('details')].filter((one) => one.open).length";
    assert_eq!(shown.page.value(unfolded), 0);
    shown.page.value("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(shown.page.value(unfolded), 3);
    shown.page.value("dispatchEvent(new Event('afterprint'))");
    assert_eq!(shown.page.value(unfolded), 0);
    let printed = shown.page.call("Page.printToPDF", json!({ "printBackground": true }));
    let printed = printed["data"].as_str().expect("a PDF in base64");
    assert!(printed.starts_with("JVBERi") && printed.len() > 20_000, "{} octets", printed.len());
    shown.page.value("location.hash = '#t=5000'");
    shown.page.wait_for("diagram.events.t[diagram.selected] >= 5000");
    assert_eq!(shown.page.value("diagram.events.t.findIndex((t) => t >= 5000) === diagram.selected"), true);
}

/// Forty stations on a cable of 23 bit times have all their names. A cross is where a sender without collision
/// detection learns of its collision; the page of a run without one opens where a signal is.
#[test]
fn all_stations_and_collisions_are_drawn() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let shown = |arguments: &[&str]| {
        let runs = Runs::new("a", &[arguments, &["--frame-size", "64", "--warmup", "0s"]].concat());
        runs.report(&["a.events"], &[]);
        (Shown::new(&runs), runs)
    };
    let (mut many, _folder) = shown(&["--stations", "40", "--topology", "bus:500m", "--duration", "2ms"]);
    let named = "diagram.named.flatMap(({ texts }) => texts.map(([text]) => text)).join()";
    let all: Vec<String> = (1..=40).map(|station| format!("st{station}")).collect();
    assert_eq!(many.page.value(named), all.join(","));
    let few = ["--stations", "4", "--topology", "bus:5km", "--duration", "30ms"];
    let (mut csma, _folder) = shown(&[&few[..], &["--access", "csma", "--traffic", "poisson:0.8/slot"]].concat());
    assert!(csma.told().contains("gets no answer"), "{}", csma.told());
    let drawn = "diagram.collisions().includes(diagram.selected)";
    assert_eq!(csma.page.value(drawn), true);
    let (mut tdma, _folder) = shown(&[&few[..], &["--access", "tdma", "--traffic", "poisson:0.2/slot"]].concat());
    assert!(tdma.told().contains("begins to send"), "{}", tdma.told());
    assert_eq!(tdma.page.value("diagram.shown().length > 0"), true);
}

/// Two runs are side by side and show the same time, until the reader lets each go its own way.
#[test]
fn two_runs_go_in_step() {
    if !browser::is_there() {
        return skip("needs chromium");
    }
    let runs = Runs::new("a", &CABLE);
    runs.add("b", &[&CABLE[..], &["--seed", "9"]].concat());
    runs.report(&["a.events", "b.events"], &[]);
    let mut shown = Shown::new(&runs);
    shown.page.value("other = document.querySelectorAll('section.diagram')[1].diagram, 0");
    let beside = shown
        .page
        .value("Math.abs(diagram.canvas.getBoundingClientRect().top - other.canvas.getBoundingClientRect().top) < 80");
    assert_eq!(beside, true);
    let same = "diagram.from === other.from && diagram.to === other.to && other.events.t[other.selected] >= diagram.events.t[diagram.selected]";
    shown.page.value("diagram.canvas.focus()");
    for key in ["n", "+", "ArrowDown", "n", "-"] {
        shown.page.press(key);
        assert_eq!(shown.page.value(same), true, "{key}");
    }
    shown.page.value("document.querySelector('#step').click()");
    shown.page.value("diagram.canvas.focus()");
    shown.page.press("0");
    assert_eq!(shown.page.value("diagram.from === other.from && diagram.to === other.to"), false);
}
