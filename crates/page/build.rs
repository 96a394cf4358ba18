//! Joins style and scripts into the page, which then lacks the engine alone.

use std::fs::{read_to_string, write};
use std::path::{Path, PathBuf};

/// In the order in which they import each other.
const SCRIPTS: [&str; 10] = [
    "engine.js",
    "told.js",
    "scenario.js",
    "picture.js",
    "charts.js",
    "bench.js",
    "trial.js",
    "lessons.js",
    "report.js",
    "page.js",
];

fn main() {
    let folder = Path::new("page");
    println!("cargo:rerun-if-changed={}", folder.display());
    let text = |name: &str| read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("page/{name}: {error}"));
    let script: String = SCRIPTS.iter().map(|name| joined(&text(name))).collect();
    let page = text("index.html").replace("/*STYLE*/", &text("page.css")).replace("/*SCRIPT*/", &script);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo gives one"));
    write(out.join("page.html"), page).expect("cargo's own folder");
}

/// A module as a part of a larger one.
fn joined(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.starts_with("import "));
    lines.map(|line| format!("{}\n", line.strip_prefix("export ").unwrap_or(line))).collect()
}
