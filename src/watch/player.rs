//! Which instant of a run is shown: a bounded stretch of the notes received, and earlier views to return to.
//!
//! ```text
//!   source ─► history: note note note note note note     forgotten from the front
//!             kept views ▲              ▲    ▲ position  forward: take a note; back: from the view before
//! ```

use crossbeam_channel::{Receiver, TryRecvError};
use medium::{BitInstant, BitTimes, Event, FrameId, Kind};
use sim::run::view::{Note, View};
use std::collections::VecDeque;

/// Notes that one can go back through: those of about a second at 10 Mb/s with the shortest frames.
const HISTORY: usize = 1 << 16;
/// Notes from one kept view to the next.
const STRIDE: usize = 1 << 10;
/// Notes that are taken in one go at most, so that keys are still read.
const AT_ONCE: usize = 1 << 16;
/// Bit times in which a wish for the next collision or the like is given up, so that keys are still read.
const FAR: usize = 1 << 18;

/// Where notes come from: several at a time, in order.
pub type Source = Receiver<Vec<Note>>;

/// See the module.
pub struct Player {
    source: Source,
    history: VecDeque<Note>,
    /// The number of the first note in the history, from the run's first.
    first: u64,
    /// The number of the next note to be taken.
    position: u64,
    /// With the number of the note that comes next, in order.
    kept: VecDeque<(u64, View)>,
    view: View,
    /// There will be no more notes.
    ended: bool,
}

impl Player {
    /// Shows what `source` tells, from `view` on.
    pub fn new(view: View, source: Source) -> Player {
        let kept = VecDeque::from([(0, view.clone())]);
        Player { source, history: VecDeque::new(), first: 0, position: 0, kept, view, ended: false }
    }

    /// What is shown.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The run's end is shown.
    pub fn at_end(&self) -> bool {
        self.ended && self.position == self.told()
    }

    /// The number of the next note that will be received.
    fn told(&self) -> u64 {
        self.first + self.history.len() as u64
    }

    /// Takes the notes that have arrived; with `wait`, waits for one, but not for long.
    fn listen(&mut self, wait: bool) {
        let told = if wait {
            self.source.recv_timeout(std::time::Duration::from_millis(100)).map_err(|error| error.is_timeout())
        } else {
            self.source.try_recv().map_err(|error| error == TryRecvError::Empty)
        };
        match told {
            Ok(notes) => self.history.extend(notes),
            Err(true) => {}
            Err(false) => self.ended = true,
        }
    }

    /// The next note, if it has been received.
    fn next(&mut self, wait: bool) -> Option<Note> {
        if self.position == self.told() {
            self.listen(wait);
        }
        self.history.get((self.position - self.first) as usize).copied()
    }

    /// Takes the next note, which must be there.
    fn take(&mut self, note: &Note) {
        self.view.take(note);
        self.position += 1;
        if self.position.is_multiple_of(STRIDE as u64) && self.kept.back().is_none_or(|(at, _)| *at < self.position) {
            self.kept.push_back((self.position, self.view.clone()));
        }
        self.forget();
    }

    /// Forgets the oldest notes, up to a view that is kept.
    fn forget(&mut self) {
        while self.history.len() > HISTORY
            && let Some((next, _)) = self.kept.get(1)
            && *next <= self.position
        {
            let count = (*next - self.first) as usize;
            self.history.drain(..count);
            self.first = *next;
            self.kept.pop_front();
        }
    }

    /// Goes on by `span`, as far as there are notes.
    pub fn forward(&mut self, span: BitTimes) {
        let target = self.view.now + span;
        for _ in 0..AT_ONCE {
            match self.next(false) {
                Some(note) if note.at().is_none_or(|at| at <= target) => self.take(&note),
                Some(_) => {
                    self.view.pass(target);
                    return;
                }
                None => return,
            }
        }
    }

    /// Shows the newest instant that has been received.
    pub fn newest(&mut self) {
        for _ in 0..AT_ONCE {
            let Some(note) = self.next(false) else { return };
            self.take(&note);
        }
    }

    /// Takes notes up to an event that is wanted, or to the run's end.
    pub fn forward_to(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        for _ in 0..FAR {
            let Some(note) = self.next(true) else { return false };
            self.take(&note);
            if let Note::Event(event) = note
                && wanted(&event)
            {
                return true;
            }
        }
        false
    }

