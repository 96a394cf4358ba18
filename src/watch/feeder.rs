//! Hands the events of a run in virtual time to the live view, which is as slow as its user wants.

use super::player::Source;
use crossbeam_channel::{Sender, bounded};
use medium::{BitInstant, Event, Input};
use sim::files::json_lines::WriteError;
use sim::files::observer::{End, Observer};
use sim::run::view::Note;
use std::sync::Arc;

/// Notes that are handed over together.
const BATCH: usize = 512;
/// Batches that wait to be shown: the run waits for the view, and the view misses nothing.
const WAITING: usize = 8;

/// The run's end.
#[derive(Debug)]
pub struct Feeder {
    sender: Option<Sender<Vec<Note>>>,
    batch: Vec<Note>,
}

impl Feeder {
    /// Both ends.
    pub fn new() -> (Feeder, Source) {
        let (sender, source) = bounded(WAITING);
        (Feeder { sender: Some(sender), batch: Vec::with_capacity(BATCH) }, source)
    }

    fn note(&mut self, note: Note) {
        self.batch.push(note);
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let looks = |sender: &Sender<_>| sender.send(batch).is_ok();
        // The view has ended: the run continues by itself.
        self.sender = self.sender.take().filter(looks);
    }
}

impl Observer for Feeder {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if !matches!(input, Input::Offer { .. }) {
            self.note(Note::Input { at, input: *input });
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.note(Note::Event(*event));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.hand_over();
        Ok(())
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        self.hand_over();
        self.sender = None;
        Ok(())
    }
}
