//! A cable that is cut in two, live and in virtual time (issue 5, item 3; Deed::Cut).

use crate::common::files::kind;
use crate::common::lab::Lab;
use crate::common::process::{ethbus, replays, run};
use crate::common::results::{check, metric, number, station};
use crate::common::{Turn, skipped};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Four stations along a cable.
const BUS: &str = "stations = 4\n[medium]\ntopology = 'bus:500m'\n";

fn file(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("cut.toml");
    std::fs::write(&path, text).expect("own folder");
    path
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("plain")
}

/// The instants and places of the cuts in a record, which runs again with the same events.
fn cuts_of(record: &Path) -> Vec<(u64, Option<u64>)> {
    replays(record, &[]);
    let text = std::fs::read_to_string(record).expect("own folder");
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let cuts = lines.filter(|line| ["cut", "mend"].contains(&kind(line)));
    cuts.map(|line| (number(&line, "t"), line["cut"]["position_bt"].as_u64())).collect()
}

/// Stations on either side of a cut no longer hear each other, stations on the same side do, and after mending it is
/// one bus again.
#[test]
fn a_cable_is_cut_and_mended_while_the_bus_runs() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let (scenario, record) = (file(&folder, BUS), folder.path().join("run.record"));
    let mut lab = Lab::up(&[plain(&scenario), "--events", plain(&record), "--events-level", "inputs"]);
    let all_hear = |lab: &Lab| {
        for (from, to) in [("st1", "st2"), ("st3", "st4"), ("st1", "st4"), ("st4", "st2")] {
            lab.ping(from, &lab.ipv4(to));
        }
    };
    all_hear(&lab);
    run(lab.ethbus("cut", &["st3", "st2"])).succeeded();
    let results = lab.stats();
    assert!(number(&results["medium"]["cut"], "position_bt") > 0, "{results}");
    lab.ping("st1", &lab.ipv4("st2"));
    lab.ping("st3", &lab.ipv4("st4"));
    for (from, to) in [("st1", "st3"), ("st4", "st2")] {
        let unheard = run(lab.exec(from, &["ping", "-c", "1", "-W", "1", &lab.ipv4(to)]));
        assert_eq!(unheard.code(), Some(1), "{unheard:#?}");
    }
    assert!(run(lab.ethbus("stats", &[])).succeeded().stdout.contains("the cable is cut at"));
    run(lab.ethbus("mend", &[])).succeeded();
    all_hear(&lab);
    let results = lab.settled_stats();
    check(&results);
    assert!(results["medium"]["cut"].is_null(), "{results}");
    run(lab.ethbus("cut", &["st1", "st9"])).failed_with(1, &["st9", "st1, st2, st3, st4"]);
    run(lab.ethbus("cut", &["st1", "st1"])).failed_with(1, &["at the same place"]);
    lab.down();
    let cuts = cuts_of(&record);
    assert!(matches!(cuts[..], [(_, Some(_)), (_, None)]), "{cuts:?}");
}

#[test]
fn a_star_has_no_cable_to_cut() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    run(lab.ethbus("cut", &["st1", "st2"])).failed_with(1, &["a star has no cable"]);
    check(&lab.stats());
}

/// Two saturated stations on each side of a cut share two media, so the bus carries twice as much; mended, it is one
/// again. The traffic of both halves is recorded and replayed.
#[test]
fn a_cut_makes_two_media_in_virtual_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("run.record");
    let simulate = |cut: &str| {
        // The destination: a neighbour, on the same side of the cut.
        let stations = [2, 1, 4, 3].map(|to| format!("[[station]]\ndestination = 'st{to}'\n")).concat();
        let scenario = file(&folder, &format!("{}{cut}{stations}", BUS.replace("stations = 4\n", "")));
        let arguments = ["sim", plain(&scenario), "--frame-size", "512", "--duration", "1s", "--warmup", "0s"];
        run(ethbus(
            [&arguments[..], &["--events", plain(&record), "--events-level", "inputs", "--format", "json"]].concat(),
        ))
        .json()
    };
    let between = "[[cut]]\nbetween = ['st2', 'st3']\n";
    let whole = simulate("");
    let cut = simulate(between);
    let half = simulate(&format!("{between}from = '250ms'\nuntil = '750ms'\n"));
    let [whole_total, cut_total, half_total] =
        [&whole, &cut, &half].map(|results| metric(results, "utilization_total"));
    assert!(whole_total < 1.0 && whole_total > 0.9, "{whole_total}");
    assert!(cut_total > 1.8 && cut_total < 2.0, "{cut_total}");
    assert!((half_total - (whole_total + cut_total) / 2.0).abs() < 0.05, "{half_total}");
    for results in [&cut, &half] {
        for name in ["st1", "st2", "st3", "st4"] {
            let station = station(results, name);
            assert_eq!(number(station, "frames_transmitted_ok").abs_diff(number(station, "delivered")), 0, "{station}");
        }
    }
    assert!(number(&cut["medium"]["cut"], "position_bt") > 0, "{cut}");
    assert!(half["medium"]["cut"].is_null() || half["medium"].get("cut").is_none(), "{half}");
    assert_eq!(cuts_of(&record).iter().map(|(t, _)| *t).collect::<Vec<_>>(), [2_500_000, 7_500_000]);
}

#[test]
fn a_cut_that_makes_no_sense_is_named_with_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let cut = |text: &str| file(&folder, &format!("{BUS}{text}"));
    for (text, words) in [
        ("[[cut]]\nbetween = ['st1', 'st9']\n", vec![":5:19: between:", "`st9` is no station: write `st1`"]),
        ("[[cut]]\nbetween = ['st1']\n", vec!["between = [\"st1\", \"st2\"]"]),
        ("[[cut]]\nbetween = ['st2', 'st2']\n", vec![":5", "at the same place"]),
        ("[[cut]]\nbetween = ['st1', 'st2']\nfrom = '2s'\nuntil = '1s'\n", vec![":7", "mended after it was cut"]),
        ("[[cut]]\nwhere = 5\n", vec![":5:1: where:", "between"]),
        (
            "[[cut]]\nbetween = ['st1', 'st2']\n[[cut]]\nbetween = ['st2', 'st3']\nfrom = '1s'\n",
            vec!["one cut at a time", "`until`"],
        ),
    ] {
        run(ethbus(["sim", plain(&cut(text)), "--duration", "1s"])).failed_with(2, &words);
    }
    let star = file(&folder, "stations = 2\n[[cut]]\nbetween = ['st1', 'st2']\n");
    run(ethbus(["sim", plain(&star)])).failed_with(2, &[":3", "a star has no cable"]);
    let later = cut("[[cut]]\nbetween = ['st1', 'st2']\nfrom = '1s'\n");
    run(ethbus(["up", plain(&later)])).failed_with(2, &["ethbus cut", "leave out `from`"]);
}
