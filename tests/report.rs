//! `ethbus report` from outside: a page that needs nothing else, its figures those of the run, and its words those of
//! `explain`.

mod common;

use common::process::{ethbus, program, run};
use common::{is_installed, note, skip};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Runs, in a folder of their own.
struct Runs {
    folder: TempDir,
}

impl Runs {
    /// A run on a cable, as `NAME.events`, `NAME.record` and `NAME.json`.
    fn new(name: &str, arguments: &[&str]) -> Runs {
        let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
        runs.add(name, arguments);
        runs
    }

    fn add(&self, name: &str, arguments: &[&str]) {
        let [events, record] = ["events", "record"].map(|kind| self.file(&format!("{name}.{kind}")));
        let files = ["--events", &events, "--record", &record, "--format", "json"];
        let told = run(ethbus(["sim"].iter().chain(arguments).chain(&files))).succeeded().stdout;
        fs::write(self.path(&format!("{name}.json")), told).expect("own folder");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    fn report(&self, runs: &[&str], more: &[&str]) -> String {
        let files: Vec<String> = runs.iter().map(|name| self.file(name)).collect();
        let out = self.file("report.html");
        let arguments = files.iter().map(String::as_str).chain(["-o", &out]).chain(more.iter().copied());
        run(ethbus(["report"].into_iter().chain(arguments))).succeeded();
        fs::read_to_string(out).expect("a page")
    }
}

const CABLE: [&str; 8] = ["--stations", "4", "--topology", "bus:500m", "--duration", "30ms", "--warmup", "0s"];

fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = page.split(begin).nth(1).unwrap_or_else(|| panic!("no {begin}"));
    rest.split(end).next().expect("an end")
}

fn described(page: &str) -> Value {
    serde_json::from_str(between(page, "class=\"run\">", "</script>")).expect("JSON")
}

/// Nothing in the page leads elsewhere, and every part of it is there.
#[test]
fn a_page_is_whole_and_loads_nothing() {
    let runs = Runs::new("a", &CABLE);
    for file in ["a.events", "a.record"] {
        let page = runs.report(&[file], &[]);
        for word in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttp"] {
            assert!(!page.contains(word), "{file}: {word}");
        }
        let addresses = page.matches("://").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "{file}: only names of XML");
        for part in ["What was run", "Key figures", "What happened", "Plots", "Theory beside measurement", "<canvas"] {
            assert!(page.contains(part), "{file}: {part}");
        }
        assert_eq!(page.matches("<figure").count(), 5, "{file}");
    }
    let page = runs.report(&["a.json"], &[]);
    assert!(!page.contains("<canvas") && page.contains("Key figures"));
    assert!(page.contains(&format!("ethbus report {}", runs.file("a.json"))));
}

