//! `ethbus explain --svg` from outside: each drawn mark is at the place of the log's bit times and the stations'
//! distances.

use crate::common::logs::unproven;
use crate::common::process::{ethbus, run};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Half a pixel's tenth: coordinates are written with one or two digits.
const EXACT: f64 = 0.1;

/// Tags of one kind with their attributes, in the order of the text.
fn tags(svg: &str, kind: &str) -> Vec<HashMap<String, String>> {
    let attributes = |tag: &str| {
        let mut rest = tag;
        let mut found = HashMap::new();
        while let Some((name, after)) = rest.split_once("=\"") {
            let (value, after) = after.split_once('"').expect("a quote at a value's end");
            found.insert(name.trim().to_owned(), value.to_owned());
            rest = after;
        }
        found
    };
    let begin = format!("<{kind} ");
    let parts = svg.split(&begin).skip(1);
    parts.map(|part| attributes(part.split('>').next().expect("a tag's end"))).collect()
}

fn number(tag: &HashMap<String, String>, name: &str) -> f64 {
    tag.get(name).unwrap_or_else(|| panic!("no {name} in {tag:?}")).parse().expect("a number")
}

/// The vertical place of an instant, from two of the panel's own ticks.
fn scale(panel: &str) -> impl Fn(f64) -> f64 {
    let ticks: Vec<(f64, f64)> = tags(panel, "text")
        .into_iter()
        .filter(|tag| tag.get("class").is_some_and(|class| class.contains("tick-label")))
        // A label is 4 points below its line, so that it is level with it.
        .map(|tag| (number(&tag, "data-t"), number(&tag, "y") - 4.0))
        .collect();
    let ((t0, y0), (t1, y1)) = (ticks[0], ticks[ticks.len() - 1]);
    move |t| y0 + (y1 - y0) * (t - t0) / (t1 - t0)
}

struct Drawn {
    folder: TempDir,
    svg: String,
    log: Vec<Value>,
}

impl Drawn {
    /// A run with these options, and a frame of it that is drawn.
    fn new(options: &[&str], which: &[&str]) -> Drawn {
        let folder = tempfile::tempdir().expect("a folder");
        let [events, picture] = ["run.events", "run.svg"].map(|name| path(&folder, name).display().to_string());
        let sim = ["sim", "--duration", "20ms", "--warmup", "0s", "--frame-size", "64", "--events", &events];
        run(ethbus([&sim, options].concat())).succeeded();
        run(ethbus([&["explain", &events, "--svg", &picture], which].concat())).succeeded();
        let text = unproven(&fs::read_to_string(&events).expect("UTF-8"));
        let log = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        Drawn { svg: fs::read_to_string(&picture).expect("UTF-8"), folder, log }
    }

    fn panels(&self) -> Vec<&str> {
        self.svg.split("<g class=\"attempt\"").skip(1).collect()
    }

    /// The instant of a frame's event of this kind in an attempt.
    fn instant(&self, kind: &str, frame: &str, attempt: u64) -> u64 {
        let of = |event: &&Value| {
            event["kind"] == kind && event["frame"] == frame && event["station"] == frame.split('#').next().unwrap()
        };
        let events: Vec<&Value> = self.log.iter().filter(of).collect();
        let event = events.iter().find(|event| event["attempt"] == attempt).or(events.get(attempt as usize - 1));
        event.unwrap_or_else(|| panic!("no {kind} of {frame}, attempt {attempt}"))["t"].as_u64().expect("a number")
    }
}

fn path(folder: &TempDir, name: &str) -> PathBuf {
    Path::new(folder.path()).join(name)
}

/// Along 500 m of cable a signal takes 22 BT: each edge of a band is at its sender when the log says, and at the other
/// end 22 BT later; marks are where the senders notice.
#[test]
fn bands_and_marks_stand_at_the_logs_bit_times() {
    let drawn = Drawn::new(&["--stations", "2", "--topology", "bus:500m", "--seed", "3"], &["--pick", "collisions=1"]);
    let panels = drawn.panels();
    assert_eq!(panels.len(), 1, "one collision, one panel");
    let place = scale(panels[0]);
    let stations: HashMap<String, f64> = tags(panels[0], "line")
        .into_iter()
        .filter_map(|tag| Some((tag.get("data-station")?.clone(), number(&tag, "x1"))))
        .collect();
    assert_eq!(stations.len(), 2);
    let bands = tags(panels[0], "polygon");
    for (frame, attempt) in [("st1#1", 1), ("st2#1", 1)] {
        let [begin, collision, end] =
            ["attempt", "collision", "jam_end"].map(|kind| drawn.instant(kind, frame, attempt));
        let own: Vec<_> = bands.iter().filter(|band| band["data-frame"] == frame).collect();
        let kinds: Vec<&str> = own.iter().map(|band| band["class"].split(' ').nth(1).expect("a part")).collect();
        // Met in the preamble: it is finished, then comes the jam (802.3, 4.2.3.2.4).
        assert_eq!(kinds, ["preamble", "jam"], "{frame}");
        assert_eq!([&own[0]["data-from"], &own[0]["data-to"]], [&begin.to_string(), &(begin + 64).to_string()]);
        assert_eq!([&own[1]["data-from"], &own[1]["data-to"]], [&(begin + 64).to_string(), &end.to_string()]);
        for band in own {
            let points: Vec<(f64, f64)> = band["points"]
                .split(' ')
                .map(|point| point.split_once(',').expect("two numbers"))
                .map(|(x, y)| (x.parse().expect("x"), y.parse().expect("y")))
                .collect();
            assert_eq!(points.len(), 4);
            for (index, (x, y)) in points.into_iter().enumerate() {
                let edge = number(band, if index < 2 { "data-from" } else { "data-to" });
                let is_sender = (x - stations[&frame[..3]]).abs() < EXACT;
                let wanted = place(edge + if is_sender { 0.0 } else { 22.0 });
                assert!((y - wanted).abs() < EXACT, "{frame}: {y}, not {wanted}, in {band:?}");
            }
        }
        let marks = tags(panels[0], "path");
        let mark = marks.iter().find(|mark| mark.get("data-frame").is_some_and(|own| own == frame)).expect("a mark");
        assert_eq!(mark["data-at"], collision.to_string());
        // M x-5 y-5: the middle of the cross.
        let corner = mark["d"].trim_start_matches('M').split(['L', ' ']).take(2);
        let corner: Vec<f64> = corner.map(|part| part.parse().expect("a number")).collect();
        assert!((corner[0] + 5.0 - stations[&frame[..3]]).abs() < EXACT);
        assert!((corner[1] + 5.0 - place(collision as f64)).abs() < EXACT);
    }
}

