//! What users without queues offer, beside what the medium can carry: known before a run begins.

use super::Plan;
use crate::scenario::file::AccessMethod;
use crate::traffic::{Arrivals, Every, FurtherTraffic, TrafficSpec};
use crate::words::configuration::slot;
use medium::{Aloha, BitTimes, Config, Csma, Method, PREAMBLE_AND_SFD, Population, SlottedAloha};
use std::f64::consts::E;
use std::num::NonZeroU32;

/// The most that a method carries, in frames a slot or a frame time.
struct Most {
    of: AccessMethod,
    carried: f64,
    /// How a reader knows it.
    known_as: &'static str,
    /// The unit of the load.
    unit: &'static str,
    attempt_limit: Option<NonZeroU32>,
}

/// Says so if more is offered than the method can carry, and nothing holds the rest back: queues of stations do, by
/// dropping frames, and infinitely many users have none.
pub(super) fn overload_warning(medium: &Config, traffic: &[TrafficSpec], further: &FurtherTraffic) -> Option<String> {
    let most = most(&medium.method)?;
    let (offered, taken) = offered_load(medium, traffic, further);
    if taken <= most.carried {
        return None;
    }
    let Most { of, carried, known_as, unit, attempt_limit } = most;
    let fate = match attempt_limit {
        Some(limit) => format!("frames that met others {} times are given up", limit.get()),
        None => {
            "the rest is tried again and again, so the backlog and the trace grow as long as the run lasts".to_owned()
        }
    };
    let carried = carried * offered / taken;
    let less = (carried * 80.0).floor() / 100.0;
    Some(format!(
        "{offered:.3} frames a {unit} are offered, and {} carries at most {carried:.3}{known_as}: {fate}; offer less, like `poisson:{less}/slot`, or have stations send, whose queues drop frames (`--population stations`)",
        of.title(),
    ))
}

/// Frames that all sources offer in a slot or a frame time, and what part of it they take: without slots a short frame takes less
/// than the frame time.
pub(super) fn offered_load(medium: &Config, traffic: &[TrafficSpec], further: &FurtherTraffic) -> (f64, f64) {
    let slot = slot(&medium.method).unwrap_or(medium.parameters.slot_time);
    let sources = traffic.iter().chain(further.sources.iter().map(|(_, spec)| spec));
    let load = |spec: &TrafficSpec| {
        let frame = spec.mean_frame(medium);
        let frames = in_slots(&spec.arrivals, frame, slot);
        (frames, frames * part_taken(medium, frame))
    };
    sources.map(load).fold((0.0, 0.0), |(frames, taken), more| (frames + more.0, taken + more.1))
}

/// The part of the rate that all sources offer, in bits of frames from destination address to FCS: the `utilization_frame` of a
/// medium that carries everything, whatever a method counts loads in. None if a source waits for the medium, an answer or a
/// file, or the timetable changes what is offered.
pub fn part_of_rate(plan: &Plan) -> Option<f64> {
    let Plan { medium, traffic, further, changes, .. } = plan;
    if changes.iter().any(|(_, deed)| deed.traffic().is_some()) {
        return None;
    }
    let slot = slot(&medium.method);
    let part = |spec: &TrafficSpec| {
        let frame = spec.mean_frame(medium);
        match &spec.arrivals {
            Arrivals::Silent => Some(0.0),
            Arrivals::Poisson { load }
            | Arrivals::OnOff { load, .. }
            | Arrivals::Periodic { every: Every::Load(load), .. } => Some(load.of_rate(frame, slot)),
            Arrivals::Periodic { every: Every::Period(period), frames, .. } => {
                Some(f64::from(*frames) * frame / BitTimes::within(*period, medium.rate).get().max(1) as f64)
            }
            Arrivals::Saturated | Arrivals::Window(_) | Arrivals::Replay { .. } | Arrivals::Bernoulli { .. } => None,
            Arrivals::Tcp(_) | Arrivals::Ping(_) | Arrivals::Udp(_) => None,
        }
    };
    traffic.iter().chain(further.sources.iter().map(|(_, spec)| spec)).map(part).sum()
}

/// What the medium carries at best if its users are infinitely many; nothing if they are the stations, or are not contenders.
fn most(method: &Method) -> Option<Most> {
    // With capture the most of ALOHA is not known. One frame at a time is the most of CSMA.
    let (population, attempt_limit, (of, carried, known_as, unit)) = match method {
        Method::Aloha(Aloha { population, attempt_limit, capture: None, .. }) => {
            (population, attempt_limit, (AccessMethod::Aloha, 0.5 / E, ", 1/(2e)", "frame time"))
        }
        Method::SlottedAloha(SlottedAloha { population, attempt_limit, capture: None, .. }) => {
            (population, attempt_limit, (AccessMethod::SlottedAloha, 1.0 / E, ", 1/e", "slot"))
        }
        Method::Csma(Csma { population, attempt_limit, .. }) => {
            (population, attempt_limit, (AccessMethod::Csma, 1.0, "", "frame time"))
        }
        _ => return None,
    };
    let most = Most { of, carried, known_as, unit, attempt_limit: *attempt_limit };
    (*population == Population::Infinite).then_some(most)
}

