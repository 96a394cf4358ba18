//! ALOHA, slotted ALOHA and CSMA against the formulas of their authors.
//!
//! The formulas give S for a G; both are measured, and S is held against the formula at the G of the same run.

use super::row::Row;
use super::{Bench, Check, Topic, ValidateError};
use crate::theory::aloha::{self, Time};
use crate::theory::contention::acquisition;
use crate::theory::csma::{Csma, Persistence};
use crate::theory::lam::control::Procedure;
use crate::theory::lam::{Channel, Population};
use sim::figures::results::SlottedResults;

/// Bit times of a frame of 64 octets with its preamble: what all frames here take.
const FRAME: f64 = 576.0;

/// Infinitely many users: Poisson arrivals all over 200 stations, and waits so long that retransmissions are nearly Poisson.
fn infinite(access: &str, load: f64, backoff: u32, time: &str) -> String {
    format!(
        "--access {access} --population infinite --stations 200 --traffic poisson:{load}/slot --backoff uniform:{backoff} --duration {time}"
    )
}

/// S of a run whose attempts are G, which `formula` gives for it.
fn carried(
    bench: &Bench,
    what: String,
    arguments: &str,
    formula: impl Fn(f64) -> f64,
) -> Result<Vec<Row>, ValidateError> {
    let run = bench.sim(arguments)?;
    let SlottedResults { throughput, offered_traffic, .. } = run.results.medium.slotted.clone().expect("it has slots");
    let estimate = run.estimate("throughput", Some(throughput));
    Ok(vec![Row::about(what, formula(offered_traffic), estimate).from(&run.command)])
}

/// Pure and slotted ALOHA of infinitely many users.
fn infinite_aloha(time: Time, load: f64) -> Check {
    Box::new(move |bench| {
        let (access, title) = match time {
            Time::Pure => ("aloha", "pure ALOHA, S = G e^(-2G)"),
            Time::Slotted => ("slotted-aloha", "slotted ALOHA, S = G e^(-G)"),
        };
        let arguments = infinite(access, load, 1000, bench.choose("30s", "4s"));
        let formula = |g| aloha::throughput(time, g, None).expect("a load");
        carried(bench, format!("{title}, S = {load}"), &arguments, formula)
    })
}

/// CSMA of infinitely many users that are `distance` bit times apart.
fn infinite_csma(persistence: Persistence, distance: u32, load: f64) -> Check {
    Box::new(move |bench| {
        let (option, title) = match persistence {
            Persistence::Non => ("non".to_owned(), "nonpersistent CSMA".to_owned()),
            Persistence::One => ("1".to_owned(), "1-persistent CSMA".to_owned()),
            Persistence::Probability(p) => (p.to_string(), format!("{p}-persistent CSMA")),
        };
        let arguments = infinite("csma", load, 500, bench.choose("30s", "4s"));
        let arguments = format!("{arguments} --persistence {option} --topology star:{distance}bt");
        // A slot of the line, as long as p-persistent senders let go by, has a bit more than the way.
        let way = match persistence {
            Persistence::Non | Persistence::One => f64::from(distance),
            Persistence::Probability(_) => f64::from(distance + 1),
        };
        let protocol = Csma::new(persistence, false, way / FRAME).expect("a protocol");
        let formula = |g| protocol.throughput(g).expect("a load");
        carried(bench, format!("{title}, {distance} BT, S = {load}"), &arguments, formula)
    })
}

