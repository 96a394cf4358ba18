//! The examples of docs/virtual.md run, and show what they are for.

use super::common::files::{folder, path};
use super::common::process::{Finished, ethbus, run_for};
use super::common::skipped;
use super::images::busybox;
use super::is_ready;
use std::time::Duration;
use tempfile::TempDir;

/// Sixteen kernels on a busy machine take their time.
const LONG: Duration = Duration::from_secs(300);

/// Runs an example from the folder of the sources; its consoles are in `consoles`.
fn example(folder: &TempDir, name: &str) -> Finished {
    let scenario = format!("examples/virtual/{name}.toml");
    let mut command = ethbus(["run", &scenario, "--consoles", &path(folder, "consoles")]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    run_for(command, LONG).succeeded()
}

/// What the stations printed, in order of their numbers.
fn consoles(folder: &TempDir, stations: usize) -> Vec<String> {
    let console = |number| std::fs::read_to_string(folder.path().join(format!("consoles/st{number}.txt")));
    (1..=stations).map(|number| console(number).expect("a console")).collect()
}

/// How many consoles have a line with this text.
fn with(consoles: &[String], text: &str) -> usize {
    consoles.iter().filter(|console| console.contains(text)).count()
}

#[test]
fn seven_flows_share_a_segment_with_plca() {
    if !is_ready() {
        return;
    }
    let folder = folder();
    example(&folder, "plca");
    assert_eq!(with(&consoles(&folder, 8), "iperf Done"), 7);
}

#[test]
fn two_flows_over_csma_cd_and_over_csma_ca_with_hidden_stations() {
    if !is_ready() {
        return;
    }
    for name in ["capture", "hidden"] {
        let folder = folder();
        example(&folder, name);
        assert_eq!(with(&consoles(&folder, 3), "iperf Done"), 2, "{name}");
    }
}

/// Each station gets an address of its own from the first, and all hear all others.
#[test]
fn sixteen_kernels_boot_at_once() {
    if !is_ready() || skipped(&["busybox", "python3"]) {
        return;
    }
    let folder = folder();
    example(&folder, "boot");
    let consoles = consoles(&folder, 16);
    let lease =
        |console: &String| Some(console.lines().find(|line| line.starts_with("lease "))?.split(' ').nth(1)?.to_owned());
    let leases: std::collections::BTreeSet<String> = consoles.iter().filter_map(lease).collect();
    assert_eq!(leases.len(), 15, "{consoles:#?}");
    assert_eq!(with(&consoles, "heard 15 others"), 16, "{consoles:#?}");
}

/// The image is made of busybox alone, as small images are: its `date` may have no nanoseconds.
#[test]
fn a_container_image_is_a_root() {
    if !is_ready() || skipped(&["busybox"]) {
        return;
    }
    let folder = folder();
    // The image is in the folder of the scenario's file.
    std::fs::write(folder.path().join("image.tar"), busybox()).expect("a file");
    let (scenario, own) = (path(&folder, "container.toml"), "/examples/virtual/container.toml");
    std::fs::copy(format!("{}{own}", env!("CARGO_MANIFEST_DIR")), &scenario).expect("a copy");
    run_for(ethbus(["run", &scenario, "--consoles", &path(&folder, "consoles")]), LONG).succeeded();
    let console = &consoles(&folder, 2)[0];
    assert!(console.contains("3 packets received"), "{console}");
}
