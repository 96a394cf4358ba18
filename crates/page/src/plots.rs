//! Plots of a run, ready to be drawn: what each shows in words, its axes, its points.

use crate::tiles::digits;
use medium::{BitRate, Kind};
use serde::Serialize;
use sim::figures::metrics::jain;
use sim::figures::results::{DelayResults, Results};
use sim::run::told::Told;

/// Pieces of a run along an axis of time.
const PIECES: u64 = 96;

/// A plot.
#[derive(Debug, Serialize)]
pub struct Plot {
    title: &'static str,
    /// The figure of the whole run, in words.
    says: String,
    /// What is along the lower axis, and where it begins and ends.
    x: Axis,
    y: Axis,
    /// Along time, in ms since the run began.
    is_over_time: bool,
    /// From left to right; nothing where there is no such figure.
    points: Vec<(f64, Option<f64>)>,
    /// Each point is a bar from the lower axis.
    is_bars: bool,
    /// A line that no point is above, and what says so.
    bound: Option<(f64, String)>,
    /// Where something was done to the medium.
    marks: Vec<f64>,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
struct Axis {
    label: String,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Axis {
    fn new(label: &str, from: f64, to: f64) -> Axis {
        Axis { label: label.to_owned(), from, to: if to > from { to } else { from + 1.0 }, is_log: false }
    }
}

/// What is summed in each piece of a run.
#[derive(Debug)]
pub struct Course {
    begin: u64,
    /// Bit times of a piece.
    piece: u64,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    /// Bits of frames that got through, by station.
    bits: Vec<u64>,
    /// Frames that each has offered since the first instant.
    offered: Vec<u64>,
    /// Of frames that got through, the sum of their MAC delays in bit times, how many they are, and of how many the sender
    /// had also sent the one before.
    delay: u64,
    frames: u64,
    same: u64,
}

impl Course {
    /// That of a run from when its figures count.
    pub fn of(told: &Told) -> Course {
        let (begin, stations) = (told.begin.get(), told.header.config().topology.stations());
        let piece = told.end.get().saturating_sub(begin).div_ceil(PIECES).max(1);
        let nothing = Piece { bits: vec![0; stations], offered: vec![0; stations], delay: 0, frames: 0, same: 0 };
        let mut pieces = vec![nothing; PIECES as usize];
        let (mut winner, mut offered) = (None, vec![0; stations]);
        let mut now = 0;
        for event in &told.events {
            let place = (event.at.get().saturating_sub(begin) / piece).min(PIECES - 1) as usize;
            pieces[now..place].iter_mut().for_each(|piece| piece.offered.clone_from(&offered));
            now = place;
            match event.kind {
                Kind::Offered { .. } => offered[event.station.index()] += 1,
                Kind::Transmitted { size, mac_delay, .. } => {
                    let same = winner.replace(event.frame.station) == Some(event.frame.station);
                    if event.at >= told.begin {
                        let piece = &mut pieces[place];
                        piece.bits[event.frame.station.index()] += u64::from(size.get()) * 8;
                        piece.delay = piece.delay.saturating_add(mac_delay.get());
                        piece.frames += 1;
                        piece.same += u64::from(same);
                    }
                }
                _ => {}
            }
        }
        pieces[now..].iter_mut().for_each(|piece| piece.offered.clone_from(&offered));
        Course { begin, piece, pieces }
    }

    /// The part of each piece in which each station's frames got through, in hundredths, by station.
    pub fn of_stations(&self) -> Vec<Vec<u8>> {
        let stations = self.pieces[0].bits.len();
        let part = |piece: &Piece, station: usize| (100 * piece.bits[station] / self.piece).min(100) as u8;
        (0..stations).map(|station| self.pieces.iter().map(|piece| part(piece, station)).collect()).collect()
    }

