//! Results of PLCA: cycles of the bus, and the settings, status and counters of each node.

use medium::{BitInstant, Medium, PlcaCounters, PlcaCycles, PlcaSettings, StationId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cycles of a bus, from BEACON to BEACON, in bit times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlcaResults {
    /// How many ended.
    pub cycles: u64,
    /// How many of them had no frame.
    pub empty_cycles: u64,
    /// How long they were on average; none if there was none.
    pub cycle_mean_bt: Option<f64>,
    /// The shortest.
    pub cycle_min_bt: u64,
    /// The longest.
    pub cycle_max_bt: u64,
    /// Times in which nothing was on the line for longer than 255 turns: no coordinator sent BEACONs.
    #[serde(default)]
    pub silences: u64,
    /// Octets of the longest frame that was sent; none of no frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_max_octets: Option<u32>,
    /// The bound of `access_delay` at every node, for frames of up to that length; none if PLCA is not right at every
    /// node, where a signal takes time, and after noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay_bound_bt: Option<u64>,
    /// Up to when noise, or a deaf receiver, was at some node, in the time measured; none if it never was. The bound
    /// holds for frames that come later, and what is measured has others too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_until_bt: Option<u64>,
}

impl PlcaResults {
    /// Of these cycles, and of the octets of the longest frame. The bound is not known yet.
    pub fn new(sums: &PlcaCycles, longest_frame: u32) -> PlcaResults {
        PlcaResults {
            frame_max_octets: (longest_frame > 0).then_some(longest_frame),
            access_delay_bound_bt: None,
            noise_until_bt: None,
            cycles: sums.cycles,
            empty_cycles: sums.empty,
            cycle_mean_bt: (sums.cycles > 0).then(|| sums.sum.get() as f64 / sums.cycles as f64),
            cycle_min_bt: sums.shortest.get(),
            cycle_max_bt: sums.longest.get(),
            silences: sums.silences,
        }
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlcaStation {
    /// plca_status: BEACONs are sent or seen.
    pub status: bool,
    /// Its settings, under the kernel's names.
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "crate::words::plca::SettingsText"))]
    pub settings: PlcaSettings,
    /// What it counted.
    pub counters: BTreeMap<String, u64>,
    /// Up to when noise was at its place, or its receiver was deaf, in the time measured; none if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_until_bt: Option<u64>,
}

impl PlcaStation {
    /// Takes in what the same node did in another run.
    pub fn add(&mut self, other: &PlcaStation) {
        self.status &= other.status;
        self.noise_until_bt = self.noise_until_bt.max(other.noise_until_bt);
        other.counters.iter().for_each(|(name, more)| *self.counters.entry(name.clone()).or_default() += more);
    }
}

/// Every node of a bus with PLCA, in order of station number, and the bus's cycles, of a measurement that began at `start`.
pub fn of(medium: &Medium, start: BitInstant) -> Option<(PlcaCycles, Vec<PlcaStation>)> {
    let cycles = medium.plca_cycles()?;
    let stations = (0..medium.config().topology.stations() as u16).map(StationId::new);
    let node = |station| {
        let counters: PlcaCounters = medium.plca_counters(station)?;
        Some(PlcaStation {
            status: medium.plca_status(station)?,
            settings: medium.plca_settings(station)?,
            counters: counters.named().map(|(name, value)| (name.to_owned(), value)).collect(),
            noise_until_bt: medium
                .last_noise(station)
                .filter(|last| *last >= start)
                .map(|last| last.since(start).get()),
        })
    };
    Some((cycles, stations.map(node).collect::<Option<_>>()?))
}
