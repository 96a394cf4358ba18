//! Buses of one scenario as labs, with the kernel as the bridge between them.

use crate::common::lab::assert_nothing_of;
use crate::common::process::{ethbus, run};
use crate::common::results::{number, station};
use crate::common::{Turn, skipped};
use std::process::Command;

/// Labs that end with the test, however it ends.
struct Labs(String);

impl Labs {
    fn lab(&self, bus: &str) -> String {
        format!("{}.{bus}", self.0)
    }

    fn ethbus(&self, command: &str, bus: &str, arguments: &[&str]) -> Command {
        let name = self.lab(bus);
        ethbus([command, "--name", &name].iter().chain(arguments))
    }
}

impl Drop for Labs {
    fn drop(&mut self) {
        for bus in ["r", "f"] {
            drop(run(self.ethbus("down", bus, &[])));
        }
    }
}

/// A ping crosses from a bus with PLCA to one with CSMA/CD, frames of the scenario arrive at their addressee on the other
/// bus, and nothing is left.
#[test]
fn the_kernel_is_the_bridge_between_labs() {
    let _turn = Turn::shared();
    if skipped(&["ping"]) {
        return;
    }
    let labs = Labs(format!("z{}", std::process::id() % 100_000));
    let (bridge, folder) = (format!("{}b", labs.0), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("zonal.toml");
    let text = format!(
        "name = \"{}\"\n[bus.f]\nstations = 2\naccess.method = \"plca\"\n[bus.r]\nstations = 2\n\
         [[bus.r.station]]\narrivals = \"periodic:0.01\"\ndestination = \"f-1\"\n[[bus.r.station]]\narrivals = \"silent\"\n\
         [[bridge]]\nname = \"{bridge}\"\njoins = [\"f\", \"r\"]\n",
        labs.0
    );
    std::fs::write(&file, text).expect("own folder");
    let file = file.to_str().expect("plain");
    // A file is one lab's, and nothing comes up.
    run(ethbus(["up", "--background", "--events", "/dev/null", file])).failed_with(2, &["--events", "one lab"]);
    run(ethbus(["up", "--background", file])).succeeded();
    // Addresses are counted through: f-1, f-2, the bridge, r-1, r-2.
    run(labs.ethbus("exec", "f", &["f-2", "--", "ping", "-c", "3", "-i", "0.2", "-W", "5", "10.77.0.5"])).succeeded();
    let received = |bus: &str, name: &str| {
        let results = run(labs.ethbus("stats", bus, &["--format", "json"])).json();
        number(station(&results, name), "frames_received_ok")
    };
    assert!(received("f", "f-1") > 20, "the other bus's frames arrive: {}", received("f", "f-1"));
    run(ethbus(["down", &labs.0])).succeeded();
    ["r", "f"].iter().for_each(|bus| assert_nothing_of(&labs.lab(bus)));
    let left = Command::new("ip").args(["link", "show", &bridge]).output().expect("ip").status;
    assert!(!left.success(), "the bridge {bridge} is left");
}

/// If one lab does not come up, those that did go down again.
#[test]
fn all_buses_come_up_or_none() {
    let _turn = Turn::shared();
    if skipped(&["ip"]) {
        return;
    }
    let labs = Labs(format!("y{}", std::process::id() % 100_000));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("zonal.toml");
    let text = format!(
        "name = \"{}\"\n[bus.f]\nstations = 2\n[bus.r]\n[[bus.r.station]]\nnetns = \"pid:4194304\"\n\
         [[bridge]]\nname = \"{0}b\"\njoins = [\"f\", \"r\"]\n",
        labs.0
    );
    std::fs::write(&file, text).expect("own folder");
    let ended = run(ethbus(["up", "--background", file.to_str().expect("plain")]));
    ended.failed_with(1, &["4194304", "goes down again"]);
    ["r", "f"].iter().for_each(|bus| assert_nothing_of(&labs.lab(bus)));
}
