//! The page of a report shows the bus of every other window: its script, run in node, has each signal with the begin, the
//! end and the hearers that the reference models of `crates/medium` give it, and the sentences of the live view.

use crate::case::{self, Case, Facts, Key, Signals, about, differs, viewed};
use crate::common::process::{program, run};
use crate::common::{is_installed, skip};
use ethbus::study::report::gather::Run as Told;
use ethbus::study::report::page::{Stretch, page};
use serde_json::{Value, json};
use std::fs;

fn page_of(folder: &tempfile::TempDir, number: usize, case: &Case) {
    let log = folder.path().join("log");
    fs::write(&log, &case.log).expect("own folder");
    let run = Told::read(&log).expect("a run");
    let text = page(&[run], &[], Stretch::default(), "").expect("a page");
    for part in ["run", "events", "signals"] {
        let begin = text.find(&format!("class=\"{part}\">")).expect("its data") + part.len() + 9;
        let end = begin + text[begin..].find("</script>").expect("an end");
        fs::write(folder.path().join(format!("{number}.{part}")), &text[begin..end]).expect("own folder");
    }
}

const SCRIPT: &str = r#"
    const fs = require("fs"), Ethbus = require(process.argv[2]), folder = process.argv[3];
    for (let n = 0; n < Number(process.argv[4]); n++) {
      const read = (part) => fs.readFileSync(`${folder}/${n}.${part}`, "utf8");
      const run = JSON.parse(read("run")), events = Ethbus.unpack(run, Ethbus.octets(read("events")));
      const scene = Ethbus.collide(Ethbus.signals(run, Ethbus.octets(read("signals"))), events);
      const signals = scene.all.filter((one) => !one.open).map((one) => {
        const last = Ethbus.parts(scene, one).pop()[0], what = /^[A-Z]/.test(last) ? last : "frame";
        const reaches = run.names.map((_, station) => Ethbus.reaches(run, one, station));
        return [one.of, what, one.begin, `${run.names[one.about]}#${one.serial}`, one.end, reaches];
      });
      const sentences = Array.from({ length: events.n }, (_, i) => Ethbus.sentence(run, events, scene, i));
      fs.writeFileSync(`${folder}/${n}.told`, JSON.stringify({ signals, sentences }));
    }"#;

fn told_by_the_page(folder: &tempfile::TempDir, count: usize, place: usize) -> Value {
    if place == 0 {
        let script = folder.path().join("tell.js");
        fs::write(&script, SCRIPT).expect("own folder");
        let page_script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/study/report/told.js");
        let arguments = [script.to_str().expect("UTF-8"), page_script, folder.path().to_str().expect("UTF-8")];
        run(program("node", arguments.into_iter().chain([count.to_string().as_str()]))).succeeded();
    }
    let told = fs::read(folder.path().join(format!("{place}.told"))).expect("what the page tells");
    serde_json::from_slice(&told).expect("JSON")
}

fn page_agrees(case: &Case, sentences: &[String], shown: &Value) -> Result<(), String> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let signals: Signals = (shown["signals"].as_array().expect("a list").iter())
        .map(|one| {
            let reaches = one[5].as_array().expect("a list").iter().map(|it| *it == json!(true)).collect();
            let of = about(one[1].as_str().expect("a text"), text(&one[3]));
            ((number(&one[0]) as usize, text(&one[1]), number(&one[2]), of), (number(&one[4]), reaches))
        })
        .filter(|(_, (end, _)): &(Key, Facts)| *end < case.horizon)
        .collect();
    differs("signals", &signals, &case.truth)?;
    let others = shown["sentences"].as_array().expect("a list");
    for (own, other) in sentences.iter().zip(others) {
        // Kinds of 802.11 have no sentence so far: the page has them as JSON.
        if own.ends_with('.') && own != other.as_str().expect("a text") {
            return Err(format!("{other}, and the live view has {own:?}"));
        }
    }
    if sentences.len() == others.len() { Ok(()) } else { Err("it has other events".to_owned()) }
}

/// The runs of a method, each handed over with the method's name.
type Runs = fn(&mut dyn FnMut(&str, Case));

/// What a method's runs look like on their pages.
fn hold(runs: Runs) {
    if !is_installed("node") {
        return skip("needs node");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut kept = Vec::new();
    runs(&mut |method, case| {
        if case.truth.len() > 1 {
            page_of(&folder, kept.len(), &case);
            kept.push((case, method.to_owned()));
        }
    });
    for (place, (case, method)) in kept.iter().enumerate() {
        let shown = told_by_the_page(&folder, kept.len(), place);
        let agreed = viewed(case).and_then(|(_, sentences)| page_agrees(case, &sentences, &shown));
        agreed.unwrap_or_else(|error| panic!("{method}: the page: {error}\n{}", case.log));
    }
}

#[test]
fn pages_agree_on_csma_cd() {
    hold(case::csma_cd);
}

#[test]
fn pages_agree_on_aloha() {
    hold(case::aloha);
}

#[test]
fn pages_agree_on_csma() {
    hold(case::csma);
}

#[test]
fn pages_agree_on_slotted_aloha() {
    hold(case::slotted_aloha);
}

#[test]
fn pages_agree_on_tdma() {
    hold(case::tdma);
}

#[test]
fn pages_agree_on_csma_ca() {
    hold(case::csma_ca);
}

#[test]
fn pages_agree_on_plca() {
    hold(case::plca);
}