    /// Goes back to just after the event before this one that is wanted.
    pub fn back_to(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        let shown = (self.position - self.first) as usize;
        let is_wanted = |note: &Note| matches!(note, Note::Event(event) if wanted(event));
        // The last note taken is what is shown now.
        let before = self.history.range(..shown.saturating_sub(1));
        let Some(found) = before.rev().position(is_wanted) else { return false };
        self.go_to(self.position - 1 - found as u64);
        true
    }

    /// Goes back by one bit time.
    pub fn back_by(&mut self, span: BitTimes) {
        let target = BitInstant::new(self.view.now.get().saturating_sub(span.get()).max(self.oldest().get()));
        let shown = (self.position - self.first) as usize;
        let later = |note: &&Note| note.at().is_none_or(|at| at > target);
        let over = self.history.range(..shown).rev().take_while(later).count() as u64;
        self.go_to(self.position - over);
        self.view.pass(target);
    }

    /// The instant of the oldest view.
    fn oldest(&self) -> BitInstant {
        self.kept.front().map_or(BitInstant::ZERO, |(_, view)| view.now)
    }

    fn go_to(&mut self, number: u64) {
        let kept = self.kept.iter().rev().find(|(at, _)| *at <= number).or(self.kept.front());
        let Some((at, view)) = kept else { return };
        (self.position, self.view) = (*at, view.clone());
        while self.position < number {
            let Some(note) = self.history.get((self.position - self.first) as usize).copied() else { return };
            self.view.take(&note);
            self.position += 1;
        }
    }
}

/// Whether an event is one that people want to see: of a frame that they follow, or any.
pub fn is_of(event: &Event, followed: Option<FrameId>) -> bool {
    followed.is_none_or(|frame| event.frame == frame)
}

/// A collision is noticed, or PLCA tells a MAC of a logical one.
pub fn is_collision(event: &Event) -> bool {
    matches!(event.kind, Kind::Collision { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;
    use medium::{BitRate, Config, StationId, Topology};
    use std::sync::Arc;

    fn note(number: u64) -> Note {
        let station = StationId::new(0);
        let kind = match number % 3 {
            0 => Kind::Attempt { attempt: 1, excessive_deferral: false, burst: false },
            1 => Kind::Collision { attempt: 1, late: false, episode: number },
            _ => Kind::JamEnd { attempt: 1 },
        };
        let frame = FrameId { station, serial: 1 };
        Note::Event(Event { at: BitInstant::new(10 * number), station, frame, kind })
    }

    fn player(notes: u64) -> Player {
        let (sender, source) = unbounded();
        sender.send((0..notes).map(note).collect()).expect("somebody listens");
        let config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1);
        Player::new(View::new(Arc::new(config)), source)
    }

    /// One event further and one back is where one was, wherever that is.
    #[test]
    fn one_further_and_one_back_is_the_same() {
        let mut player = player(5000);
        for steps in [1, 2, 1023, 1, 500, 1024] {
            (0..steps).for_each(|_| assert!(player.forward_to(|_| true)));
            let before = format!("{:?}", player.view());
            assert!(player.forward_to(|_| true) && player.back_to(|_| true));
            assert_eq!(format!("{:?}", player.view()), before);
        }
    }

    #[test]
    fn bit_times_pass_between_events() {
        let mut player = player(100);
        player.forward(BitTimes::new(25));
        assert_eq!(player.view().now, BitInstant::new(25));
        assert_eq!(player.view().recent.len(), 3);
        player.back_by(BitTimes::new(6));
        assert_eq!((player.view().now, player.view().recent.len()), (BitInstant::new(19), 2));
        player.back_by(BitTimes::new(100));
        assert_eq!(player.view().now, BitInstant::ZERO);
    }

    #[test]
    fn the_oldest_is_forgotten_and_the_end_is_known() {
        let count = HISTORY as u64 * 2;
        let mut player = player(count);
        while player.forward_to(is_collision) {}
        assert!(player.at_end() && player.history.len() <= HISTORY + STRIDE, "{}", player.history.len());
        while player.back_to(is_collision) {}
        assert!(player.view().now.get() > 10 * (count - HISTORY as u64 - 2 * STRIDE as u64));
    }
}
