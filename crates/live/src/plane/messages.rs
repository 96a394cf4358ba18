//! The messages of a table that the lab runs: which frames are theirs, when they were released, and how long they took.
//!
//! A frame says by its label which source of the table it comes from, and the how many-th of it it is. So the k-th release
//! of a source with a period of P is late by its instant less k P, but for what all frames of the source have in common.

use crate::driver::Label;
use medium::{BitInstant, Event, FrameId};
use serde::{Deserialize, Serialize};
use sim::figures::messages::{MessageDelays, MessageResults, PlanResults};
use sim::scenario::messages::{Message, MessageTable};

/// What the data plane needs to know of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSetup {
    /// Of each message: its node's name, and its own.
    names: Vec<(String, String)>,
    /// Of each node, how much later than it ends a frame is over at the farthest node, in bit times.
    farthest: Vec<u64>,
    /// In the order of the scenario that is made from the table.
    sources: Vec<SourceSetup>,
}

/// A source of frames of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SourceSetup {
    node: u16,
    message: usize,
    period: u64,
    /// Frames of one release.
    burst: u64,
    /// The instant of its first frame by the node's clock, if known.
    phase: Option<u64>,
}

impl MessageSetup {
    /// That of `table`.
    pub fn of(table: &MessageTable) -> MessageSetup {
        let names = table.messages.iter().map(|message| (table.nodes[message.node].name.clone(), message.name.clone()));
        let source = |number: usize| {
            let message = &table.messages[number];
            let Message { period, burst, phase, .. } = *message;
            SourceSetup { node: message.node as u16, message: number, period, burst, phase }
        };
        let sources = table.sources().map(source).collect();
        MessageSetup { names: names.collect(), farthest: table.farthest().collect(), sources }
    }
}

/// How late the frames of a source were released, in bit times, but for an offset that all of them share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lateness {
    least: i128,
    most: i128,
    /// How much later than a later one a frame was, at most.
    fell: u64,
}

impl Lateness {
    fn and(self, late: i128) -> Lateness {
        let most = self.most.max(late);
        Lateness { least: self.least.min(late), most, fell: self.fell.max(span(late, most)) }
    }
}

/// Any program can write a label, with any number.
fn span(from: i128, to: i128) -> u64 {
    u64::try_from(to - from).unwrap_or(u64::MAX)
}

/// See the module.
#[derive(Debug)]
pub struct Messages {
    setup: MessageSetup,
    delays: MessageDelays,
    /// Of each source; nothing before its first frame.
    lateness: Vec<Option<Lateness>>,
    others: u64,
}

impl Messages {
    /// No frame has come yet.
    pub fn new(setup: MessageSetup) -> Messages {
        let delays = MessageDelays::new(setup.farthest.iter().copied(), setup.names.len());
        let lateness = vec![None; setup.sources.len()];
        Messages { setup, delays, lateness, others: 0 }
    }

    /// A station's host hands over a frame at `at`.
    pub fn offered(&mut self, frame: FrameId, at: BitInstant, octets: &[u8]) {
        let label = Label::read(octets);
        let number = label.as_ref().and_then(Label::source);
        let source = number.and_then(|number| Some((number, *self.setup.sources.get(number)?)));
        // Any program can write a label.
        let Some((number, source)) = source.filter(|(_, source)| usize::from(source.node) == frame.station.index())
        else {
            self.others += 1;
            return;
        };
        let k = label.map_or(0, |label| label.sequence) / source.burst.max(1);
        let late =
            i128::from(at.get()) - i128::from(source.phase.unwrap_or(0)) - i128::from(k) * i128::from(source.period);
        let first = Lateness { least: late, most: late, fell: 0 };
        self.lateness[number] = Some(self.lateness[number].map_or(first, |known| known.and(late)));
        self.delays.released(frame, source.message, at);
    }

    /// Takes an event in.
    pub fn event(&mut self, event: &Event) {
        self.delays.event(event);
    }

    /// The jitter with which the releases of `message` are those of the table: of a message with a phase by the clock of
    /// its node, otherwise by any clock.
    fn jitter(&self, message: usize) -> u64 {
        let all =
            || self.setup.sources.iter().zip(&self.lateness).filter_map(|(source, late)| Some((source, (*late)?)));
        let Some((own, _)) = all().find(|(source, _)| source.message == message) else { return 0 };
        if own.phase.is_none() {
            return all().filter(|(source, _)| source.message == message).map(|(_, late)| late.fell).max().unwrap_or(0);
        }
        let of_node = || all().filter(|(source, _)| source.node == own.node && source.phase.is_some());
        let (least, most) = (of_node().map(|(_, late)| late.least).min(), of_node().map(|(_, late)| late.most).max());
        most.zip(least).map_or(0, |(most, least)| span(least, most))
    }

    /// What has been seen so far.
    pub fn results(&self) -> PlanResults {
        let rows = self.setup.names.iter().zip(self.delays.observed()).enumerate();
        let messages =
            rows.map(|(at, ((node, name), seen))| MessageResults::new(node, name, seen, self.jitter(at))).collect();
        PlanResults { other_frames: self.others, messages, ..PlanResults::default() }
    }

