//! The help of every command, word for word: a change of it is seen where it is reviewed.

use crate::common::process::{ethbus, run};
use std::path::Path;

/// All commands in the order of the help.
const COMMANDS: [&str; 33] = [
    "",
    "up",
    "list",
    "exec",
    "shell",
    "stats",
    "watch",
    "metrics",
    "plug",
    "unplug",
    "fault",
    "plca",
    "cut",
    "mend",
    "down",
    "send",
    "receive",
    "sim",
    "sweep",
    "merge",
    "plot",
    "validate",
    "replay",
    "explain",
    "story",
    "init",
    "check",
    "convert",
    "report",
    "doctor",
    "bench",
    "completions",
    "man",
];

/// `BLESS=1 cargo test --test house help::` rewrites the file.
#[test]
fn the_help_is_what_is_written_down() {
    let mut now = String::new();
    for command in COMMANDS {
        for option in ["-h", "--help"] {
            let arguments: Vec<&str> = command.split_whitespace().chain([option]).collect();
            let told = run(ethbus(&arguments)).succeeded().stdout;
            let told: String = told.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            now += &format!("$ ethbus {}\n{}\n\n", arguments.join(" "), told.trim_end());
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).expect("it is beside this file");
    }
    let before = std::fs::read_to_string(&path).expect("it is beside this file");
    assert_eq!(now, before);
}
