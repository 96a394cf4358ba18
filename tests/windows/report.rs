//! `ethbus report` from outside: a page that needs nothing else, its figures those of the run, and its words those of
//! `explain`.

use crate::common::logs::unproven;
use crate::common::process::{ethbus, run, unwrapped};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

mod hands;

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
        let files = ["--events", &events, "--events", &record, "--events-level", "inputs", "--format", "json"];
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

/// The first run that a page has.
fn described(page: &str) -> Value {
    let text = between(page, "<script id=\"runs\" type=\"application/json\">", "</script>");
    serde_json::from_str::<Value>(text).expect("JSON")["runs"][0].clone()
}

/// Nothing in the page leads elsewhere, and every part of it is there.
#[test]
fn a_page_is_whole_and_loads_nothing() {
    let runs = Runs::new("a", &CABLE);
    for file in ["a.events", "a.record"] {
        let page = runs.report(&[file], &[]).replace("href=\"#", "");
        assert!(page.contains("<td>done to it</td><td>nothing</td>"), "{file}");
        for word in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttp", "://"] {
            assert!(!page.contains(word), "{file}: {word}");
        }
        for part in ["What was run", "Theory beside measurement", "Who met whom", "Backoff by attempt", "<canvas"] {
            assert!(page.contains(part), "{file}: {part}");
        }
        let about = &described(&page)["about"];
        let sentence = about["sentence"].as_str().expect("a text");
        assert!(sentence.starts_with("4 stations of CSMA/CD on a bus at 10Mbit/s for "), "{sentence}");
        assert_eq!(about["plots"].as_array().map(Vec::len), Some(6), "{file}");
    }
    let page = runs.report(&["a.json"], &[]);
    assert_eq!(described(&page)["about"]["plots"].as_array().map(Vec::len), Some(2));
    assert!(page.contains(&format!("ethbus report {}", runs.file("a.json"))));
    let page = runs.report(&["a.events"], &[]);
    // A figure of theory has its formula, its numbers, and what it is of.
    let theory = between(&page, "Theory beside measurement", "</table>");
    assert!(
        theory.contains("E = P / (P + W T); P = ") && theory.contains("stations that always have a frame"),
        "{theory}"
    );
}

