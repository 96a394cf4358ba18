//! What of the frames that MACs begin is on the line of PLCA, and when: a frame waits in its node's delay line for the
//! node's turn, and COMMIT keeps the turn until it comes (802.3, clause 148).
//!
//! ```text
//!   MAC   attempt |==== frame ====|                       transmitted at the end of the MAC's own
//!   line          ....|== COMMIT ==|==== frame ====|ESD|== COMMIT ==|     the second one if a burst may follow
//! ```
//! A log reports BEACONs after empty cycles with the next one that comes after another cycle; they are not here.

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
    /// Since when its MAC sends, what, and as which attempt.
    mac: Option<(BitInstant, FrameId, u32)>,
    /// What its MAC sends is on the line, since then.
    sends: Option<BitInstant>,
    /// It took PLCA up, and has not heard silence since then.
    normal: Option<BitInstant>,
    /// ESD follows what it sends.
    delimited: bool,
    /// COMMIT keeps its turn up to here.
    commit: Option<BitInstant>,
    /// Bursts of its turn so far.
    bursts: u8,
}

impl Line {
    /// `None` for another method.
    pub fn of(config: &Config) -> Option<Line> {
        let Method::Plca(plca) = &config.method else { return None };
        Some(Line { nodes: vec![Node::default(); plca.nodes.len()], plca: plca.clone() })
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
            line.plca.nodes[station.index()].settings = settings;
        }
    }

    /// Takes an event of a bus with PLCA.
    pub(super) fn on_line(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = *event;
        match kind.part() {
            Part::Mac(MacKind::Attempt { attempt, .. }) => self.mac_begins(at, frame, attempt),
            // Its MAC sends a jam, which is on the line only if PLCA is given up meanwhile.
            Part::Mac(MacKind::Collision { episode: 0, .. }) => {}
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
        own.bursts = 0;
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
        if own.ok && own.bursts < most {
            own.bursts += 1;
            self.commits(end, sent, frame.station, frame, |_, settings| BitTimes::new(settings.burst_timer.into()));
        }
    }

    fn jam_ends(&mut self, at: BitInstant, frame: FrameId) {
        let own = self.node(frame.station);
        own.mac = None;
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
        let Some(begin) = own.sends.take() else { return };
        let delimited = own.delimited;
        let delayed = own.ok && begun.is_some_and(|(mac, ..)| mac < begin);
        if !delimited {
            return self.end(at, frame, BitTimes::ZERO);
        }
        // What the delay line still has follows, unless PLCA was given up meanwhile.
        let sent = if delayed { begin + packet } else { at };
        let delimiter = self.line.as_ref().map_or(BitTimes::ZERO, |line| line.plca.end_delimiter);
        self.end(sent + delimiter, frame, delimiter);
        self.may_burst(sent + delimiter, sent, frame);
    }

    fn discards(&mut self, at: BitInstant, frame: FrameId) {
        let own = self.node(frame.station);
        if own.mac.take_if(|(_, busy, _)| *busy == frame).is_some() && own.sends.take().is_some() {
            self.end(at, frame, BitTimes::ZERO);
        }
    }

    fn status(&mut self, at: BitInstant, station: StationId, ok: bool) {
        let may_hear = ok && !self.iter().any(|one| self.crs_ends(one, station) == Some(at));
        let own = self.node(station);
        own.ok = ok;
        own.normal = may_hear.then_some(at);
        let held = own.mac.filter(|_| own.sends.is_none() && !ok);
        if !ok {
            own.commit = None;
            self.gives_up(at, station);
        }
        if let Some((_, frame, attempt)) = held {
            self.frame_begins(at, frame, attempt, false);
        }
    }

    /// Without PLCA there is neither BEACON nor COMMIT, and nothing leaves the delay line any more.
    fn gives_up(&mut self, at: BitInstant, station: StationId) {
        let Some(line) = &self.line else { return };
        let (last, bit) = (at + line.plca.end_delimiter, BitTimes::new(1));
        let is_there = |one: &Signal, end| one.source == station && one.end.is_some_and(|known| known > end);
        // One bit of a COMMIT is sent if it is given up during the ESD before it.
        self.change_last(
            |one| one.what != Carried::Frame && is_there(one, at),
            |one| one.end = Some(at.max(if one.begin < last { one.begin + bit } else { one.begin })),
        );
        self.change_last(|one| one.what == Carried::Frame && is_there(one, last), |frame| frame.end = Some(last));
    }

    /// Whether CRS was off for a moment in between at `station`. A signal that begins as another ends leaves such a moment,
    /// unless both are parts of one turn.
    fn is_silent_between(&self, station: StationId, from: BitInstant, to: BitInstant) -> bool {
        let mut heard = from;
        while let Some(end) = self.iter().find_map(|one| self.carrier_of(one, station, heard, heard == from)) {
            heard = end;
            if heard >= to {
                return false;
            }
        }
        heard < to
    }

    /// The end of CRS at `station`, if `one` keeps it on at `at`. At a new instant a BEACON may just have begun.
    fn carrier_of(&self, one: &Signal, station: StationId, at: BitInstant, is_new: bool) -> Option<BitInstant> {
        let way = self.way(one, station) + self.line.as_ref()?.plca.phy_on;
        let is_before = |last: &&Signal| last.source == one.source && last.end == Some(one.begin);
        let follows = self.iter().any(|last| last.what != Carried::Beacon && is_before(&last));
        let may_begin = follows || is_new && one.what == Carried::Beacon && one.source != station;
        let has_begun = one.begin + way < at || (one.begin + way == at && may_begin);
        let end = self.crs_ends(one, station).unwrap_or(BitInstant::new(u64::MAX));
        (one.reaches(station, self.config()) && has_begun && end > at).then_some(end)
    }

    /// When CRS of a signal goes off at `station`, if its end is known.
    fn crs_ends(&self, one: &Signal, station: StationId) -> Option<BitInstant> {
        let plca = &self.line.as_ref()?.plca;
        let is_next = |next: &&Signal| next.source == one.source && Some(next.begin) == one.end;
        let is_followed = one.what != Carried::Beacon && self.iter().any(|next| is_next(&next));
        Some(one.end? + self.way(one, station) + if is_followed { plca.phy_on } else { plca.phy_off })
    }

    fn way(&self, one: &Signal, station: StationId) -> BitTimes {
        if one.source == station { BitTimes::ZERO } else { self.config().topology.distance(one.source, station) }
    }
}