/// Lam's N users with one packet each: his chain, solved.
fn users(stations: u32, load: f64, retransmit: u32, ack_delay: u32) -> Check {
    Box::new(move |bench| {
        let chance = load / f64::from(stations);
        let time = bench.choose("60s", "8s");
        let (late, told) = match ack_delay {
            0 => (String::new(), String::new()),
            slots => (format!(" --ack-delay {slots}"), format!(", R = {slots}")),
        };
        let run = bench.sim(&format!(
            "--access slotted-aloha --stations {stations} --traffic bernoulli:{chance} --backoff geometric:{retransmit} \
             --duration {time}{late}"
        ))?;
        let channel = Channel::new(Population::Finite(stations), load, retransmit, ack_delay).expect("a channel");
        let steady = channel.steady().expect("a stable channel");
        let results = run.results.medium.slotted.clone().expect("it has slots");
        let what = |figure: &str| format!("{stations} users, S = {load}, K = {retransmit}{told}: {figure}");
        let backlog = run.estimate("backlog", Some(results.backlog));
        // While the news of its first collision is under way a frame is blocked in Lam's chain, and not yet backlogged here.
        let backlog = (ack_delay == 0).then(|| Row::about(what("backlog"), steady.mean_backlog, backlog));
        let throughput = run.estimate("throughput", Some(results.throughput));
        let delay = run.estimate("delay", results.delay);
        let rows = [
            Some(Row::about(what("S"), steady.throughput, throughput)),
            backlog,
            Some(Row::about(what("delay, slots"), steady.mean_delay_slots, delay)),
        ];
        Ok(rows.into_iter().flatten().map(|row| row.from(&run.command)).collect())
    })
}

/// Stations that know the number of frames that wait: its chain, solved. Those that estimate it get the load through.
fn controlled(control: &'static str, load: f64) -> Check {
    Box::new(move |bench| {
        let time = bench.choose("60s", "8s");
        let run = bench.sim(&format!(
            "--access slotted-aloha --population infinite --control {control} --stations 100 --traffic poisson:{load}/slot --duration {time}"
        ))?;
        let results = run.results.medium.slotted.clone().expect("it has slots");
        let what = |figure: &str| format!("backlog {control}, load {load}: {figure}");
        let mut rows = vec![Row::about(what("S"), load, run.estimate("throughput", Some(results.throughput)))];
        if control == "known" {
            let (_, delay) = aloha::known_backlog(load).expect("below 1/e");
            rows.push(Row::about(what("delay, slots"), delay, run.estimate("delay", results.delay)));
        }
        Ok(rows.into_iter().map(|row| row.from(&run.command)).collect())
    })
}

/// Saturated stations that know their number Q: A = (1 - 1/Q)^(Q - 1).
fn controlled_and_saturated(stations: u32) -> Check {
    Box::new(move |bench| {
        let time = bench.choose("20s", "4s");
        let run =
            bench.sim(&format!("--access slotted-aloha --control known --stations {stations} --duration {time}"))?;
        let results = run.results.medium.slotted.clone().expect("it has slots");
        let expected = acquisition(stations).expect("stations");
        let measured = run.estimate("throughput", Some(results.throughput));
        Ok(vec![
            Row::about(format!("{stations} saturated stations, backlog known: S"), expected, measured)
                .from(&run.command),
        ])
    })
}

/// The best control limits of users who know the backlog: Lam and Kleinrock's chain, solved, and stations with its limits.
fn limited(procedure: Procedure) -> Check {
    Box::new(move |bench| {
        let (stations, load, retransmit, longer) = (400, 0.32, 10, 200);
        let channel = Channel::new(Population::Finite(stations), load, retransmit, 0).expect("a channel");
        let best = channel.controlled(procedure, &[longer]).expect("a chain that can be solved");
        // Beyond the first change the policy is that of backlogs which it does not come to.
        let last_before = |changes: &dyn Fn(&(bool, u32)) -> bool| best.policy.iter().position(changes).map(|n| n - 1);
        let mut limits = retransmit.to_string();
        last_before(&|(_, k)| *k != retransmit).into_iter().for_each(|n| limits += &format!(",{longer}@{n}"));
        last_before(&|(accepts, _)| !accepts).into_iter().for_each(|n| limits += &format!(",reject@{n}"));
        let (chance, time) = (load / f64::from(stations), bench.choose("20s", "4s"));
        let run = bench.sim(&format!(
            "--access slotted-aloha --stations {stations} --traffic bernoulli:{chance} --control known,{limits} --duration {time}"
        ))?;
        let results = run.results.medium.slotted.clone().expect("it has slots");
        let what = |figure: &str| format!("{stations} users, S = {load}, limits {limits}: {figure}");
        let throughput = run.estimate("throughput", Some(results.throughput));
        let mut rows = vec![Row::about(what("S"), best.throughput, throughput)];
        // The chain's delay counts the waits of rejected packets, which end here.
        if best.rejected == 0.0 {
            let delay = run.estimate("delay", results.delay);
            rows.push(Row::about(what("delay, slots"), best.mean_delay_slots, delay));
        }
        Ok(rows.into_iter().map(|row| row.from(&run.command)).collect())
    })
}

