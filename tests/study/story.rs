//! `ethbus story`: a page that opens from disk, with every section, and the same for the same seed.

use crate::common::ETHBUS;
use crate::common::process::{ethbus, program, run, run_for};
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
        "figures",
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
    assert_eq!(page.matches("<img ").count(), 6);
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

/// Issue: every item of the seeds has a command that shows it. What needs a lab, `tests/live/discards.rs` runs.
#[test]
fn each_item_of_the_seeds_has_a_command_that_runs() {
    let docs = include_str!("../../docs/story.md");
    let (_, list) = docs.split_once("| seed | item | command |\n|---|---|---|\n").expect("the list");
    let rows: Vec<Vec<&str>> =
        list.lines().map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
    assert!(rows.len() >= 56, "{} items", rows.len());
    for seed in ["000", "002", "003", "004"] {
        assert!(rows.iter().any(|row| row[0].contains(seed)), "no item of {seed}");
    }
    let show = |row: &Vec<&str>| {
        let [_, item, command] = row[..] else { panic!("{row:?} is no item") };
        if command.starts_with("in a lab: ") {
            return;
        }
        let line = command.trim_matches('`').strip_prefix("ethbus ").expect("a command of ethbus");
        let folder = tempfile::tempdir().expect("a directory");
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        std::os::unix::fs::symlink(examples, folder.path().join("examples")).expect("a link");
        let mut shell = program("sh", ["-c", &format!("exec \"$0\" {line}"), ETHBUS]);
        shell.current_dir(folder.path());
        let shown = run_for(shell, LIMIT);
        assert_eq!(shown.code(), Some(0), "{item}: ethbus {line}: {shown:#?}");
    };
    let (one, other) = rows.split_at(rows.len() / 2);
    std::thread::scope(|threads| {
        threads.spawn(|| one.iter().for_each(show));
        other.iter().for_each(show);
    });
}

/// A figure of the literature prints what its source says, and a verdict.
#[test]
fn figures_of_the_literature_have_a_verdict() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, said) in [("lam-5-1", "essentially the same"), ("lam-5-9", "more users"), ("lam-5-10", "K = 200")] {
        let out = folder.path().join(format!("{name}.svg"));
        let out = out.to_str().expect("a name");
        let told = run_for(ethbus(["plot", "--figure", name, "--quick", "--out", out]), LIMIT).succeeded().stderr;
        assert!(told.contains(said) && told.contains("verdict          agrees"), "{told}");
        let svg = std::fs::read_to_string(out).expect("a figure");
        assert!(svg.contains("simulation") || svg.contains("geometric"), "{svg}");
    }
    run(ethbus(["plot", "--figure", "csma-ca", "--out", "flow.png"])).failed_with(2, &["--figure csma-ca", ".svg"]);
    run(ethbus(["plot", "runs.csv", "--figure", "lam-5-1", "--out", "a.svg"])).failed_with(2, &["--figure"]);
}

#[test]
fn a_section_that_there_is_not_is_refused_with_those_that_there_are() {
    run(ethbus(["story", "--only", "token ring"])).failed_with(2, &["token ring", "Bianchi"]);
}