    fn points(&self, rate: BitRate, of: impl Fn(&Piece) -> Option<f64>) -> Vec<(f64, Option<f64>)> {
        let middle = |number: usize| milliseconds(self.begin + self.piece * number as u64 + self.piece / 2, rate);
        self.pieces.iter().enumerate().map(|(number, piece)| (middle(number), of(piece))).collect()
    }
}

fn milliseconds(bits: u64, rate: BitRate) -> f64 {
    bits as f64 / rate.get() as f64 * 1e3
}

/// Plots of a run's results.
pub fn of_results(results: &Results) -> Vec<Plot> {
    let waited = distribution(&results.medium.access_delay);
    let attempts = attempts(results);
    let ends =
        |points: &[(f64, Option<f64>)]| (points.first().map_or(1.0, |at| at.0), points.last().map_or(1.0, |at| at.0));
    let (mut plots, (from, to)) = (Vec::new(), ends(&waited));
    let half = results.medium.access_delay.p50_bt;
    if !waited.is_empty() {
        let says = half.map_or(String::new(), |half| format!("half of the frames waited at most {half} BT"));
        let x = Axis { is_log: true, ..Axis::new("access delay, BT", from, to.max(from * 1.001)) };
        let y = Axis::new("part of the frames that waited no longer", 0.0, 1.0);
        plots.push(Plot {
            title: "Access delay",
            says,
            x,
            y,
            points: waited,
            is_over_time: false,
            is_bars: false,
            bound: None,
            marks: Vec::new(),
        });
    }
    if !attempts.is_empty() {
        let per_frame = results.medium.attempts_per_frame;
        let says = per_frame.map_or(String::new(), |mean| format!("{} attempts for each frame", digits(mean, 3)));
        let most = attempts.iter().filter_map(|at| at.1).fold(1.0, f64::max);
        let x = Axis::new("attempts", 0.0, ends(&attempts).1 + 1.0);
        let y = Axis { is_log: true, ..Axis::new("frames", 0.5, most) };
        plots.push(Plot {
            title: "Attempts",
            says,
            x,
            y,
            points: attempts,
            is_over_time: false,
            is_bars: true,
            bound: None,
            marks: Vec::new(),
        });
    }
    plots
}

/// Plots of a run over time, and of its results.
pub fn of_run(told: &Told, course: &Course, results: &Results) -> Vec<Plot> {
    let (rate, medium) = (told.header.config().rate, &results.medium);
    let micros = |bits: f64| bits / rate.get() as f64 * 1e6;
    let time = Axis::new("time, ms", milliseconds(told.begin.get(), rate), milliseconds(told.end.get(), rate));
    let marks = told.inputs.iter().filter(|(_, at, _)| *at >= told.begin);
    let marks: Vec<f64> = marks.map(|(_, at, _)| milliseconds(at.get(), rate)).collect();
    let plot = |title, says: Option<String>, y: Axis, points| Plot {
        title,
        says: says.unwrap_or_else(|| "nothing yet".to_owned()),
        x: time.clone(),
        y,
        is_over_time: true,
        points,
        is_bars: false,
        bound: None,
        marks: marks.clone(),
    };
    let part = |value: f64| format!("{} over all of the run", digits(value, 3));
    // A frame counts where it ends, so a piece may have more bits than bit times: it is full then.
    let used = |piece: &Piece| Some((piece.bits.iter().sum::<u64>() as f64 / course.piece as f64).min(1.0));
    let delay = |piece: &Piece| (piece.frames > 0).then(|| micros(piece.delay as f64 / piece.frames as f64));
    let fair = |piece: &Piece| jain(piece.bits.iter().copied().zip(piece.offered.iter().copied()));
    let same = |piece: &Piece| (piece.frames > 0).then(|| piece.same as f64 / piece.frames as f64);
    let delays = course.points(rate, delay);
    let bound = medium.plca.as_ref().and_then(|plca| plca.access_delay_bound_bt).map(|bound| micros(bound as f64));
    let longest = delays.iter().filter_map(|at| at.1).fold(bound.unwrap_or(1.0), f64::max);
    let of_bound = |bound| {
        let what = "dashed: from the head of the queue to the first bit at most";
        (bound, format!("{what} {} µs (148.4.4)", digits(bound, 3)))
    };
    let mut plots = vec![
        plot(
            "Utilization",
            Some(part(medium.utilization_frame)),
            Axis::new("part of the rate", 0.0, 1.0),
            course.points(rate, used),
        ),
        Plot {
            bound: bound.map(of_bound),
            ..plot(
                "Delay in the MAC",
                medium.mac_delay.mean_bt.map(|mean| format!("{} µs on average", digits(micros(mean), 3))),
                Axis::new("µs", 0.0, longest),
                delays,
            )
        },
        plot(
            "Fairness",
            medium.fairness.map(part),
            Axis::new("Jain's index of octets", 0.0, 1.0),
            course.points(rate, fair),
        ),
        plot(
            "Capture",
            medium.same_winner.map(|value| format!("{} came from the sender of the one before", digits(value, 3))),
            Axis::new("part of the frames", 0.0, 1.0),
            course.points(rate, same),
        ),
    ];
    plots.extend(of_results(results));
    plots
}

/// The part of the frames that waited no longer than each bin of the histogram.
fn distribution(delay: &DelayResults) -> Vec<(f64, Option<f64>)> {
    let all: u64 = delay.histogram.values().sum();
    let mut so_far = 0;
    let part = |(longest, frames): (&u64, &u64)| {
        so_far += frames;
        // No wait at all has no place on a logarithmic axis; 1 BT is too small to be distinguished from it.
        ((*longest).max(1) as f64, Some(so_far as f64 / all as f64))
    };
    delay.histogram.iter().map(part).collect()
}

/// Frames by how many attempts they took, where there are any.
fn attempts(results: &Results) -> Vec<(f64, Option<f64>)> {
    let sent: u64 = results.stations.iter().map(|station| station.counter("frames_transmitted_ok")).sum();
    let collided: u64 = results.medium.collision_frames.iter().sum();
    let first = std::iter::once(sent.saturating_sub(collided));
    let all = first.chain(results.medium.collision_frames.iter().copied());
    let points = (1..).zip(all).filter(|(_, frames)| *frames > 0);
    points.map(|(attempts, frames): (u32, u64)| (f64::from(attempts), Some(frames as f64))).collect()
}
