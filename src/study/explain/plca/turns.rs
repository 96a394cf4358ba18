//! What was on the line in a stretch of time, worked out from a log: BEACONs, turns, COMMITs, frames and jams, who waited
//! meanwhile, and who was told of a collision.

use super::super::ExplainError;
use medium::{BitInstant, BitTimes, Event, FrameId, Input, Kind, PREAMBLE_AND_SFD, Plca};
use sim::files::event_log::{Entry, EventLogReader};
use std::io::BufRead;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Beacon,
    Commit,
    Frame,
    Jam,
    /// A frame is at the head of its queue, and nothing of it is on the line.
    Waits,
    /// plca_status is FAIL: plain CSMA/CD.
    Fallen,
}

/// It does so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub row: usize,
    pub what: What,
    pub from: BitInstant,
    pub to: BitInstant,
    pub frame: Option<FrameId>,
    /// In whose turn, as its node counts.
    pub id: Option<u32>,
}

/// Its MAC is told of a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub row: usize,
    pub at: BitInstant,
    /// Nothing has met on the line: it is to wait for its turn.
    pub logical: bool,
}

/// A turn that passed without a frame, or with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: u64,
    pub from: BitInstant,
    pub to: BitInstant,
}

/// One node on its way through the log.
#[derive(Clone, Debug, Default)]
struct Track {
    ok: bool,
    fallen_since: Option<BitInstant>,
    /// Its turn, since COMMIT.
    turn: Option<BitInstant>,
    /// Which one that is or was.
    id: Option<u32>,
    /// Since when its MAC sends.
    mac: Option<BitInstant>,
    head: Option<BitInstant>,
    /// Frames in its queue, since the log's beginning.
    queue: u64,
    jam: Option<BitInstant>,
    /// The burst that its turn may go on with.
    bursts: u32,
}

/// The stretch of time.
#[derive(Clone, Debug)]
pub struct Turns {
    pub from: BitInstant,
    pub to: BitInstant,
    pub names: Vec<String>,
    /// The nodes' ids, as they were told at first.
    pub ids: Vec<u8>,
    pub stretches: Vec<Stretch>,
    pub marks: Vec<Mark>,
    pub beacons: Vec<BitInstant>,
    pub turns: Vec<Turn>,
    plca: Plca,
    tracks: Vec<Track>,
    last_beacon: Option<BitInstant>,
}

impl Turns {
    /// Reads a log up to `to`, and somewhat further.
    ///
    /// # Errors
    /// A log that is damaged or of another method.
    pub fn read<R: BufRead>(
        log: &mut EventLogReader<R>,
        from: BitInstant,
        to: BitInstant,
    ) -> Result<Turns, ExplainError> {
        let plca = super::of(log.header()).ok_or(ExplainError::Segment)?;
        let names = log.header().stations.clone();
        let track = Track { fallen_since: Some(BitInstant::ZERO), ..Track::default() };
        let mut turns = Turns {
            from,
            to,
            ids: plca.nodes.iter().map(|node| node.settings.node_id).collect(),
            stretches: Vec::new(),
            marks: Vec::new(),
            beacons: Vec::new(),
            turns: Vec::new(),
            tracks: vec![track; names.len()],
            names,
            plca,
            last_beacon: None,
        };
        // What begins in time may end, and be told of, as late as this.
        let late = to + BitTimes::new(40_000);
        while let Some(entry) = super::next(log)? {
            match entry {
                Entry::Medium(event) if event.at > late => break,
                Entry::Medium(event) => turns.event(&event),
                Entry::Input { at, input } => turns.input(at, input),
                Entry::Emulator(_) => {}
            }
        }
        turns.finish();
        Ok(turns)
    }

    fn add(&mut self, row: usize, what: What, from: BitInstant, to: BitInstant, frame: Option<FrameId>) {
        let (from, to) = (from.max(self.from), to.min(self.to));
        if from < to {
            let by_turn = self.tracks[row].ok && matches!(what, What::Commit | What::Frame | What::Jam);
            let id = self.tracks[row].id.filter(|_| by_turn);
            self.stretches.push(Stretch { row, what, from, to, frame, id });
        }
    }

