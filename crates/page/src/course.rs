//! Figures over time: what each station got through in each piece of a run, and how long frames took.

use medium::{BitTimes, Event, Kind};
use serde::Serialize;
use sim::scenario::plan::Plan;

/// Pieces of a run.
const PIECES: usize = 96;

/// Sums of each piece.
#[derive(Debug, Serialize)]
pub struct Course {
    /// Bit times of a piece.
    piece: u64,
    /// Bits of frames that got through, by piece and station.
    bits: Vec<Vec<u64>>,
    /// Sums of their MAC delays, in bit times.
    delay: Vec<u64>,
    /// How many they are.
    frames: Vec<u64>,
    /// Attempts that collided.
    collisions: Vec<u64>,
}

impl Course {
    /// That of a run of this plan, with nothing in it.
    pub fn new(plan: &Plan) -> Course {
        let span = |span| BitTimes::within(span, plan.medium.rate).get();
        let all = span(plan.run.warmup) + span(plan.run.duration);
        Course {
            piece: all.div_ceil(PIECES as u64).max(1),
            bits: vec![vec![0; plan.medium.topology.stations()]; PIECES],
            delay: vec![0; PIECES],
            frames: vec![0; PIECES],
            collisions: vec![0; PIECES],
        }
    }

    /// Counts an event.
    pub fn take(&mut self, event: &Event) {
        let piece = ((event.at.get() / self.piece) as usize).min(PIECES - 1);
        match event.kind {
            Kind::Transmitted { size, mac_delay, .. } => {
                self.bits[piece][event.frame.station.index()] += u64::from(size.get()) * 8;
                self.delay[piece] += mac_delay.get();
                self.frames[piece] += 1;
            }
            Kind::Collision { .. } => self.collisions[piece] += 1,
            _ => {}
        }
    }
}
