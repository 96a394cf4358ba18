//! What of the frames that MACs begin is on the line of PLCA, and when: a frame waits in its node's delay line for the
//! node's turn, and COMMIT keeps the turn until it comes (802.3, clause 148).
//!
//! ```text
//!   MAC   attempt |==== frame ====|                       transmitted at the end of the MAC's own
//!   line          ....|== COMMIT ==|==== frame ====|ESD|== COMMIT ==|     the second one if a burst may follow
//! ```
//! A trace reports BEACONs after empty cycles with the next one that comes after another cycle; they are not here.

use super::signal::Signal;
use super::signals::Signals;
use medium::{
    BitInstant, BitTimes, Carried, Config, Event, FrameId, MacKind, Method, Octets, Part, Plca, PlcaKind, PlcaSettings,
    StationId,
};

/// What the events so far say of each node.
#[derive(Clone, Debug)]
pub(super) struct Line {
    plca: Plca,
    nodes: Vec<Node>,
}

/// A node.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// plca_status.
    ok: bool,
    /// The station is taken off: it keeps its turn until its MAC ends.
    is_detached: bool,
    /// Since when its MAC sends, what, and as which attempt.
    mac: Option<(BitInstant, FrameId, u32)>,
    /// What its MAC sends is on the line, since then.
    sends: Option<BitInstant>,
    /// It took PLCA up, and has not heard silence since then.
    normal: Option<BitInstant>,
    /// The signal of its MAC that collides logically: the frame, which attempt. Without PLCA its rest is on the line.
    jams: Option<(FrameId, u32)>,
    /// ESD follows what it sends.
    delimited: bool,
    /// The turn is its own: what its delay line holds follows, and perhaps COMMIT.
    has_turn: bool,
    /// COMMIT keeps its turn up to here.
    commit: Option<BitInstant>,
    /// Bursts of its turn so far.
    bursts: u8,
    /// Its last frame is out of its delay line.
    sent: BitInstant,
}

impl Line {
    /// `None` for another method.
    pub fn of(config: &Config) -> Option<Line> {
        let Method::Plca(plca) = &config.method else { return None };
        Some(Line { nodes: vec![Node::default(); plca.nodes.len()], plca: plca.clone() })
    }

    /// Some events are missing. What was done to the nodes is known all the same.
    pub fn forget(&mut self) {
        let blank = |node: &Node| Node { is_detached: node.is_detached, ..Node::default() };
        self.nodes = self.nodes.iter().map(blank).collect();
    }

    fn on_medium(&self, station: StationId, span: BitTimes) -> BitTimes {
        self.plca.nodes[station.index()].on_medium(span)
    }
}

impl Signals {
    fn node(&mut self, station: StationId) -> &mut Node {
        let line = self.line.as_mut().expect("the method is PLCA");
        &mut line.nodes[station.index()]
    }

    pub(super) fn set_plca(&mut self, _: BitInstant, station: StationId, settings: PlcaSettings) {
        if let Some(line) = &mut self.line {
            line.plca.nodes[station.index()].settings = settings.told();
        }
    }

    pub(super) fn attach(&mut self, station: StationId, is_attached: bool) {
        if self.line.is_some() {
            self.node(station).is_detached = !is_attached;
        }
    }