/// Figures of a log, of a record and of the results are the same; two runs stand beside each other.
#[test]
fn figures_are_those_of_the_run() {
    let runs = Runs::new("a", &["--stations", "5", "--duration", "50ms", "--warmup", "10ms"]);
    let rows = |page: &str| -> Vec<String> {
        let table = between(page, "Key figures", "</table>");
        table.split("<tr>").skip(2).map(|row| row.split(" ± ").next().unwrap_or_default().to_owned()).collect()
    };
    let [record, results] = ["a.record", "a.json"].map(|file| rows(&runs.report(&[file], &[])));
    let plain = |rows: &[String]| -> Vec<String> {
        rows.iter().map(|row| row.split("</td></tr>").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(plain(&record), plain(&results));
    runs.add("b", &["--stations", "2", "--duration", "50ms", "--warmup", "10ms"]);
    let both = runs.report(&["a.record", "b.record"], &[]);
    assert!(both.contains("difference") && both.matches("<canvas").count() == 2);
}

/// The command on the page of results gives the same results again.
#[test]
fn the_command_on_the_page_repeats_the_run() {
    let runs = Runs::new("a", &["--stations", "3", "--duration", "20ms", "--frame-size", "512", "--seed", "9"]);
    let page = runs.report(&["a.json"], &[]);
    let command = between(&page, "<pre>", "\n").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let again = run(ethbus(words)).succeeded().stdout;
    assert_eq!(again, fs::read_to_string(runs.path("a.json")).expect("own file"), "{command}");
}

/// What the page's script tells of every collision is what `explain` tells: same stations, same bit time, same words.
#[test]
fn the_page_tells_collisions_in_the_words_of_explain() {
    if !is_installed("node") {
        return skip("needs node");
    }
    let runs = Runs::new("a", &CABLE);
    let page = runs.report(&["a.events"], &[]);
    fs::write(runs.path("run.json"), between(&page, "class=\"run\">", "</script>")).expect("own folder");
    fs::write(runs.path("events.txt"), between(&page, "class=\"events\">", "</script>")).expect("own folder");
    let script = r#"
        const fs = require("fs"), Ethbus = require(process.argv[2]), folder = process.argv[3];
        const run = JSON.parse(fs.readFileSync(`${folder}/run.json`, "utf8"));
        const events = Ethbus.unpack(run, Ethbus.octets(fs.readFileSync(`${folder}/events.txt`, "utf8")));
        const scene = Ethbus.signals(run, events);
        for (let i = 0; i < events.n; i++) {
          const frame = `${run.names[events.of[i]]}#${events.serial[i]}`, kind = run.kinds[events.kind[i]][0];
          console.log([events.t[i], kind, frame, Ethbus.sentence(run, events, scene, i)].join("\t"));
        }"#;
    fs::write(runs.path("tell.js"), script).expect("own folder");
    let page_script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/study/report/page.js");
    let folder = runs.file("");
    let told = run(program("node", [runs.file("tell.js").as_str(), page_script, folder.trim_end_matches('/')]));
    let told = told.succeeded().stdout;
    let logged = fs::read_to_string(runs.path("a.events")).expect("a log");
    let logged: Vec<Value> = logged.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.lines().count(), logged.len(), "every event is unpacked");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut collisions = 0;
    for (line, event) in told.lines().zip(&logged) {
        let [t, kind, frame, sentence] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!(
            (event["t"].to_string().as_str(), &event["kind"], &event["frame"]),
            (t, &kind.into(), &frame.into())
        );
        assert!(!sentence.contains('{') && !sentence.contains("undefined") && !sentence.contains("NaN"), "{line}");
        if ["collision", "backoff", "transmitted", "jam_end"].contains(&kind) && collisions < 12 {
            collisions += u32::from(kind == "collision");
            let explained = run(ethbus(["explain", &runs.file("a.events"), "--frame", frame])).succeeded().stdout;
            assert!(words(&explained).contains(&words(sentence)), "{sentence}\n{explained}");
        }
    }
    assert_eq!(collisions, 12);
}

/// In a browser: opened at the first collision, told; the time that opening takes is noted.
#[test]
fn a_browser_opens_it_at_the_first_collision() {
    if !is_installed("chromium") {
        return skip("needs chromium");
    }
    let runs = Runs::new("a", &CABLE);
    let page = runs.report(&["a.events"], &[]);
    let run_data = described(&page);
    assert!(run_data["count"].as_u64().is_some_and(|count| count > 500));
    let profile = format!("--user-data-dir={}", runs.file("profile"));
    let address = format!("file://{}", runs.file("report.html"));
    let options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"];
    let shown = run(program("chromium", options.into_iter().chain([profile.as_str(), &address]))).succeeded().stdout;
    let opened = between(&shown, "data-opened=\"", "\"");
    note(&format!("a page of {} events was open after {opened} ms", run_data["count"]));
    let told = between(&shown, "<output aria-live=\"polite\">", "</output>");
    assert!(told.contains("Collision (4.2.3.2.4), episode 1 on this medium"), "{told}");
}

/// What cannot be told is told in a sentence, and nothing is written.
#[test]
fn what_is_no_run_is_named() {
    let runs = Runs::new("a", &CABLE);
    let log = fs::read_to_string(runs.path("a.events")).expect("a log");
    let header = log.lines().next().expect("a header").to_owned() + "\n";
    let newer = log.replacen("\"version\":1", "\"version\":2", 1);
    for (text, words) in [
        (header.as_str(), "nothing happened in this run, so there is nothing to tell"),
        ("", "was cut short here"),
        (newer.as_str(), "version 2 of the format; this program reads version 1"),
        ("hello\n", "this is no event log, no record and no results of `--format json`"),
    ] {
        fs::write(runs.path("wrong"), text).expect("own folder");
        let ended = run(ethbus(["report", &runs.file("wrong"), "-o", &runs.file("none.html")]));
        ended.failed_with(1, &[words]);
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
        assert!(!runs.path("none.html").exists(), "{words}");
    }
    // A log that is cut within a line is told as far as it goes.
    let half: String = log.chars().take(log.len() / 2).collect();
    fs::write(runs.path("half"), half).expect("own folder");
    assert!(runs.report(&["half"], &[]).contains("The log is not whole"));
    fs::write(runs.path("mine.html"), "my own text").expect("own folder");
    let ended = run(ethbus(["report", &runs.file("a.events"), "-o", &runs.file("mine.html")]));
    ended.failed_with(1, &["is there already and is not a page in HTML"]);
}

/// The plots as files, and the scenarios of a classroom hour and of a bad cable as pages.
#[test]
fn examples_make_pages_and_pictures() {
    let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
    for name in ["classroom", "bad-cable"] {
        let scenario = format!("{}/examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        runs.add(name, &[&scenario, "--duration", "600ms"]);
        let folder = runs.file(&format!("{name}-figures"));
        let page = runs.report(&[&format!("{name}.record")], &["--svg", &folder]);
        assert!(page.contains("What happened, over place and time"));
        for plot in ["utilization", "fairness", "capture", "access_delay", "attempts"] {
            let picture = fs::read_to_string(format!("{folder}/{plot}.svg")).expect(plot);
            assert!(picture.starts_with("<svg") || picture.starts_with("<?xml"), "{plot}");
        }
    }
    let page = runs.report(&["classroom.record"], &["--from", "1000", "--to", "200000", "--at", "5000"]);
    let data = described(&page);
    assert!(data["packed_from"].as_u64() >= Some(1000) && data["end"].as_u64() < Some(200_000), "{data}");
}
