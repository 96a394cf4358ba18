//! Figures over time: those of each piece of a run.

use medium::{BitTimes, Event, Kind};
use serde::Serialize;
use sim::figures::metrics::jain;
use sim::scenario::plan::Plan;

/// Pieces of a run.
const PIECES: usize = 96;

/// What is summed in each piece of a run.
#[derive(Debug)]
pub struct Course {
    /// Bit times of a piece.
    piece: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    /// Bits of frames that got through, by station.
    bits: Vec<u64>,
    /// The sum of their MAC delays, in bit times.
    delay: u64,
    /// How many they are.
    frames: u64,
}

/// A figure a piece; none where no frame got through.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// The part of the rate.
    utilization: Vec<f64>,
    mac_delay_bt: Vec<Option<f64>>,
    fairness: Vec<Option<f64>>,
}

impl Course {
    /// That of a run of this plan, with nothing in it.
    pub fn new(plan: &Plan) -> Course {
        let span = |span| BitTimes::within(span, plan.medium.rate).get();
        let all = span(plan.run.warmup) + span(plan.run.duration);
        let nothing = Piece { bits: vec![0; plan.medium.topology.stations()], delay: 0, frames: 0 };
        Course { piece: all.div_ceil(PIECES as u64).max(1), pieces: vec![nothing; PIECES] }
    }

    /// Counts an event.
    pub fn take(&mut self, event: &Event) {
        let Kind::Transmitted { size, mac_delay, .. } = event.kind else { return };
        let piece = &mut self.pieces[((event.at.get() / self.piece) as usize).min(PIECES - 1)];
        piece.bits[event.frame.station.index()] += u64::from(size.get()) * 8;
        piece.delay += mac_delay.get();
        piece.frames += 1;
    }

    /// Its figures. A frame counts where it ends, so a piece may have more bits than bit times: it is full then.
    pub fn figures(&self) -> Figures {
        let part = |piece: &Piece| (piece.bits.iter().sum::<u64>() as f64 / self.piece as f64).min(1.0);
        let delay = |piece: &Piece| (piece.frames > 0).then(|| piece.delay as f64 / piece.frames as f64);
        Figures {
            utilization: self.pieces.iter().map(part).collect(),
            mac_delay_bt: self.pieces.iter().map(delay).collect(),
            fairness: self.pieces.iter().map(|piece| jain(piece.bits.iter().map(|&bits| (bits, 1)))).collect(),
        }
    }
}
