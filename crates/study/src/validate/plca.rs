//! PLCA against its closed form: cycles, what is left for frames, and the longest wait.

use super::row::Row;
use super::{Bench, Check, Topic, ValidateError};
use crate::theory::Value;
use crate::theory::plca::answer;
use medium::Kind;
use std::collections::BTreeMap;

/// A figure of the closed form.
fn expected(key: &str, nodes: u32, octets: u32, bursts: u32, to: u32) -> f64 {
    let answer = answer(nodes, octets, bursts, to, None).expect("in range");
    match answer.value(key) {
        Some(&Value::Count(count)) => count as f64,
        Some(&Value::Number(number)) => number,
        other => panic!("{key}: {other:?}"),
    }
}

/// The shortest cycle of a bus on which hardly any node talks: an idle one.
fn idle(nodes: u32, to: u32) -> Check {
    Box::new(move |bench: &Bench| -> Result<Vec<Row>, ValidateError> {
        let run = bench.sim(&format!(
            "--access plca --stations {nodes} --to-timer {to} --traffic poisson:0.001 --frame-size 64 --duration {}",
            bench.choose("2s", "500ms")
        ))?;
        let cycles = run.results.medium.plca.expect("a bus with PLCA");
        let what = format!("{nodes} nodes, to_tmr {to}: idle cycle, BT");
        let form = expected("idle_cycle_bt", nodes, 64, 0, to);
        Ok(vec![Row::exactly(what, form, cycles.cycle_min_bt as f64).from(&run.command)])
    })
}

/// One node that always has a frame, among turns that no other node uses.
fn one_talks(nodes: u32, octets: u32, bursts: u32) -> Check {
    Box::new(move |bench: &Bench| -> Result<Vec<Row>, ValidateError> {
        let run = bench.sim(&format!(
            "--access plca --stations 1 --node-count {nodes} --burst-count {bursts} --frame-size {octets} --duration {}",
            bench.choose("20s", "2s")
        ))?;
        let title = format!("1 of {nodes} talks, {octets} octets, burst-cnt {bursts}");
        let form = |key| expected(key, nodes, octets, bursts, 32);
        let medium = &run.results.medium;
        let cycles = medium.plca.expect("a bus with PLCA");
        let frame = run.estimate("utilization_frame", Some(medium.utilization_frame));
        let payload = run.estimate("utilization_payload", Some(medium.utilization_payload));
        let mut rows = vec![
            Row::about(format!("{title}: utilization"), form("one_utilization"), frame),
            Row::about(format!("{title}: goodput"), form("one_goodput"), payload),
        ];
        // Where a turn is missed on the way, cycles are not from turn to turn.
        if cycles.empty_cycles == 0 {
            let cycle = cycles.cycle_mean_bt.unwrap_or(0.0);
            rows.insert(0, Row::exactly(format!("{title}: cycle, BT"), form("one_cycle_bt"), cycle));
        }
        Ok(rows.into_iter().map(|row| row.from(&run.command)).collect())
    })
}

/// All nodes always have a frame.
fn all_talk(nodes: u32, octets: u32, bursts: u32) -> Check {
    Box::new(move |bench: &Bench| -> Result<Vec<Row>, ValidateError> {
        let run = bench.sim(&format!(
            "--access plca --stations {nodes} --burst-count {bursts} --frame-size {octets} --duration {}",
            bench.choose("20s", "2s")
        ))?;
        let title = format!("all {nodes} talk, {octets} octets, burst-cnt {bursts}");
        let form = |key| expected(key, nodes, octets, bursts, 32);
        let medium = &run.results.medium;
        let cycle = medium.plca.expect("a bus with PLCA").cycle_mean_bt.unwrap_or(0.0);
        let frame = run.estimate("utilization_frame", Some(medium.utilization_frame));
        let rows = [
            Row::exactly(format!("{title}: cycle, BT"), form("longest_cycle_bt"), cycle),
            Row::about(format!("{title}: utilization"), form("all_utilization"), frame),
            Row::exactly(format!("{title}: collisions on the line"), 0.0, medium.collision_episodes as f64),
        ];
        Ok(rows.map(|row| row.from(&run.command)).into())
    })
}

/// The longest wait of the node whose frames waited longest, beside the bound.
fn waits(nodes: u32, octets: u32, load: f64) -> Check {
    Box::new(move |bench: &Bench| -> Result<Vec<Row>, ValidateError> {
        let mut longest: BTreeMap<usize, u64> = BTreeMap::new();
        let run = bench.watch(
            &format!(
                "--access plca --stations {nodes} --traffic poisson:{load} --frame-size {octets} --warmup 0s --duration {}",
                bench.choose("60s", "4s")
            ),
            |event| {
                if let Kind::Transmitted { access_delay, .. } = event.kind {
                    let most = longest.entry(event.station.index()).or_default();
                    *most = (*most).max(access_delay.get());
                }
            },
        )?;
        let title = format!("{nodes} nodes, {octets} octets, load {load}");
        let bound = expected("access_delay_bound_bt", nodes, octets, 0, 32);
        let worst = longest.values().copied().max().unwrap_or(0) as f64;
        let rows = [
            Row::between(format!("{title}: longest wait of any node, BT"), 0.0, bound, worst),
            Row::exactly(format!("{title}: collisions on the line"), 0.0, run.results.medium.collision_episodes as f64),
        ];
        Ok(rows.map(|row| row.from(&run.command)).into())
    })
}

pub(super) fn topic() -> Topic {
    let idle = [idle(2, 32), idle(8, 32), idle(40, 32), idle(8, 24)];
    let one =
        [one_talks(8, 64, 0), one_talks(8, 1518, 0), one_talks(20, 64, 0), one_talks(40, 64, 0), one_talks(8, 64, 2)];
    let all = [all_talk(2, 1518, 0), all_talk(8, 64, 0), all_talk(8, 1518, 0), all_talk(8, 64, 2)];
    let waits = [waits(8, 64, 0.3), waits(8, 64, 0.6), waits(8, 1518, 0.8), waits(20, 64, 0.6), waits(40, 256, 0.5)];
    Topic {
        title: "PLCA",
        source: "802.3, clause 148: `ethbus theory plca`",
        about: "Cycles from BEACON to BEACON, what they leave for frames, and the longest wait from the head of a queue to the first \
                bit. Each wait has to stay below the bound.",
        checks: idle.into_iter().chain(one).chain(all).chain(waits).collect(),
    }
}
