//! Files of a run, and the lines of its event log.

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is removed with the test.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A file in it.
pub fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

/// The kind of a line; of a deed, its word.
pub fn kind(line: &Value) -> &str {
    let deed = || <medium::Deed>::WORDS.into_iter().find(|word| !line[*word].is_null());
    line["kind"].as_str().or_else(deed).expect("a kind, or a deed")
}

/// The lines of an event log of these kinds.
pub fn logged(log: &str, kinds: &[&str]) -> Vec<Value> {
    let lines = log.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| kinds.contains(&kind(line))).collect()
}