/// Radio capture of two groups: a frame of a near station survives those of far ones, and one of a far station needs a
/// slot without near ones.
fn captured() -> Check {
    Box::new(move |bench| {
        let run = bench.sim(&format!("examples/capture.toml --duration {}", bench.choose("60s", "8s")))?;
        let (near, far) = (0.21_f64, 0.33_f64);
        let alone = |chance: f64| 3.0 * chance * (1.0 - chance).powi(2);
        let expected = alone(near) + (1.0 - near).powi(3) * alone(far);
        let results = run.results.medium.slotted.clone().expect("it has slots");
        let measured = run.estimate("throughput", Some(results.throughput));
        Ok(vec![Row::about("capture, 3 near and 3 far stations: S", expected, measured).from(&run.command)])
    })
}

pub(super) fn aloha() -> Topic {
    let loads = [0.05, 0.1, 0.15];
    let pure = loads.map(|load| infinite_aloha(Time::Pure, load));
    let slotted = loads.map(|load| infinite_aloha(Time::Slotted, 2.0 * load));
    // The last two wait for the news of a collision only: 10 users who waited for all of it would get less through.
    let chains = [users(50, 0.3, 60, 0), users(400, 0.32, 200, 0), users(50, 0.3, 60, 12), users(10, 0.1, 200, 100)];
    let known = [controlled("known", 0.2), controlled("known", 0.3), controlled("estimated", 0.33)];
    let known = known.into_iter().chain([controlled_and_saturated(10)]);
    let limits = [Procedure::Input, Procedure::Retransmission, Procedure::Both].map(limited);
    Topic {
        title: "ALOHA and slotted ALOHA",
        source: "Abramson 1970, Roberts 1972; Lam 1974: the Markov chain of N users with one packet each; Rivest 1987, Bertsekas and \
                 Gallager 1992, 4.2.3: each of n frames that wait goes out with the chance 1/n; Lam and Kleinrock 1975: control \
                 limits of the chain by policy iteration; Metzner 1976: capture of two groups",
        about: "S and G: successes and attempts in a frame time, or a slot. S is held against the formula at the G of the same run.",
        checks: pure.into_iter().chain(slotted).chain(chains).chain(known).chain(limits).chain([captured()]).collect(),
    }
}

pub(super) fn csma() -> Topic {
    let of = |persistence, distance, loads: [f64; 2]| loads.map(|load| infinite_csma(persistence, distance, load));
    let checks = [
        of(Persistence::Non, 5, [0.3, 0.5]),
        of(Persistence::Non, 58, [0.2, 0.4]),
        of(Persistence::One, 5, [0.2, 0.4]),
        of(Persistence::One, 58, [0.2, 0.35]),
        of(Persistence::Probability(0.1), 7, [0.3, 0.5]),
    ];
    Topic {
        title: "CSMA without collision detection",
        source: "Kleinrock and Tobagi 1975: S(G) of nonpersistent and 1-persistent CSMA, unslotted, and of p-persistent CSMA",
        about: "G counts attempts and frames that found the line busy and gave way. A station that waits for silence senses one silent bit \
                before it sends, where the formula has none.",
        checks: checks.into_iter().flatten().collect(),
    }
}