    fn input(&mut self, at: BitInstant, input: Input) {
        if let Input::Detach { station } = input {
            let track = &mut self.tracks[station.index()];
            (track.turn, track.mac, track.ok) = (None, None, false);
            track.fallen_since.get_or_insert(at);
        }
    }

    fn event(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = *event;
        let row = frame.station.index();
        match kind {
            Kind::Offered { .. } => {
                let track = &mut self.tracks[row];
                track.queue += 1;
                track.head = track.head.or(Some(at));
            }
            Kind::QueueDrop => self.leaves(row, at, true),
            Kind::Discarded { .. } => {
                self.waited(row, at, frame);
                self.leaves(row, at, false);
            }
            Kind::Attempt { .. } => self.tracks[row].mac = Some(at),
            Kind::Commit { id } => {
                self.aborted(at);
                let track = &mut self.tracks[row];
                (track.turn, track.id, track.bursts) = (Some(at), Some(id), 0);
            }
            Kind::Collision { episode, .. } => self.collides(row, at, frame, episode == 0),
            Kind::JamEnd { .. } => {
                if let Some(jam) = self.tracks[row].jam.take() {
                    self.add(row, What::Jam, jam, at, Some(frame));
                    self.tracks[row].turn = None;
                }
                self.tracks[row].mac = None;
            }
            Kind::Transmitted { size, access_delay, .. } => {
                let bits = PREAMBLE_AND_SFD + size.bit_times();
                self.transmitted(row, at, frame, access_delay, bits);
            }
            Kind::Beacon { empty, length } => self.beacon(station.index(), at, empty, length),
            Kind::PlcaStatus { ok } => self.status(station.index(), at, ok),
            Kind::Defer { .. } | Kind::Backoff { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } => {}
            Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Rts { .. } | Kind::Cts { .. } => {}
            Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {}
        }
    }

    /// A frame leaves the queue, at its tail or at its head.
    fn leaves(&mut self, row: usize, at: BitInstant, at_tail: bool) {
        let track = &mut self.tracks[row];
        track.queue = track.queue.saturating_sub(1);
        if track.queue == 0 {
            track.head = None;
        } else if !at_tail {
            track.head = Some(at);
        }
    }

    fn waited(&mut self, row: usize, until: BitInstant, frame: FrameId) {
        if let Some(head) = self.tracks[row].head {
            self.add(row, What::Waits, head, until, Some(frame));
        }
    }

    fn collides(&mut self, row: usize, at: BitInstant, frame: FrameId, logical: bool) {
        if at >= self.from && at <= self.to {
            self.marks.push(Mark { row, at, logical });
        }
        if logical {
            return;
        }
        let Track { turn, mac, ok, .. } = self.tracks[row];
        let begin = if ok { turn.max(mac) } else { mac };
        if let Some(begin) = begin {
            self.commit(row, begin, frame);
            self.add(row, What::Frame, begin, at, Some(frame));
        }
        self.tracks[row].jam = Some(at);
    }

    /// COMMIT, from when the node took its turn to when its frame begins.
    fn commit(&mut self, row: usize, begin: BitInstant, frame: FrameId) {
        if let Some(turn) = self.tracks[row].turn.filter(|turn| *turn < begin && self.tracks[row].bursts == 0) {
            self.add(row, What::Commit, turn, begin, Some(frame));
        }
    }

    fn transmitted(&mut self, row: usize, at: BitInstant, frame: FrameId, access_delay: BitTimes, bits: BitTimes) {
        let track = &self.tracks[row];
        let begin = track.head.map_or(at, |head| head + access_delay);
        let on_line = !track.ok || track.turn.is_some();
        if on_line {
            let delimiter = if track.ok { self.plca.end_delimiter } else { BitTimes::ZERO };
            self.waited(row, begin, frame);
            self.commit(row, begin, frame);
            self.add(row, What::Frame, begin, begin + bits + delimiter, Some(frame));
        } else {
            // PLCA threw it away.
            self.waited(row, at, frame);
        }
        let most = self.plca.nodes[row].settings.burst_count;
        let track = &mut self.tracks[row];
        track.mac = None;
        track.bursts += 1;
        if track.bursts > u32::from(most) {
            track.turn = None;
        }
        self.leaves(row, at, false);
    }

