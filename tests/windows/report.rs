//! `ethbus report` from outside: a page that needs nothing else, its figures those of the run, and its words those of
//! `explain`.

use crate::common::logs::unproven;
use crate::common::process::{ethbus, program, run, unwrapped};
use crate::common::{is_installed, skip};
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

fn described(page: &str) -> Value {
    serde_json::from_str(between(page, "class=\"run\">", "</script>")).expect("JSON")
}

/// Nothing in the page leads elsewhere, and every part of it is there.
#[test]
fn a_page_is_whole_and_loads_nothing() {
    let runs = Runs::new("a", &CABLE);
    for file in ["a.events", "a.record"] {
        let page = runs.report(&[file], &[]);
        // What the script writes into a saved picture leads into that picture.
        let page = page.replace("url(#", "");
        assert!(page.contains("<td>done to it</td><td>nothing</td>"), "{file}");
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

/// Every event of a log as `(t, kind, frame, sentence)`, told by the page's script.
fn told_by_the_page(runs: &Runs, name: &str) -> Vec<[String; 4]> {
    let page = runs.report(&[name], &[]);
    fs::write(runs.path("run.json"), between(&page, "class=\"run\">", "</script>")).expect("own folder");
    fs::write(runs.path("events.txt"), between(&page, "class=\"events\">", "</script>")).expect("own folder");
    fs::write(runs.path("signals.txt"), between(&page, "class=\"signals\">", "</script>")).expect("own folder");
    let script = r#"
        const fs = require("fs"), Ethbus = require(process.argv[2]), folder = process.argv[3];
        const run = JSON.parse(fs.readFileSync(`${folder}/run.json`, "utf8"));
        const events = Ethbus.unpack(run, Ethbus.octets(fs.readFileSync(`${folder}/events.txt`, "utf8")));
        const packed = Ethbus.octets(fs.readFileSync(`${folder}/signals.txt`, "utf8"));
        const scene = Ethbus.collide(Ethbus.signals(run, packed), events);
        for (let i = 0; i < events.n; i++) {
          const frame = `${run.names[events.of[i]]}#${events.serial[i]}`, kind = run.kinds[events.kind[i]][0];
          console.log([events.t[i], kind, frame, Ethbus.sentence(run, events, scene, i)].join("\t"));
        }"#;
    fs::write(runs.path("tell.js"), script).expect("own folder");
    let page_script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/study/report/told.js");
    let folder = runs.file("");
    let told = run(program("node", [runs.file("tell.js").as_str(), page_script, folder.trim_end_matches('/')]));
    let parts = |line: &str| {
        let parts: Vec<String> = line.split('\t').map(str::to_owned).collect();
        parts.try_into().unwrap_or_else(|_| panic!("{line}"))
    };
    told.succeeded().stdout.lines().map(parts).collect()
}

fn logged(runs: &Runs, name: &str) -> Vec<Value> {
    let log = unproven(&fs::read_to_string(runs.path(name)).expect("a log"));
    log.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The page's script and `explain` describe every collision alike: same stations, same bit time, same words.
#[test]
fn the_page_tells_collisions_in_the_words_of_explain() {
    if !is_installed("node") {
        return skip("needs node");
    }
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
    if !is_installed("node") {
        return skip("needs node");
    }
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
    // Opened at the first that met another station.
    let open = described(&page)["open"].as_u64().expect("a place") as usize;
    assert!(told[open][1] == "collision" && told[open][3].starts_with("Collision 1 on"), "{:?}", told[open]);
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
    if !is_installed("node") {
        return skip("needs node");
    }
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

/// Without scripts the page tells the first events in the words that its script has.
#[test]
fn the_first_events_are_there_without_scripts() {
    if !is_installed("node") {
        return skip("needs node");
    }
    let runs = plca();
    runs.add("cable", &CABLE);
    for name in ["plca.events", "cable.events"] {
        let told = told_by_the_page(&runs, name);
        let page = runs.report(&[name], &["--from", "12000"]);
        let list = between(&page, "<noscript>", "</noscript>");
        let lines: Vec<&str> =
            list.split("<li>").skip(1).map(|line| line.split("</li>").next().unwrap_or("")).collect();
        assert_eq!(lines.len(), 40, "{list}");
        let since =
            told.iter().position(|[t, ..]| t.parse::<u64>().expect("a number") >= 12_000).expect("later events");
        for (line, [_, _, frame, sentence]) in lines.iter().zip(&told[since..]) {
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
    assert!(!idle.contains("NaN") && !idle.contains("<canvas"), "{idle}");
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
    assert!(fs::read_to_string(page).expect("the page").contains("The log is not whole"));
    for (options, words) in [
        ([["--at", "99999999999"], ["--to", "9"]], "--at: 99,999,999,999 BT is after the end, which is at "),
        ([["--from", "99999999999"], ["--to", "9"]], "--from: 99,999,999,999 BT is after the end"),
        ([["--from", "500"], ["--to", "500"]], "--to: 500 BT is not after --from, 500 BT"),
    ] {
        let (log, none) = (runs.file("a.events"), runs.file("none.html"));
        let asked = ["report", &log, "-o", &none].into_iter().chain(options.into_iter().flatten());
        run(ethbus(asked)).failed_with(2, &[words]);
    }
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
    let folder = runs.file("plots");
    let page = runs.report(&["cut.events"], &["--svg", &folder]);
    let row = |what: &str| between(&page, &format!("<td>{what}</td><td>"), "</td>").to_owned();
    let done = row("done to it");
    assert!(done.contains("t = 100,000 BT: the cable is cut between st2 and st3; t = 200,000 BT"), "{done}");
    assert_eq!(row("longest way"), "22 BT (2.2 us); 508 m, within 12 m, of cable at 0.77 c");
    assert!(row("traffic").contains(" frames of 64 octets, ") && row("traffic").contains("always has a frame"));
    for plot in ["utilization", "fairness", "capture", "access_delay", "attempts"] {
        let picture = fs::read_to_string(format!("{folder}/{plot}.svg")).expect(plot);
        assert!(picture.contains("10 ms: the cable is cut between st2 and st3"), "{plot}");
        let over_time = picture.contains("time, ms");
        assert_eq!(picture.contains("#B3001B"), over_time, "{plot}: a line at each change along an axis of time");
    }
    assert!(!page.contains("Metcalfe"), "two media");
    assert!(runs.report(&["whole.events"], &[]).contains("Metcalfe"));
}

/// Of a collision of many stations every window names the first ones, and counts the others.
#[test]
fn a_collision_of_many_names_a_few() {
    if !is_installed("node") {
        return skip("needs node");
    }
    let runs = Runs::new("many", &["--stations", "30", "--duration", "2ms", "--warmup", "0s"]);
    let words = "st9#1, which began in the same bit time; and 21 more. Preamble";
    let told = told_by_the_page(&runs, "many.events");
    assert!(told[..200].iter().any(|[_, _, frame, sentence]| frame == "st1#1" && sentence.contains(words)), "{told:?}");
    let explained = run(ethbus(["explain", &runs.file("many.events"), "--frame", "st1#1"])).unwrapped();
    assert!(explained.contains(words), "{explained}");
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
        for heading in ["What happened, over place and time", "In detail", "Who met whom", "Backoff by attempt"] {
            assert!(page.contains(heading), "{name}: {heading}");
        }
        let done = between(&page, "<td>done to it</td><td>", "</td>");
        assert!(done.contains(if name == "classroom" { "cut" } else { "deaf" }), "{name}: {done}");
        for plot in ["utilization", "fairness", "capture", "access_delay", "attempts"] {
            let picture = fs::read_to_string(format!("{folder}/{plot}.svg")).expect(plot);
            assert!(picture.starts_with("<svg") || picture.starts_with("<?xml"), "{plot}");
        }
    }
    let page = runs.report(&["classroom.record"], &["--from", "1000", "--to", "200000", "--at", "5000"]);
    let data = described(&page);
    assert!(data["packed_from"].as_u64() >= Some(1000) && data["end"].as_u64() < Some(200_000), "{data}");
}
