//! The program: exit codes, and what it says of files that are no such trace.

mod common;

use common::{rows, trace_of, written};
use medium::{BitRate, Config, Destination, Frame, Input, Octets, StationId, Topology};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Exit code, standard output, standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ethbus-verify")).args(arguments).output().expect("it runs");
    let text = |octets| String::from_utf8(octets).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn of(folder: &Path, name: &str, text: &str) -> (Option<i32>, String, String) {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    run(&[path.to_str().expect("UTF-8")])
}

#[test]
fn the_program_has_a_verdict_and_an_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::new(BitRate::MBIT_10, Topology::star(2, 10), 1);
    let frame = Frame::new(Octets::new(64), Destination::Station(StationId::new(1)));
    let inputs = [(5, Input::Offer { station: StationId::new(0), frame })];
    let text = trace_of(&config, &inputs, 10_000);
    let (code, told, _) = of(folder.path(), "right", &text);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.ends_with("right: 4 events, no violation\n"), "{told}");
    let mut less = rows(&text);
    less.remove(0);
    let (code, told, _) = of(folder.path(), "wrong", &written(&config, &less));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("5 st1 conservation (docs/trace.md, Events): st1#1 is attempted"), "{told}");
    let path = folder.path().join("wrong");
    let (code, told, _) = run(&[path.to_str().expect("UTF-8"), "--format", "json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((code, &told["holds"]), (Some(1), &json!(false)), "{told}");
    assert_eq!(told["traces"][0]["violations"][0]["rule"], "conservation");
    let inputs_only =
        text.replacen("\"level\":\"all\"", "\"level\":\"inputs\"", 1).replacen(",\"checked\":true", "", 1);
    for (name, text, words) in [
        ("changed", text.replacen("\"size\":64", "\"size\":65", 1), "lines were changed"),
        (
            "inputs",
            inputs_only,
            "has the level `inputs`, and ethbus-verify needs what happened: write it with the level",
        ),
        ("none", "hello\n".to_owned(), "this is no ethbus trace"),
    ] {
        let (code, _, error) = of(folder.path(), name, &text);
        assert_eq!(code, Some(2), "{name}: {error}");
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[test]
fn wrong_use_has_a_sentence() {
    for (arguments, words) in [
        (&["/no/such/file"][..], "cannot read /no/such/file: No such file"),
        (&[], "name a trace: `ethbus-verify TRACE`"),
        (&["--what"], "there is no option --what"),
        (&["a", "--format", "xml"], "--format is `text` or `json`"),
        (&["a", "--results"], "the file of --results is missing"),
        (&["a", "b", "--results", "c"], "--results is of one trace"),
    ] {
        let (code, _, error) = run(arguments);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(words), "{error}");
    }
    let (code, told, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(told.contains("Usage: ethbus-verify [OPTIONS] TRACE..."), "{told}");
}