    /// Counts from zero. While frames wait, the lateness of releases so far stays: it may be why they wait, and so part of
    /// what explains their responses.
    pub fn restart(&mut self) {
        if !self.delays.some_wait() {
            self.lateness.fill(None);
        }
        self.delays.restart();
        self.others = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::blank;
    use link::MacAddr;
    use link::clock::RealtimeNanos;
    use medium::{BitTimes, Kind, Octets, StationId};
    use std::path::Path;

    fn table(rows: &str) -> MessageTable {
        let text = format!("node,name,octets,period,phase\n{rows}");
        MessageTable::from_text(Path::new("t.csv"), &text, &|_| unreachable!("one file")).expect("a right table")
    }

    fn frame(source: u32, sequence: u64) -> Vec<u8> {
        let mut octets = blank(MacAddr::broadcast(), MacAddr::from([2; 6]), 64);
        Label { stream: Label::of_source(source), sequence, sent: RealtimeNanos(0) }.write(&mut octets);
        octets
    }

    /// Releases at 0, 1.02, 1.99 and 3 ms: the second is later than the third by 30 us, which is the jitter that explains
    /// all of them.
    #[test]
    fn jitter_is_what_a_frame_is_later_than_one_after_it() {
        let mut messages = Messages::new(MessageSetup::of(&table("a,m,64,1 ms,\n")));
        let id = |serial| FrameId { station: StationId::new(0), serial };
        for (k, at) in [5_000, 15_200, 24_900, 35_000].into_iter().enumerate() {
            messages.offered(id(k as u64 + 1), BitInstant::new(at), &frame(0, k as u64));
        }
        assert_eq!(messages.results().messages[0].release_jitter_bt, 300);
        messages.offered(id(5), BitInstant::new(45_000), &frame(7, 0));
        messages.offered(FrameId { station: StationId::new(1), serial: 1 }, BitInstant::new(45_000), &frame(0, 4));
        messages.offered(id(6), BitInstant::new(45_000), &[0; 60]);
        assert_eq!(messages.results().other_frames, 3, "a source that is none, another node's, no label");
    }

    /// The frames of a burst are of one release: those of 0 and 1 ms, two each, have no jitter, and one that comes 20 us after
    /// the other of its burst is late by that.
    #[test]
    fn the_frames_of_a_burst_are_of_one_release() {
        let text = "node,name,octets,period,burst\na,m,64,1 ms,2\n";
        let table = MessageTable::from_text(Path::new("t.csv"), text, &|_| unreachable!("one file"));
        let mut messages = Messages::new(MessageSetup::of(&table.expect("a right table")));
        let id = |serial| FrameId { station: StationId::new(0), serial };
        for (k, at) in [5_000, 5_000, 15_000, 15_000].into_iter().enumerate() {
            messages.offered(id(k as u64 + 1), BitInstant::new(at), &frame(0, k as u64));
        }
        assert_eq!(messages.results().messages[0].release_jitter_bt, 0);
        for (k, at) in [(4, 25_000), (5, 25_200), (6, 35_000)] {
            messages.offered(id(k + 1), BitInstant::new(at), &frame(0, k));
        }
        assert_eq!(messages.results().messages[0].release_jitter_bt, 200);
        assert_eq!(messages.results().other_frames, 0);
    }

    /// The second frame is 30 us late and waits while all counts begin anew. Its response counts after that, and so does its
    /// lateness, until no frame waits.
    #[test]
    fn lateness_is_forgotten_only_when_no_frame_waits() {
        let mut messages = Messages::new(MessageSetup::of(&table("a,m,64,1 ms,\n")));
        let id = |serial| FrameId { station: StationId::new(0), serial };
        let sent = |serial, at| Event {
            at: BitInstant::new(at),
            station: StationId::new(0),
            frame: id(serial),
            kind: Kind::Transmitted {
                size: Octets::new(64),
                attempts: 1,
                deferred: false,
                access_delay: BitTimes::ZERO,
                mac_delay: BitTimes::new(576),
                extension: BitTimes::ZERO,
                no_carrier: false,
            },
        };
        messages.offered(id(1), BitInstant::new(5_000), &frame(0, 0));
        messages.event(&sent(1, 5_600));
        messages.offered(id(2), BitInstant::new(15_300), &frame(0, 1));
        messages.restart();
        messages.offered(id(3), BitInstant::new(25_000), &frame(0, 2));
        messages.event(&sent(2, 25_100));
        messages.event(&sent(3, 25_800));
        let seen = messages.results();
        assert_eq!((seen.messages[0].frames, seen.messages[0].release_jitter_bt), (2, 300));
        messages.restart();
        messages.offered(id(4), BitInstant::new(35_000), &frame(0, 3));
        assert_eq!(messages.results().messages[0].release_jitter_bt, 0);
    }

    /// With phases the messages of a node share a clock: one that is always late by 1 ms has that jitter, since the bound
    /// counts on the distance between the two.
    #[test]
    fn phases_are_by_the_clock_of_the_node() {
        let mut messages = Messages::new(MessageSetup::of(&table("a,one,64,10 ms,0 ms\na,two,64,10 ms,5 ms\n")));
        let id = |serial| FrameId { station: StationId::new(0), serial };
        for k in 0..3 {
            messages.offered(id(2 * k + 1), BitInstant::new(100_000 * k), &frame(0, k));
            messages.offered(id(2 * k + 2), BitInstant::new(100_000 * k + 60_000), &frame(1, k));
        }
        let jitters: Vec<u64> = messages.results().messages.iter().map(|it| it.release_jitter_bt).collect();
        assert_eq!(jitters, [10_000, 10_000]);
    }
}