/// Figures of a log, of a record and of the results are the same; two runs are beside each other.
#[test]
fn figures_are_those_of_the_run() {
    let runs = Runs::new("a", &["--stations", "5", "--duration", "50ms", "--warmup", "10ms"]);
    let tiles = |file: &str| described(&runs.report(&[file], &[]))["about"]["tiles"].clone();
    let [record, results] = ["a.record", "a.json"].map(tiles);
    let plain = |tiles: &Value| -> Vec<[Value; 2]> {
        let all = tiles.as_array().expect("tiles").iter();
        all.map(|tile| ["what", "value"].map(|name| tile[name].clone())).collect()
    };
    assert!(plain(&record).len() > 8, "{record}");
    assert_eq!(plain(&record), plain(&results));
    runs.add("b", &["--stations", "2", "--duration", "50ms", "--warmup", "10ms"]);
    let both = runs.report(&["a.record", "b.record"], &[]);
    let text = between(&both, "<script id=\"runs\" type=\"application/json\">", "</script>");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON")["runs"].as_array().map(Vec::len), Some(2));
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

/// Every event of a log as `(t, kind, frame, sentence)`, told by the page.
fn told_by_the_page(runs: &Runs, name: &str) -> Vec<[String; 4]> {
    let trace = fs::read(runs.path(name)).expect("a trace");
    let run = ::page::run::Run::open(trace.into(), name).expect("a run");
    let rows = run.rows(u64::MAX, usize::MAX).into_iter();
    rows.map(|row| [row.t.to_string(), row.kind.to_owned(), row.frame, row.says]).collect()
}

fn logged(runs: &Runs, name: &str) -> Vec<Value> {
    let log = unproven(&fs::read_to_string(runs.path(name)).expect("a log"));
    log.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The page and `explain` describe every collision alike: same stations, same bit time, same words.
#[test]
fn the_page_tells_collisions_in_the_words_of_explain() {
    let runs = Runs::new("a", &CABLE);
    let (told, logged) = (told_by_the_page(&runs, "a.events"), logged(&runs, "a.events"));
    assert_eq!(told.len(), logged.len(), "every event is unpacked");
    let mut collisions = 0;
    for ([t, kind, frame, sentence], event) in told.iter().zip(&logged) {
        assert_eq!((&event["t"].to_string(), &event["kind"], &event["frame"]), (t, &json!(kind), &json!(frame)));
        assert!(!sentence.contains('{') && !sentence.contains("undefined") && !sentence.contains("NaN"), "{sentence}");
        if ["collision", "backoff", "transmitted", "jam_end"].contains(&kind.as_str()) && collisions < 12 {
            collisions += u32::from(kind == "collision");
            let explained = run(ethbus(["explain", &runs.file("a.events"), "--frame", frame])).unwrapped();
            assert!(explained.contains(&unwrapped(sentence)), "{sentence}\n{explained}");
        }
    }
    assert_eq!(collisions, 12);
}

/// A run of PLCA with a node that never was configured, which sends by CSMA/CD: logical collisions, and some on the line.
fn plca() -> Runs {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plca/05-id-255.toml");
    Runs::new("plca", &[scenario, "--duration", "20ms"])
}

/// With PLCA the page, a capture, the view and `explain` describe each collision in the same words, on the line and
/// logical. No sentence cites a rule of 802.3 for a station with another policy or without collision detection.
#[test]
fn collisions_of_every_method_read_the_same_everywhere() {
    let runs = plca();
    let page = runs.report(&["plca.events"], &[]);
    let capture = runs.file("plca.pcapng");
    run(ethbus(["convert", &runs.file("plca.events"), "--to", "pcapng", "--out", &capture])).succeeded();
    let captured = fs::read(capture).expect("a capture");
    let captured = String::from_utf8_lossy(&captured);
    let told = told_by_the_page(&runs, "plca.events");
    let (mut logical, mut met, mut jams) = (0, 0, 0);
    for ([_, kind, frame, sentence], event) in told.iter().zip(logged(&runs, "plca.events")) {
        let (is_logical, jam) = match kind.as_str() {
            "collision" => (event["episode"] == 0, false),
            "jam_end" => (sentence.ends_with("into nothing."), true),
            _ => continue,
        };
        let explained = run(ethbus(["explain", &runs.file("plca.events"), "--frame", frame])).unwrapped();
        if jam {
            jams += u32::from(is_logical);
            assert!(explained.contains(&unwrapped(sentence)), "{sentence}\n{explained}");
            continue;
        }
        assert!(captured.contains(sentence.as_str()), "{sentence}");
        if is_logical {
            logical += 1;
            assert!(sentence.starts_with("Told to wait for its turn: "), "{sentence}");
        } else {
            met += 1;
            assert!(sentence.starts_with(&format!("Collision {} on this medium", event["episode"])), "{sentence}");
        }
        assert!(explained.contains(&unwrapped(sentence)), "{sentence}\n{explained}");
    }
    assert!(logical > 10 && met > 10 && jams == logical, "{logical} {met} {jams}");
    assert!(!captured.contains("collision 0 on"), "nothing of an attempt that only waits is on the line");
    // Opened on a cycle.
    let episode = &described(&page)["about"]["episode"];
    let begins: Vec<&str> = told.iter().filter(|[_, kind, ..]| kind == "beacon").map(|[t, ..]| t.as_str()).collect();
    assert!([0, 1].iter().all(|end| begins.contains(&episode[end].to_string().as_str())), "{episode}");
    assert!(page.contains("logical collisions of PLCA among them"));

    runs.add("uniform", &["--backoff", "uniform:20", "--stations", "3", "--duration", "5ms", "--warmup", "0s"]);
    let told = told_by_the_page(&runs, "uniform.events");
    let drawn: Vec<_> = told.iter().filter(|[_, kind, ..]| kind == "backoff").collect();
    assert!(drawn.len() > 3 && drawn.iter().all(|[.., told]| told.contains("its policy draws")), "{drawn:?}");
}

/// Where senders detect no collisions, the page has the sentences of `explain`, as far as these go, and so has the
/// view: both without a clause of 802.3.
#[test]
fn methods_without_detection_read_the_same_everywhere() {
    let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
    let rts: &[&str] = &["--rts", "on"];
    for (method, more) in
        [("aloha", &[][..]), ("slotted-aloha", &[]), ("tdma", &[]), ("csma", &[]), ("csma-ca", &[]), ("csma-ca", rts)]
    {
        let run_of = ["--stations", "3", "--duration", "60ms", "--warmup", "0s", "--seed", "2", "--access", method];
        runs.add(method, &[&run_of, more].concat());
        let events = runs.file(&format!("{method}.events"));
        let mut kinds = BTreeSet::new();
        let told = told_by_the_page(&runs, &format!("{method}.events"));
        for frame in ["st1#1", "st2#1", "st3#1", "st1#2", "st2#2", "st3#2", "st1#3", "st2#3"] {
            let explained = run(ethbus(["explain", &events, "--frame", frame])).unwrapped();
            for [_, kind, of, sentence] in told.iter().filter(|[_, _, of, _]| of == frame) {
                let whole = sentence.ends_with('.') && !sentence.contains(['{', '}', '=']);
                assert!(whole && !sentence.contains("(4.2."), "{method}, {of}: {sentence}");
                kinds.insert(kind.as_str());
                // `explain` says in between for whom the frame is, and why the station sends now.
                if !["offered", "attempt"].contains(&kind.as_str()) {
                    let common = unwrapped(sentence.trim_end_matches('.'));
                    assert!(explained.contains(&common), "{method}, {of}: {sentence}\n{explained}");
                }
            }
        }
        let least: &[&str] = match (method, more.len()) {
            ("tdma", _) => &["attempt", "delivered", "offered", "transmitted"],
            ("csma-ca", 2) => &["ack", "backoff", "cts", "data", "delivered", "rts", "transmitted"],
            _ => &["backoff", "collision", "damaged", "delivered", "transmitted"],
        };
        assert!(least.iter().all(|kind| kinds.contains(kind)), "{method}: {kinds:?}");
    }
}

/// Without scripts the page tells the first events in the same words.
#[test]
fn the_first_events_are_there_without_scripts() {
    let runs = plca();
    runs.add("cable", &CABLE);
    for name in ["plca.events", "cable.events"] {
        let told = told_by_the_page(&runs, name);
        let page = runs.report(&[name], &[]);
        let list = between(&page, "<noscript>", "</noscript>");
        let lines: Vec<&str> =
            list.split("<li>").skip(1).map(|line| line.split("</li>").next().unwrap_or("")).collect();
        assert_eq!(lines.len(), 40, "{list}");
        for (line, [_, _, frame, sentence]) in lines.iter().zip(&told) {
            assert!(line.contains(frame.as_str()) && line.ends_with(sentence.as_str()), "{line}\n{sentence}");
        }
    }
}

/// Input that gives no report gets an error in one sentence, and no file is written.
#[test]
fn what_is_no_run_is_named() {
    let runs = Runs::new("a", &CABLE);
    let log = unproven(&fs::read_to_string(runs.path("a.events")).expect("a log"));
    let header = log.lines().next().expect("a header").to_owned() + "\n";
    let newer = log.replacen("\"version\":2", "\"version\":3", 1);
    for (text, words) in [
        ("", "was cut short here"),
        (newer.as_str(), "version 3 of the format; this program reads version 2"),
        ("hello\n", "this is no trace and no results of `--format json`"),
    ] {
        fs::write(runs.path("wrong"), text).expect("own folder");
        let ended = run(ethbus(["report", &runs.file("wrong"), "-o", &runs.file("none.html")]));
        ended.failed_with(1, &[words]);
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
        assert!(!runs.path("none.html").exists(), "{words}");
    }
    // A run without an event gets its page, which says so.
    fs::write(runs.path("idle"), &header).expect("own folder");
    let idle = runs.report(&["idle"], &[]);
    assert!(idle.contains("<strong>Nothing happened</strong> in idle") && idle.contains("What was run"), "{idle}");
    assert!(!described(&idle).to_string().contains("NaN"), "{idle}");
    // A run that is over in its first bit time has no rate.
    let first: String = log.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(runs.path("first"), first).expect("own folder");
    let page = runs.report(&["first"], &[]);
    assert!(page.contains("1 frame of ") && page.contains(" octets"), "{}", between(&page, "What was run", "</table>"));
    assert!(!between(&page, "What was run", "</table>").contains("Mb/s,"), "{page}");
    // A log that is cut within a line is shown as far as it goes.
    let half: String = log.chars().take(log.len() / 2).collect();
    fs::write(runs.path("half"), half).expect("own folder");
    let page = runs.file("half.html");
    run(ethbus(["report", &runs.file("half"), "-o", &page])).failed_with(1, &["the page is of what came before"]);
    assert!(fs::read_to_string(page).expect("the page").contains("The trace is not whole"));
    let (log, none) = (runs.file("a.events"), runs.file("none.html"));
    run(ethbus(["report", &log, "-o", &none, "--at", "99999999999"]))
        .failed_with(2, &["--at: 99,999,999,999 BT is after the end, which is at "]);
    fs::write(runs.path("mine.html"), "my own text").expect("own folder");
    let ended = run(ethbus(["report", &runs.file("a.events"), "-o", &runs.file("mine.html")]));
    ended.failed_with(1, &["is there already and is not a page in HTML"]);
}

/// A live run's page tells what the machine did to it.
#[test]
fn a_page_tells_whether_the_machine_kept_up() {
    let runs = Runs::new("a", &CABLE);
    let log = unproven(&fs::read_to_string(runs.path("a.events")).expect("a log"));
    assert!(runs.report(&["a.events"], &[]).contains("<td>no line of the trace tells of it</td>"));
    let last: Value = serde_json::from_str(log.lines().last().expect("events")).expect("JSON");
    let slip = json!({"t": last["t"], "layer": "emulator", "real_ns": 1, "kind": "slip", "ns": 900_000});
    // The order of columns is a reader's own affair.
    fs::write(runs.path("live"), format!("{log}{slip}\n")).expect("own folder");
    let page = runs.report(&["live"], &[]);
    let words = "2.9 % of the time the medium's clock stood still, as the machine did not keep up; its clock stood still 1 time, for 0.9 ms in all";
    assert!(page.replace("&#39;", "'").contains(words), "{}", between(&page, "of the machine", "</tr>"));
}

/// What was done to a medium is on every plot, under "what was run" and with its stations' names; and a formula of one
/// medium that nothing is done to is not beside it.
#[test]
fn what_was_done_is_on_every_plot() {
    let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
    let scenario = "stations = 4\n[medium]\ntopology = 'bus:500m'\n[[cut]]\nbetween = ['st2', 'st3']\nfrom = '10ms'\n\
        until = '20ms'\n[run]\nduration = '30ms'\nwarmup = '0s'\n";
    fs::write(runs.path("cut.toml"), scenario).expect("own folder");
    runs.add("cut", &[&runs.file("cut.toml")]);
    runs.add("whole", &CABLE);
    let page = runs.report(&["cut.events"], &[]);
    let row = |what: &str| between(&page, &format!("<td>{what}</td><td>"), "</td>").to_owned();
    let done = row("done to it");
    assert!(done.contains("t = 100,000 BT: the cable is cut between st2 and st3; t = 200,000 BT"), "{done}");
    assert_eq!(row("longest way"), "22 BT (2.2 us); 508 m, within 12 m, of cable at 0.77 c");
    assert!(row("traffic").contains(" frames of 64 octets, ") && row("traffic").contains("always has a frame"));
    for plot in described(&page)["about"]["plots"].as_array().expect("plots") {
        let marks = if plot["is_over_time"] == true { json!([10.0, 20.0]) } else { json!([]) };
        assert_eq!(plot["marks"], marks, "{plot}: a line at each change along an axis of time");
    }
    assert!(!page.contains("Metcalfe"), "two media");
    assert!(runs.report(&["whole.events"], &[]).contains("Metcalfe"));
}

/// Of a collision of many stations every window names the first ones, and counts the others.
#[test]
fn a_collision_of_many_names_a_few() {
    let runs = Runs::new("many", &["--stations", "30", "--duration", "2ms", "--warmup", "0s"]);
    let words = "st9#1, which began in the same bit time; and 21 more. Preamble";
    let told = told_by_the_page(&runs, "many.events");
    assert!(told[..200].iter().any(|[_, _, frame, sentence]| frame == "st1#1" && sentence.contains(words)), "{told:?}");
    let explained = run(ethbus(["explain", &runs.file("many.events"), "--frame", "st1#1"])).unwrapped();
    assert!(explained.contains(words), "{explained}");
}

/// The scenarios of a classroom hour and of a bad cable as pages.
#[test]
fn examples_make_pages() {
    let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
    for name in ["classroom", "bad-cable"] {
        let scenario = format!("{}/examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        runs.add(name, &[&scenario, "--duration", "600ms"]);
        let page = runs.report(&[&format!("{name}.record")], &[]);
        for heading in ["In detail", "Who met whom", "Backoff by attempt"] {
            assert!(page.contains(heading), "{name}: {heading}");
        }
        let done = between(&page, "<td>done to it</td><td>", "</td>");
        assert!(done.contains(if name == "classroom" { "cut" } else { "deaf" }), "{name}: {done}");
    }
}

/// Each access method's page opens on what shows it best: a frame of slots, an exchange, a collision.
#[test]
fn a_page_opens_on_the_best_of_its_method() {
    let runs = Runs { folder: tempfile::tempdir().expect("a folder") };
    for (method, least) in [("csma-cd", "collision"), ("tdma", "attempt"), ("csma-ca", "ack"), ("aloha", "collision")] {
        let run_of = ["--stations", "3", "--duration", "60ms", "--warmup", "0s", "--seed", "2", "--access", method];
        runs.add(method, &run_of);
        let file = format!("{method}.events");
        let about = described(&runs.report(&[&file], &[]))["about"].clone();
        let [from, to] = [0, 1].map(|end| about["episode"][end].as_u64().expect("an instant"));
        let told = told_by_the_page(&runs, &file);
        let within = |t: &str| (from..=to).contains(&t.parse::<u64>().expect("a number"));
        assert!(told.iter().any(|[t, kind, ..]| kind == least && within(t)), "{method}: {from} to {to}");
    }
}