    /// Another turn begins at `now`: COMMITs that no frame came after are over.
    fn aborted(&mut self, now: BitInstant) {
        for row in 0..self.tracks.len() {
            let Track { turn: Some(turn), mac: None, bursts: 0, .. } = self.tracks[row] else { continue };
            self.add(row, What::Commit, turn, now.min(turn + self.plca.commit), None);
            self.tracks[row].turn = None;
        }
    }

    /// A BEACON that the log tells of, and those after empty cycles before it.
    fn beacon(&mut self, row: usize, at: BitInstant, empty: u64, length: BitTimes) {
        if let Some(last) = self.last_beacon
            && empty > 0
        {
            let over = at.since(last).get().saturating_sub(length.get()) / empty;
            let first = self.from.since(last).get() / over.max(1);
            for number in first.max(1)..=empty {
                let one = last + BitTimes::new(over * number);
                if one > self.to {
                    break;
                }
                self.beacons.push(one);
                self.add(row, What::Beacon, one, one + self.plca.beacon, None);
            }
        }
        self.aborted(at);
        self.last_beacon = Some(at);
        self.beacons.push(at);
        self.add(row, What::Beacon, at, at + self.plca.beacon, None);
        for track in &mut self.tracks {
            track.turn = track.turn.filter(|_| track.mac.is_some());
        }
    }

    fn status(&mut self, row: usize, at: BitInstant, ok: bool) {
        self.tracks[row].ok = ok;
        if !ok {
            self.tracks[row].fallen_since.get_or_insert(at);
        } else if let Some(since) = self.tracks[row].fallen_since.take() {
            self.add(row, What::Fallen, since, at, None);
        }
    }

    fn finish(&mut self) {
        let to = self.to;
        for row in 0..self.tracks.len() {
            if let Some(since) = self.tracks[row].fallen_since {
                self.add(row, What::Fallen, since, to, None);
            }
            if let Some(head) = self.tracks[row].head {
                self.add(row, What::Waits, head, to, None);
            }
        }
        self.beacons.sort_unstable();
        self.beacons.dedup();
        self.count_turns();
    }

    /// Turns as the coordinator counts them, from each BEACON on.
    fn count_turns(&mut self) {
        let settings = self.plca.nodes.iter().map(|node| node.settings).find(|settings| settings.node_id == 0);
        let Some(settings) = settings else { return };
        let on_line = |what: What| matches!(what, What::Commit | What::Frame | What::Jam);
        let signals = self.stretches.iter().filter(|one| on_line(one.what));
        let mut signals: Vec<Signal> = signals.map(|one| (one.from, one.to, one.row)).collect();
        signals.sort_unstable();
        let to_timer = BitTimes::new(settings.to_timer.into());
        let all = self.beacons.clone();
        for (number, &beacon) in all.iter().enumerate() {
            let next = all.get(number + 1).copied().unwrap_or(self.to);
            let mut at = beacon + self.plca.beacon + self.plca.phy_off;
            for id in 0..u64::from(settings.node_count) {
                if at >= next {
                    break;
                }
                let end = turn_end(&signals, at, at + to_timer);
                let (from, to) = (at.max(self.from), end.min(self.to));
                if from < to {
                    self.turns.push(Turn { id, from, to });
                }
                at = end;
            }
        }
    }
}

/// From when to when a signal is on the line, and whose it is.
type Signal = (BitInstant, BitInstant, usize);

/// When the turn that begins at `at` is over: at `limit`, or if a signal begins before that, as the line falls silent.
fn turn_end(signals: &[Signal], at: BitInstant, limit: BitInstant) -> BitInstant {
    let mut used: Option<(BitInstant, usize)> = None;
    for &(from, to, row) in signals.iter().filter(|(_, to, _)| *to > at) {
        used = match used {
            None if from >= limit => break,
            None => Some((to, row)),
            // A COMMIT and its frame follow each other; the next node's turn is another one.
            Some((end, own)) if from < end || (from == end && row == own) => Some((end.max(to), own)),
            Some(_) => break,
        };
    }
    used.map_or(limit, |(end, _)| end)
}
