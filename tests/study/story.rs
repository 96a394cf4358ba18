//! `ethbus story`: a page that opens from disk, with every section, and the same for the same seed.

use crate::common::process::{ethbus, run, run_for};
use std::time::Duration;

/// A build without optimisation on a busy machine takes its time.
const LIMIT: Duration = Duration::from_secs(600);

fn page(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("story.html");
    let out = out.to_str().expect("a name");
    run_for(ethbus([&["story", "--quick", "--out", out], arguments].concat()), LIMIT).succeeded();
    std::fs::read_to_string(out).expect("the page")
}

/// Issue: what the page must show, section by section.
#[test]
fn every_section_has_its_figure_and_its_command() {
    let page = page(&[]);
    let sections: Vec<&str> = page.split("<section id=\"").skip(1).collect();
    let ids: Vec<&str> = sections.iter().filter_map(|section| section.split('"').next()).collect();
    let wanted = [
        "abramson",
        "roberts",
        "kleinrock-lam",
        "lam",
        "infinite",
        "rcp",
        "beb",
        "tdma",
        "csma",
        "metcalfe-boggs",
        "random",
        "truncation",
        "capture",
        "bianchi",
        "hidden",
        "clients",
        "metastable",
    ];
    assert_eq!(ids, wanted);
    for (id, section) in ids.iter().zip(&sections) {
        assert!(section.contains("<svg") || section.contains("<table"), "{id} shows nothing");
        assert!(section.contains("<pre>ethbus "), "{id} has no command");
        assert!(!section.contains("NaN"), "{id} has no number somewhere");
    }
    // Pictures of lives have a style of their own, and are in the page as data.
    assert_eq!(page.matches("<img ").count(), 5);
    let page = page.replace("src=\"data:image/svg+xml;base64,", "");
    for fetched in ["<script", "src=", "<link", "url(", "@import"] {
        assert!(!page.contains(fetched), "{fetched} in the page");
    }
    assert!(page.contains("@media print") && page.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_same_seed_gives_the_same_page() {
    let once = page(&["--only", "hidden", "--seed", "7"]);
    assert_eq!(once, page(&["--only", "hidden", "--seed", "7"]));
    assert_ne!(once, page(&["--only", "hidden", "--seed", "8"]));
}

/// Both ends send to the middle: without RTS hardly anything gets through, with it more than ten times as much.
#[test]
fn rts_and_cts_help_the_hidden_senders() {
    let page = page(&["--only", "hidden"]);
    let tables: Vec<&str> = page.split("<table>").skip(1).collect();
    assert_eq!(tables.len(), 2, "{page}");
    let goodput = |table: &str| -> Vec<f64> {
        let cells = table.split("<td>").filter(|cell| cell.contains('±'));
        cells.filter_map(|cell| cell.split(' ').next()?.parse().ok()).collect()
    };
    let (heard, apart) = (goodput(tables[0]), goodput(tables[1]));
    assert!(heard[1] < heard[0] && heard[1] > 0.8 * heard[0], "{heard:?}");
    assert!(apart[1] > 10.0 * apart[0] && apart[1] > 0.8 * heard[1], "{apart:?}");
    assert!(page.contains("<pre>ethbus sim examples/hidden.toml --rts off --range 120m"));
}

#[test]
fn a_section_that_there_is_not_is_refused_with_those_that_there_are() {
    run(ethbus(["story", "--only", "token ring"])).failed_with(2, &["token ring", "Bianchi"]);
}
