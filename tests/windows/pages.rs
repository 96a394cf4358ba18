//! A page shows the bus of every other window: it has each signal with the begin, the end and the hearers that the reference
//! models of `crates/medium` give it, and the sentences of the live view.

use crate::case::{self, Case, Facts, Key, Signals, about, differs, viewed};
use ::page::run::Run;
use serde_json::Value;

/// What the page draws and says of a run.
fn page_agrees(case: &Case, sentences: &[String]) -> Result<(), String> {
    let run = Run::open(case.log.as_bytes().into(), "trace")?;
    let shown = serde_json::to_value(run.scene(0, u64::MAX >> 1)).expect("numbers and names");
    let number = |value: &Value| value.as_u64().expect("a number");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let signals: Signals = (shown.as_array().expect("a list").iter())
        .map(|one| {
            let reaches = one["there"].as_array().expect("a list").iter().map(|there| !there.is_null()).collect();
            let parts = one["parts"].as_array().expect("a list");
            let end = parts.last().map_or(number(&one["begin"]), |part| number(&part[2]));
            let of = about(one["what"].as_str().expect("a text"), text(&one["frame"]));
            ((number(&one["source"]) as usize, text(&one["what"]), number(&one["begin"]), of), (end, reaches))
        })
        .filter(|(_, (end, _)): &(Key, Facts)| *end < case.horizon)
        .collect();
    differs("signals", &signals, &case.truth)?;
    let others = run.rows(u64::MAX, usize::MAX);
    for (own, other) in sentences.iter().zip(&others) {
        if *own != other.says {
            return Err(format!("{:?}, and the live view has {own:?}", other.says));
        }
    }
    if sentences.len() == others.len() { Ok(()) } else { Err("it has other events".to_owned()) }
}

/// The runs of a method, each handed over with the method's name.
type Runs = fn(&mut dyn FnMut(&str, Case));

/// What a method's runs look like on their pages.
fn hold(runs: Runs) {
    runs(&mut |method, case| {
        if case.truth.len() > 1 {
            let agreed = viewed(&case).and_then(|(_, sentences)| page_agrees(&case, &sentences));
            agreed.unwrap_or_else(|error| panic!("{method}: the page: {error}\n{}", case.log));
        }
    });
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