/// Each attempt that collided has a panel, whatever the topology, and every sender of it is named.
#[test]
fn each_collision_has_a_panel() {
    for topology in ["star:0bt", "star:50bt", "bus:2000m"] {
        let options = ["--stations", "5", "--topology", topology, "--seed", "5"];
        let drawn = Drawn::new(&options, &["--pick", "collisions=2"]);
        assert_eq!(drawn.panels().len(), 2, "{topology}");
        for panel in drawn.panels() {
            let senders: std::collections::BTreeSet<_> =
                tags(panel, "polygon").iter().map(|band| band["data-frame"].clone()).collect();
            assert!(senders.len() >= 2, "{topology}: a collision takes two: {senders:?}");
            assert_eq!(tags(panel, "line").iter().filter(|tag| tag.contains_key("data-station")).count(), 5);
        }
    }
}

/// On a star a signal passes no other station: each has a lane, a signal is level in it, and is there one distance later.
#[test]
fn a_star_has_lanes() {
    let drawn = Drawn::new(&["--stations", "6", "--topology", "star:50bt", "--seed", "3"], &["--pick", "collisions=1"]);
    let panel = drawn.panels()[0];
    let place = scale(panel);
    let bands = tags(panel, "polygon");
    assert!(bands.len() >= 12, "each part of two signals is at six stations");
    for band in &bands {
        let points: Vec<Vec<f64>> = (band["points"].split(' '))
            .map(|point| point.split(',').map(|number| number.parse().expect("a number")).collect())
            .collect();
        assert_eq!(points.len(), 4);
        assert!((points[0][1] - points[1][1]).abs() < EXACT, "level: {band:?}");
        let begins = number(band, "data-from");
        let late = [0.0, 50.0].into_iter().filter(|way| (points[0][1] - place(begins + way)).abs() < EXACT).count();
        assert_eq!(late, 1, "{band:?}");
    }
    assert!(panel.contains("class=\"overlap\"") && panel.contains("edge leading") && panel.contains("edge trailing"));
}

/// Parties that are near to each other have their names in different rows.
#[test]
fn names_do_not_overlap() {
    let mut rows = 0;
    for topology in ["bus:25m", "bus:500m", "bus:2000m"] {
        let drawn =
            Drawn::new(&["--stations", "40", "--topology", topology, "--seed", "3"], &["--pick", "collisions=2"]);
        for panel in drawn.panels() {
            let texts = tags(panel, "text");
            let named = texts.iter().filter(|text| text["class"] == "ink name");
            let names: Vec<(f64, f64)> = named.map(|name| (number(name, "x"), number(name, "y"))).collect();
            for (count, (x, y)) in names.iter().enumerate() {
                let near = |(other, row): &&(f64, f64)| (other - x).abs() < 60.0 && (row - y).abs() < 25.0;
                assert_eq!(names[..count].iter().find(near), None, "{topology}: {x}, {y}");
            }
            rows = rows.max(names.iter().map(|(_, y)| *y as i64).collect::<std::collections::BTreeSet<_>>().len());
        }
    }
    assert!(rows > 1, "some parties are near to each other");
}

/// Text stays text, in whatever font there is, and nothing needs a style that is not in the file: light and dark.
#[test]
fn the_picture_stands_alone() {
    let drawn = Drawn::new(&["--stations", "40", "--topology", "bus:500m"], &["--pick", "collisions=1"]);
    assert!(drawn.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(drawn.svg.contains("sans-serif") && drawn.svg.contains("@media (prefers-color-scheme: dark)"));
    assert!(!drawn.svg.contains("textLength"));
    let links: Vec<&str> = drawn.svg.split("href=\"").skip(1).collect();
    assert!(!links.is_empty() && links.iter().all(|link| link.starts_with('#')), "links lead into the file itself");
    assert!(drawn.svg.contains("further stations are not drawn"), "of 40 stations the parties are drawn");
    // Every tag that is opened is closed.
    for tag in ["svg", "g", "text", "style", "polygon", "title"] {
        let count = |what: &str| drawn.svg.matches(what).count();
        assert_eq!(count(&format!("<{tag} ")) + count(&format!("<{tag}>")), count(&format!("</{tag}>")), "{tag}");
    }
    let other = path(&drawn.folder, "notes.svg");
    fs::write(&other, "milk, eggs").expect("own folder");
    let events = path(&drawn.folder, "run.events").display().to_string();
    let svg = other.display().to_string();
    run(ethbus(["explain", &events, "--frame", "st1#1", "--svg", &svg])).failed_with(1, &["not a figure in SVG"]);
    run(ethbus(["explain", &events, "--svg", &svg])).failed_with(2, &["--svg", "--pick collisions=1"]);
    assert_eq!(fs::read_to_string(&other).expect("there"), "milk, eggs");
}