    /// Takes an event of a bus with PLCA.
    pub(super) fn on_line(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = *event;
        match kind.part() {
            Part::Mac(MacKind::Attempt { attempt, .. }) => self.mac_begins(at, frame, attempt),
            Part::Mac(MacKind::Collision { episode: 0, attempt, .. }) => {
                let own = self.node(station);
                (own.mac, own.jams) = (None, Some((frame, attempt)));
            }
            Part::Mac(MacKind::Collision { episode, .. }) => self.collide(at, frame, episode),
            Part::Mac(MacKind::JamEnd { .. }) => self.jam_ends(at, frame),
            Part::Mac(MacKind::Transmitted { size, .. }) => self.mac_ends(at, frame, size),
            Part::Mac(MacKind::Discarded { .. }) => self.discards(at, frame),
            Part::Plca(PlcaKind::Commit { .. }) => self.takes_turn(at, station, frame),
            Part::Plca(PlcaKind::Beacon { .. }) => {
                let Some(line) = &self.line else { return };
                let span = line.on_medium(station, line.plca.beacon);
                self.begin_other(at, frame, Carried::Beacon, at + span);
            }
            Part::Plca(PlcaKind::PlcaStatus { ok }) => self.status(at, station, ok),
            Part::Plca(PlcaKind::PlcaId { id, turns: count }) => {
                if let Some(line) = &mut self.line {
                    let settings = &mut line.plca.nodes[station.index()].settings;
                    *settings = settings.assigned(id, count);
                }
            }
            Part::Host(_) | Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) => {}
        }
    }

    /// A MAC begins: into the delay line, unless its node has the turn or does without PLCA.
    fn mac_begins(&mut self, at: BitInstant, frame: FrameId, attempt: u32) {
        let station = frame.station;
        let was_silent = self.node(station).normal.is_none_or(|since| self.is_silent_between(station, since, at));
        let own = self.node(station);
        own.normal = own.normal.filter(|_| !was_silent);
        own.mac = Some((at, frame, attempt));
        if own.commit.take_if(|end| *end >= at).is_some() {
            own.has_turn = true;
            self.change_of(station, |commit| commit.end = Some(at));
            return self.frame_begins(at, frame, attempt, true);
        }
        let own = self.node(station);
        if !own.ok || own.normal.is_some() {
            self.frame_begins(at, frame, attempt, false);
        }
    }

    fn frame_begins(&mut self, at: BitInstant, frame: FrameId, attempt: u32, delimited: bool) {
        let own = self.node(frame.station);
        (own.sends, own.delimited) = (Some(at), delimited);
        self.begin(at, at, frame, attempt, None);
    }

    fn takes_turn(&mut self, at: BitInstant, station: StationId, frame: FrameId) {
        let own = self.node(station);
        (own.bursts, own.has_turn) = (0, true);
        match own.mac {
            Some((_, frame, attempt)) => self.frame_begins(at, frame, attempt, true),
            None => self.commits(at, at, station, frame, |plca, _| plca.commit),
        }
    }

    /// COMMIT from `begin` on, for so long after `since` at most.
    fn commits(
        &mut self,
        begin: BitInstant,
        since: BitInstant,
        station: StationId,
        frame: FrameId,
        span: impl FnOnce(&Plca, &PlcaSettings) -> BitTimes,
    ) {
        let Some(line) = &self.line else { return };
        let settings = &line.plca.nodes[station.index()].settings;
        let end = (since + line.on_medium(station, span(&line.plca, settings))).max(begin + BitTimes::new(1));
        self.node(station).commit = Some(end);
        self.begin_other(begin, frame, Carried::Commit, end);
    }

    /// After what was sent in a turn, up to `end` with its delimiter, another frame may follow.
    fn may_burst(&mut self, end: BitInstant, sent: BitInstant, frame: FrameId) {
        let Some(line) = &mut self.line else { return };
        let most = line.plca.nodes[frame.station.index()].settings.burst_count;
        let own = &mut line.nodes[frame.station.index()];
        if own.has_turn && own.bursts < most {
            own.bursts += 1;
            self.commits(end, sent, frame.station, frame, |_, settings| BitTimes::new(settings.burst_timer.into()));
        }
    }

    fn jam_ends(&mut self, at: BitInstant, frame: FrameId) {
        let own = self.node(frame.station);
        (own.mac, own.jams) = (None, None);
        own.has_turn &= !own.is_detached;
        if own.sends.take().is_some() {
            let delimited = own.delimited;
            self.end(at, frame, BitTimes::ZERO);
            if delimited {
                self.may_burst(at, at, frame);
            }
        }
    }

    fn mac_ends(&mut self, at: BitInstant, frame: FrameId, size: Octets) {
        let packet = self.config().on_air(Carried::Frame, size);
        let own = self.node(frame.station);
        let begun = own.mac.take();
        own.has_turn &= !own.is_detached;
        let Some(begin) = own.sends.take() else { return };
        if !own.delimited {
            return self.end(at, frame, BitTimes::ZERO);
        }
        // The rest in the delay line follows, unless the node has lost its turn.
        let is_delayed = own.has_turn && begun.is_some_and(|(mac, ..)| mac < begin);
        let sent = if is_delayed { begin + packet } else { at };
        own.sent = sent;
        let delimiter = self.delimiter();
        self.end(sent + delimiter, frame, delimiter);
        self.may_burst(sent + delimiter, sent, frame);
    }

    fn discards(&mut self, at: BitInstant, frame: FrameId) {
        let own = self.node(frame.station);
        own.jams.take_if(|(busy, _)| *busy == frame);
        if own.mac.take_if(|(_, busy, _)| *busy == frame).is_some() && own.sends.take().is_some() {
            self.end(at, frame, BitTimes::ZERO);
        }
    }

    fn status(&mut self, at: BitInstant, station: StationId, ok: bool) {
        let is_settled = self.line.as_ref().is_some_and(|line| !line.plca.cold_start);
        let own = self.node(station);
        own.ok = ok;
        // A settled bus begins in a cycle.
        own.normal = (ok && !(is_settled && at == BitInstant::ZERO)).then_some(at);
        if ok {
            return;
        }
        let held = own.mac.map(|(_, frame, attempt)| (frame, attempt)).or(own.jams).filter(|_| own.sends.is_none());
        (own.has_turn, own.commit) = (false, None);
        self.line_stops(at, station);
        if let Some((frame, attempt)) = held {
            self.frame_begins(at, frame, attempt, false);
        }
    }

    /// A node drops PLCA, and with it BEACON, COMMIT and the rest in its delay line. ESD still follows a frame, and a signal
    /// has at least one bit; COMMIT after a frame whose rest is dropped does not begin.
    fn line_stops(&mut self, at: BitInstant, station: StationId) {
        let (delimiter, sent) = (self.delimiter(), self.node(station).sent);
        let is_cut = |one: &Signal| one.source == station && one.end.is_some_and(|end| end > at);
        let (bit, first) = (BitTimes::new(1), self.first);
        for (number, one) in (first..).zip(&mut self.all).filter(|(_, one)| is_cut(one)) {
            let end = match one.what {
                Carried::Frame => at + one.extension.min(delimiter),
                Carried::Commit if at < sent && sent < one.begin => one.begin,
                _ => at.max(one.begin + bit),
            };
            if one.end > Some(end) {
                one.end = Some(end);
                self.changed.push(number);
            }
        }
    }

    fn delimiter(&self) -> BitTimes {
        self.line.as_ref().map_or(BitTimes::ZERO, |line| line.plca.end_delimiter)
    }

    /// Whether nothing was at the place of `station` for an instant in between. A signal that follows another one leaves no
    /// such instant if the two are COMMIT and a frame of one node. Its own BEACON at `from` does not count: a node takes
    /// PLCA up before that BEACON is on the line.
    fn is_silent_between(&self, station: StationId, from: BitInstant, to: BitInstant) -> bool {
        let (mut heard, mut last): (BitInstant, Option<&Signal>) = (from, None);
        while heard < to {
            let next = self.iter().find(|one| {
                let Some((begin, end)) = self.there(one, station) else { return false };
                let is_first = one.source == station && one.what == Carried::Beacon && one.begin == from;
                let follows = last.is_none_or(|last| last.source == one.source && last.what != Carried::Beacon);
                !is_first && end > heard && (begin < heard || (begin == heard && follows))
            });
            let Some(next) = next else { return true };
            heard = self.there(next, station).map_or(to, |(_, end)| end);
            last = Some(next);
        }
        false
    }
}
