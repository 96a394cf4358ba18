//! Items of the seeds, and figures of the literature: each has a command that shows it.

use crate::common::ETHBUS;
use crate::common::process::{ethbus, program, run, run_for};
use std::time::Duration;

/// A build without optimisation on a busy machine takes its time.
const LIMIT: Duration = Duration::from_secs(600);

/// Issue: every item of the seeds has a command that shows it. What needs a lab, `tests/live/discards.rs` runs.
#[test]
fn each_item_of_the_seeds_has_a_command_that_runs() {
    let docs = include_str!("../../docs/theory.md");
    let (_, list) = docs.split_once("| item | command |\n|---|---|\n").expect("the list");
    let rows: Vec<Vec<&str>> =
        list.lines().map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
    let (seeds, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row[0].starts_with("**"));
    assert_eq!(seeds.iter().map(|row| row[0]).collect::<Vec<_>>(), ["**000, 003**", "**003**", "**002**", "**004**"]);
    assert!(rows.len() >= 56, "{} items", rows.len());
    let show = |row: &Vec<&str>| {
        let [item, command] = row[..] else { panic!("{row:?} is no item") };
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
