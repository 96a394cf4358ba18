//! What `ethbus sim` does with a scenario, figures included and the command line left out: for counting instructions.
//!
//! `cargo run --release -p ethbus-sim --example measured -- lam.toml 10s`
//!
//! Arguments: a scenario file, and for how long it is measured, in place of what the file says.

#![allow(clippy::disallowed_types, reason = "an example looks at the clock; the simulator does not")]

use sim::run::measure;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a scenario file");
    let text = std::fs::read_to_string(&path).expect("a file that can be read");
    let (scenario, source) = Scenario::from_text(Path::new(&path), text).unwrap_or_else(|error| panic!("{error}"));
    let mut plan =
        Plan::new(&scenario, Some(&source), &Overrides::default(), 1).unwrap_or_else(|error| panic!("{error}"));
    if let Some(seconds) = arguments.next() {
        let seconds = seconds.trim_end_matches('s').parse().expect("seconds, like `10s`");
        plan.run.duration = Duration::from_secs_f64(seconds);
    }
    let begin = Instant::now();
    let measured = measure::run(&plan, plan.medium.seed, &mut (), |_| true).expect("a plan that was checked");
    let wall = begin.elapsed().as_secs_f64();
    let results = measure::results(&plan, &[measured]);
    let frames = results.stations.iter().map(|station| station.counters["frames_transmitted_ok"]).sum::<u64>();
    let slots =
        sim::words::configuration::slot(&plan.medium.method).map_or(0, |slot| results.measured_bit_times / slot.get());
    println!(
        "{frames} frames, {slots} slots or frame times in {wall:.3} s: {:.0} frames and {:.0} slots a second; {:?}; {:?}",
        frames as f64 / wall,
        slots as f64 / wall,
        results.medium.slotted,
        results.medium.tcp,
    );
    // The kernel's count since the program began: what a parent process learns may be the parent's own memory.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|most| println!("{most}"));
}