/// Frames that a source offers in a slot or a frame time on average, with a mean frame of `frame` bit times; 0 if this depends on
/// the run.
fn in_slots(arrivals: &Arrivals, frame: f64, slot: BitTimes) -> f64 {
    match arrivals {
        Arrivals::Bernoulli { chance } => *chance,
        _ => arrivals.load().map_or(0.0, |load| load.in_slots(frame, slot)),
    }
}

/// What a mean frame takes of a slot or a frame time. A slot is taken whole.
fn part_taken(medium: &Config, frame: f64) -> f64 {
    let (Method::Aloha(Aloha { slot, .. }) | Method::Csma(Csma { slot, .. })) = &medium.method else { return 1.0 };
    (PREAMBLE_AND_SFD.get() as f64 + frame) / slot.get() as f64
}

#[cfg(test)]
mod tests {
    use crate::scenario::file::Scenario;
    use crate::scenario::plan::{Overrides, Plan};

    fn warnings(access: &str, further: &str) -> Vec<String> {
        let text = format!("[run]\nduration = \"1s\"\n[access]\nmethod = {access}\n{further}");
        let scenario: Scenario = toml::from_str(&text).expect("a scenario");
        Plan::new(&scenario, None, &Overrides::default().with("stations", 4), 1).expect("a plan").run_warnings
    }

    fn infinite(method: &str) -> String {
        format!("\"{method}\"\npopulation = \"infinite\"")
    }

    fn poisson(load: &str) -> String {
        format!("[traffic]\narrivals = \"poisson:{load}/slot\"")
    }

    /// 1/(2e) = 0.18394, 1/e = 0.36788: no offered load above these gets through (Abramson 1970, Roberts 1972).
    #[test]
    fn more_than_a_method_carries_is_said() {
        for (method, fits, exceeds, carried) in [
            ("aloha", "0.18", "0.19", "0.184, 1/(2e)"),
            ("slotted-aloha", "0.36", "0.37", "0.368, 1/e"),
            ("csma", "1", "1.01", "1.000"),
        ] {
            let method = infinite(method);
            assert_eq!(warnings(&method, &poisson(fits)), Vec::<String>::new(), "{method}");
            let said = warnings(&method, &poisson(exceeds)).concat();
            assert!(said.contains(&format!("at most {carried}:")), "{method}: {said}");
        }
        let endless = warnings(&infinite("aloha"), &poisson("0.3")).concat();
        assert!(endless.starts_with("0.300 frames a frame time are offered"), "{endless}");
        assert!(
            endless.contains("the backlog and the trace grow") && endless.contains("`poisson:0.14/slot`"),
            "{endless}"
        );
        let given_up = warnings(&infinite("csma"), &poisson("1.5")).concat();
        assert!(given_up.contains("frames that met others 16 times are given up"), "{given_up}");
    }

    /// A load is the same part of the rate for each method. 0.2 frames a slot are less: 512 of 576 bits of a frame with preamble
    /// are frame.
    #[test]
    fn a_load_of_any_method_is_a_part_of_the_rate() {
        let part = |method: &str, arrivals: &str| {
            let text = format!(
                "[run]\nduration = \"1s\"\n[access]\nmethod = \"{method}\"\n[traffic]\narrivals = \"{arrivals}\""
            );
            let scenario: Scenario = toml::from_str(&text).expect("a scenario");
            let plan = Plan::new(&scenario, None, &Overrides::default().with("stations", 4), 1).expect("a plan");
            super::part_of_rate(&plan)
        };
        let near = |part: Option<f64>, right: f64| part.is_some_and(|part| (part - right).abs() < 1e-12);
        for method in ["csma-cd", "aloha", "slotted-aloha", "csma", "csma-ca", "tdma", "plca"] {
            assert!(near(part(method, "poisson:0.2"), 0.2), "{method}");
        }
        assert!(near(part("aloha", "poisson:0.2/slot"), 0.2 * 512.0 / 576.0));
        // 4 stations, each with 512 bits in 10,000.
        assert!(near(part("csma", "periodic:every=1ms"), 4.0 * 512.0 / 10_000.0));
        assert_eq!(part("csma", "saturated"), None);
    }

    /// Short frames take less than the frame time, which is that of the longest.
    #[test]
    fn mixed_sizes_carry_more_frames() {
        let mixed = |load| format!("{}\nframe_size = \"64:1,1518:1\"", poisson(load));
        assert_eq!(warnings(&infinite("aloha"), &mixed("0.3")), Vec::<String>::new());
        assert!(!warnings(&infinite("aloha"), &mixed("0.4")).is_empty());
        assert!(!warnings(&infinite("slotted-aloha"), &mixed("0.4")).is_empty(), "a slot is taken whole");
    }

    /// Stations send one frame after the other, and their queues drop what is too much; saturated ones offer no load.
    #[test]
    fn queues_hold_back_what_is_too_much() {
        assert_eq!(warnings("\"aloha\"", &poisson("2")), Vec::<String>::new());
        assert_eq!(warnings("\"aloha\"", "[traffic]\narrivals = \"saturated\""), Vec::<String>::new());
        assert_eq!(warnings("\"csma-cd\"", "[traffic]\narrivals = \"poisson:2\""), Vec::<String>::new());
    }
}
