//! How a frame gets to its hearers: the kernel makes the copies, or they are sent one by one.
//!
//! Both ways give the same frames to the same stations, and one result for each; they differ in what they cost
//! (`cargo run --release -p ethbus-link --example port_cost`).

use super::filter::Filter;
use super::ports::Ports;
use super::protocol::Port;
use link::fanout::Copiers;
use link::packet::{SendError, Sender};
use medium::StationId;
use sim::figures::results::EmulatorResults;

/// Up to this number of stations, `auto` has no fan-out in the kernel: one by one is fast enough, and needs no hub.
pub const FEW_STATIONS: usize = 16;
/// From this number of hearers on, copies by the kernel cost less than sending one by one.
const FEWEST_HEARERS: usize = 3;
/// The longest frame, without FCS, that any interface takes. The kernel reports EMSGSIZE for a single send but not for
/// a clone; longer frames are never cloned.
const LONGEST_COPIED: usize = 1514;

/// Hands frames to the kernel.
#[derive(Debug)]
pub struct Delivery {
    sender: Sender,
    copiers: Option<Copiers>,
    /// Stations with numbers below this have the ports that the hubs copy to.
    copied: usize,
    /// Whom a frame means nothing to.
    pub filter: Filter,
    sent: Vec<Result<(), SendError>>,
    places: Vec<usize>,
    results: Vec<Result<(), SendError>>,
}

impl Delivery {
    /// Through `sender`, and through hubs if there are any, to whom `filter` lets it.
    pub fn new(sender: Sender, copiers: Option<Copiers>, copied: usize, filter: Filter) -> Delivery {
        Delivery { sender, copiers, copied, filter, sent: Vec::new(), places: Vec::new(), results: Vec::new() }
    }

    /// A station joins, or joins again. Copies by the kernel go to those that were there from the beginning only.
    pub fn join(&mut self, station: StationId, port: &Port) {
        if station.index() < self.copied {
            self.copied = station.index();
        }
        self.filter.join(station, port);
    }

    /// Has helpers leave SCHED_FIFO, as the coordinator has.
    pub fn leave_fifo(&self) {
        self.copiers.iter().for_each(Copiers::leave_fifo);
    }

    /// What results say of the way.
    pub fn way(&self) -> &'static str {
        if self.copiers.is_some() { "kernel" } else { "batch" }
    }

    /// Sends a frame to stations; gives one result for each, in their order.
    pub fn send(
        &mut self,
        octets: &[u8],
        stations: &[StationId],
        ports: &Ports,
        counts: &mut EmulatorResults,
    ) -> &[Result<(), SendError>] {
        let Delivery { sender, copiers, copied, sent, places, results, .. } = self;
        results.clear();
        let interface = |place: usize| (ports.index(stations[place]), octets);
        // In order of their numbers.
        let copies = stations.partition_point(|station| station.index() < *copied);
        if let Some(copiers) = copiers
            && copies >= FEWEST_HEARERS
            && octets.len() <= LONGEST_COPIED
        {
            places.clear();
            places.extend(stations[..copies].iter().map(|station| station.index()));
            let copied = copiers.send(sender, octets, places, results);
            counts.copying.helped_copies += copied.helped as u64;
            counts.copying.fan_out_failures += u64::from(!copied.missing.is_empty());
            let rest: Vec<(u32, &[u8])> = copied.missing.iter().map(|&place| interface(place)).collect();
            sender.send(&rest, sent);
            copied.missing.iter().zip(&*sent).for_each(|(&place, &result)| results[place] = result);
            let missing = |place: usize| copied.missing.contains(&place);
            let by_kernel = results.iter().enumerate().filter(|(place, result)| result.is_ok() && !missing(*place));
            counts.copying.kernel_copies += by_kernel.count() as u64;
            let joined: Vec<(u32, &[u8])> = (copies..stations.len()).map(interface).collect();
            if !joined.is_empty() {
                sender.send(&joined, sent);
                results.extend(sent.iter().copied());
            }
        } else {
            let all: Vec<(u32, &[u8])> = (0..stations.len()).map(interface).collect();
            sender.send(&all, results);
        }
        results
    }
}
