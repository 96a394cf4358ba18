//! How a frame gets to its hearers: the kernel makes the copies, or they are sent one by one.
//!
//! Both ways give the same frames to the same stations, and one result for each; they differ in what they cost
//! (`cargo run --release -p ethbus-link --example port_cost`).

use super::filter::Filter;
use super::ports::Ports;
use link::fanout::FanOut;
use link::packet::{SendError, Sender};
use medium::StationId;
use sim::figures::results::EmulatorResults;

/// Up to so many stations, `auto` has no fan-out in the kernel: one by one is fast enough, and needs nothing to be made.
pub const FEW_STATIONS: usize = 16;
/// From so many hearers on, copies by the kernel cost less than sending one by one.
const FEWEST_HEARERS: usize = 3;
/// The longest frame, without FCS, that any interface takes: of a longer one the kernel tells who sends it to a single
/// interface that it is too long there, but not who has it copied.
const LONGEST_COPIED: usize = 1514;

/// Hands frames to the kernel.
#[derive(Debug)]
pub struct Delivery {
    sender: Sender,
    fan_out: Option<FanOut>,
    /// Whom a frame means nothing to.
    pub filter: Filter,
    /// The same without the kernel's copies.
    sent: Vec<Result<(), SendError>>,
    places: Vec<usize>,
    results: Vec<Result<(), SendError>>,
}

impl Delivery {
    /// Through `sender`, and through a hub if there is one, to whom `filter` lets it.
    pub fn new(sender: Sender, fan_out: Option<FanOut>, filter: Filter) -> Delivery {
        Delivery { sender, fan_out, filter, sent: Vec::new(), places: Vec::new(), results: Vec::new() }
    }

    /// What results say of the way.
    pub fn way(&self) -> &'static str {
        if self.fan_out.is_some() { "kernel" } else { "batch" }
    }

    /// Sends a frame to stations; gives one result for each, in their order.
    pub fn send(
        &mut self,
        octets: &[u8],
        stations: &[StationId],
        ports: &Ports,
        counts: &mut EmulatorResults,
    ) -> &[Result<(), SendError>] {
        let Delivery { sender, fan_out, sent, places, results, .. } = self;
        results.clear();
        if let Some(fan_out) = fan_out
            && stations.len() >= FEWEST_HEARERS
            && octets.len() <= LONGEST_COPIED
        {
            places.clear();
            places.extend(stations.iter().map(|station| station.index()));
            let whole = fan_out.send(sender, octets, places, results);
            counts.copying.kernel_copies += results.iter().filter(|result| result.is_ok()).count() as u64;
            counts.copying.fan_out_failures += u64::from(!whole);
        }
        // All of them, or those that the hub was not there for.
        let rest: Vec<(u32, &[u8])> =
            stations[results.len()..].iter().map(|&station| (ports.index(station), octets)).collect();
        if !rest.is_empty() {
            sender.send(&rest, sent);
            results.append(sent);
        }
        results
    }
}
