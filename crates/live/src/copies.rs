//! Whether a live bus needs more copies of frames than this machine makes: known before the bus runs.
//!
//! Without a filter each frame is copied to all other stations. How many frames there are, a short run of the simulator
//! says, with the traffic that the scenario writes down; of what programs will send nothing is known.

use super::bench::frames_per_second;
use super::driver::sender::line_rate;
use link::fanout::Copiers;
use sim::run::measure;
use sim::scenario::plan::{Plan, RunPlan};
use sim::traffic::{Arrivals, TrafficSpec};
use sim::words::choices::FilterChoice;
use sim::words::units::{group, many};
use std::time::Duration;

/// Copies in a second for each processor that makes some, beside all else that a bus of saturated stations takes of it. By
/// docs/live.md (Measured) two processors are in time with 128 such stations and not with 254: 0.6 and 1.2 million.
const OF_A_PROCESSOR: f64 = 1e6;
/// Copies that the data plane sends in a second without the kernel's help: 63 in 78.9 us (ARCHITECTURE.md).
const SENT: f64 = 63.0 / 78.9e-6;

/// How long the simulator runs, in the medium's time.
const SAMPLE: Duration = Duration::from_millis(100);

/// A warning if `plan` needs more copies than this number of processors makes; `by_kernel`: the kernel makes them.
pub fn warning(plan: &Plan, by_kernel: bool, processors: usize) -> Option<String> {
    let others = plan.stations.len().saturating_sub(1) as f64;
    let threads = Copiers::threads(plan.stations.len(), processors);
    let (limit, by) = match by_kernel {
        true => (OF_A_PROCESSOR * threads as f64, many(threads as u64, "processor")),
        false => (SENT, "1 processor".to_owned()),
    };
    let rate = plan.pace.rate(plan.medium.rate);
    let most = others * line_rate(rate, plan.medium.parameters.min_frame_size);
    if plan.filter == FilterChoice::Address || most <= limit {
        return None;
    }
    let frames = frames(plan)? * plan.pace.time_scale;
    let [copies, limit, frames, others] = [frames * others, limit, frames, others].map(|it| it.round() as u64);
    (copies > limit).then(|| {
        format!(
            "{} frames a second to {others} stations each are {} copies, and {by} {} some {}: the medium's clock will \
             slip; write `filter = \"address\"` in `[emulator]`, by which a frame for one station is copied to that one \
             alone, or offer less",
            group(frames),
            group(copies),
            if threads > 1 && by_kernel { "make" } else { "makes" },
            group(limit),
        )
    })
}

/// The frames of the medium's second that the scenario's own traffic makes; none if it has none.
fn frames(plan: &Plan) -> Option<f64> {
    let mut plan = plan.clone();
    if !plan.has_traffic.contains(&true) && plan.further == Default::default() {
        return None;
    }
    for (spec, _) in plan.traffic.iter_mut().zip(&plan.has_traffic).filter(|(_, has)| !**has) {
        *spec = TrafficSpec { arrivals: Arrivals::Silent, ..TrafficSpec::default() };
    }
    plan.changes.clear();
    plan.run = RunPlan { duration: SAMPLE, warmup: SAMPLE / 10, ..RunPlan::DEFAULT };
    let run = measure::run(&plan, plan.medium.seed, &mut (), |_| true).ok()?;
    Some(frames_per_second(&measure::results(&plan, &[run])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::scenario::plan::Overrides;
    use std::path::Path;

    /// A bus of stations that are saturated with the shortest frames.
    fn saturated(stations: usize, more: &str) -> Plan {
        let text = format!("stations = {stations}\n[traffic]\narrivals = 'saturated'\nframe_size = 64\n{more}");
        Plan::of_text(Path::new("lab.toml"), text, &Overrides::default(), 1).expect("a scenario")
    }

    #[test]
    fn a_bus_that_needs_more_copies_than_the_processors_make_is_warned_of() {
        let told = warning(&saturated(254, ""), true, 2).expect("a warning");
        for words in ["to 253 stations each", "2 processors make some 2,000,000", "`filter = \"address\"`"] {
            assert!(told.contains(words), "no `{words}` in {told}");
        }
        println!("{told}");
        // Between what the simulator has with 64 stations and with none that collide.
        let copies = told.split_once("each are ").and_then(|(_, rest)| rest.split_once(" copies"));
        let copies: u64 = copies.expect("a number").0.replace(',', "").parse().expect("a number");
        assert!((2_000_000..14_880 * 253).contains(&copies), "{told}");
    }

    #[test]
    fn what_the_machine_holds_is_not_warned_of() {
        for stations in [10, 64, 128] {
            assert_eq!(warning(&saturated(stations, ""), true, 2), None, "{stations}");
        }
        assert_eq!(warning(&saturated(10, ""), false, 1), None);
        assert_eq!(warning(&saturated(254, ""), true, 4), None);
        assert_eq!(warning(&saturated(254, "[emulator]\nfilter = 'address'\n"), true, 2), None);
        assert_eq!(warning(&saturated(254, "[emulator]\ntime_scale = 0.1\n"), true, 2), None);
        // What programs will send is not known.
        let plan = Plan::of_text(Path::new("lab.toml"), "stations = 254".to_owned(), &Overrides::default(), 1);
        assert_eq!(warning(&plan.expect("a scenario"), true, 2), None);
    }
}
