//! Backoff as a crowded medium does it: how long, how even, from when on, and for how many attempts.

use super::row::Row;
use super::{Check, Topic};
use backoff::Limits;
use medium::{BitInstant, Event, Kind};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::HashMap;

/// Attempts after which there is a delay (802.3, 4.2.3.2.5: the 16th discards).
const DELAYS: usize = 15;
/// The range of the delay grows up to the 10th collision.
const LARGEST: u32 = 10;
const SLOT_TIME: u64 = 512;
/// Draws for each class of the test for evenness.
const DRAWS_A_CLASS: u64 = 20;

pub(super) fn topic() -> Topic {
    let crowd: Check = Box::new(|bench| {
        let duration = bench.choose("100s", "6s");
        let mut seen = Seen::default();
        let arguments = format!("--stations 128 --frame-size 64 --topology star:0bt --duration {duration} --warmup 0s");
        let run = bench.watch(&arguments, |event| seen.take(event))?;
        Ok(seen.rows().into_iter().map(|row| row.from(&run.command)).collect())
    });
    let limits: Check = Box::new(|bench| {
        let parameters = bench.parameters();
        let limits = Limits::IEEE_802_3
            .with_attempt_limit(parameters.attempt_limit)
            .with_backoff_limit(parameters.backoff_limit);
        let slots: u64 = (1..).map_while(|collisions| limits.max_slots(collisions)).sum();
        let seconds = (slots * parameters.slot_time.get()) as f64 / 1e7;
        Ok(vec![
            Row::exactly("longest delays of one frame together, slots", 7151.0, slots as f64),
            Row::exactly("the same at 10 Mb/s, ms", 366.1312, seconds * 1e3),
        ])
    });
    Topic {
        title: "Backoff",
        source: "802.3, 4.2.3.2.5: after the n-th collision r slots, 0 <= r < 2^k, k = min(n, 10)",
        about: "128 saturated stations at distance 0. The command gives the run; its events (--events FILE) hold the delays, which only \
                `validate` takes apart. Evenness: the probability of a chi-square as high as that of the delays after the n-th collision.",
        checks: vec![crowd, limits],
    }
}

/// What was seen of all delays.
#[derive(Default)]
struct Seen {
    /// How often each delay was drawn after each number of collisions.
    drawn: [HashMap<u64, u64>; DELAYS + 1],
    /// When each station's present delay should end.
    due: HashMap<medium::StationId, BitInstant>,
    ended: u64,
    ended_otherwise: u64,
    /// Frames given up, and after how many attempts.
    discarded: HashMap<u32, u64>,
}

impl Seen {
    fn take(&mut self, event: &Event) {
        match event.kind {
            Kind::Backoff { attempt, slots } => {
                let drawn = &mut self.drawn[(attempt as usize).min(DELAYS)];
                *drawn.entry(slots).or_default() += 1;
                self.due.insert(event.station, BitInstant::new(event.at.get() + slots * SLOT_TIME));
            }
            // A delay of no slots ends in the bit time of the jam's end; either way the station then defers or sends.
            Kind::Defer { .. } | Kind::Attempt { .. } => {
                if let Some(due) = self.due.remove(&event.station) {
                    self.ended += 1;
                    self.ended_otherwise += u64::from(due != event.at);
                }
            }
            Kind::Discarded { attempts, .. } => *self.discarded.entry(attempts).or_default() += 1,
            _ => {}
        }
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for n in 1..=DELAYS {
            let range = 1_u64 << LARGEST.min(n as u32);
            rows.push(Row::about(
                format!("mean delay after collision {n}, slots"),
                (range - 1) as f64 / 2.0,
                self.mean(n),
            ));
        }
        for n in 1..=DELAYS {
            let what = format!("evenness of the delays after collision {n}");
            rows.push(Row::between(what, 1e-5, 1.0, self.evenness(n).unwrap_or(f64::NAN)));
        }
        let otherwise = self.ended_otherwise as f64;
        rows.push(Row::exactly(
            format!("delays not of r x 512 BT from the jam's end, of {}", self.ended),
            0.0,
            otherwise,
        ));
        let least = self.discarded.keys().min().map_or(f64::NAN, |&attempts| f64::from(attempts));
        let most = self.discarded.keys().max().map_or(f64::NAN, |&attempts| f64::from(attempts));
        let frames: u64 = self.discarded.values().sum();
        rows.push(Row::exactly(format!("least attempts of the {frames} frames discarded"), 16.0, least));
        rows.push(Row::exactly("most attempts of them", 16.0, most));
        rows
    }

    /// Mean delay after the `n`-th collision, with its half-width; draws are independent.
    fn mean(&self, n: usize) -> (f64, f64) {
        let count = self.drawn[n].values().sum::<u64>() as f64;
        let mean = self.drawn[n].iter().map(|(&slots, &times)| slots as f64 * times as f64).sum::<f64>() / count;
        let squares: f64 =
            self.drawn[n].iter().map(|(&slots, &times)| times as f64 * (slots as f64 - mean).powi(2)).sum();
        (mean, 1.96 * (squares / (count - 1.0) / count).sqrt())
    }

    /// The probability of a chi-square at least as high, if all delays of the range are as likely.
    ///
    /// Delays are put into as many classes of neighbours as there are draws for; 0 if one is beyond the range.
    fn evenness(&self, n: usize) -> Option<f64> {
        let range = 1_u64 << LARGEST.min(n as u32);
        let count: u64 = self.drawn[n].values().sum();
        let classes = (0..=LARGEST)
            .map(|k| 1_u64 << k)
            .take_while(|&classes| classes <= range.min(count / DRAWS_A_CLASS))
            .last()?;
        let mut hits = vec![0_u64; classes as usize];
        for (&slots, &times) in &self.drawn[n] {
            *hits.get_mut((slots * classes / range) as usize)? += times;
        }
        let each = count as f64 / classes as f64;
        let chi_square: f64 = hits.iter().map(|&hits| (hits as f64 - each).powi(2) / each).sum();
        let law = ChiSquared::new(classes as f64 - 1.0).ok()?;
        Some(law.sf(chi_square))
    }
}
