//! Event logs as text.

/// Options for a trace of what a run is given, and one of what happens.
pub fn two_traces<'a>(inputs: &'a str, events: &'a str) -> [&'a str; 6] {
    ["--events", inputs, "--events-level", "inputs", "--events", events]
}

/// An event log without its checks, which can be changed: lines of the layer `check`, and the header's word for them.
pub fn unproven(log: &str) -> String {
    let lines = log.split_inclusive('\n').filter(|line| !line.contains("\"layer\":\"check\""));
    lines.collect::<String>().replacen(",\"checked\":true", "", 1)
}

/// A log of a live run without what a replay of its record does not have.
pub fn medium_layer(path: &str) -> String {
    let log = unproven(&std::fs::read_to_string(path).expect("UTF-8"));
    log.split_inclusive('\n').filter(|line| !line.contains("\"layer\":\"emulator\"")).collect()
}
