//! A report's plots, by `plot`'s own means, and theory beside measurement.

use super::gather::{Run, Told};
use super::tables::{changes, changes_told};
use crate::study::plot::PlotError;
use crate::study::plot::axis::Axis;
use crate::study::plot::data::{Figure, Point, Series};
use crate::study::plot::labels::TimeUnit;
use crate::study::plot::picture::Kind as Picture;
use crate::study::theory::contention::{efficiency, slots_lost};
use medium::{BitTimes, Kind, Method, PREAMBLE_AND_SFD, StationId};
use sim::figures::intervals::half_width;
use sim::figures::metrics::jain;
use sim::figures::results::DelayResults;
use sim::scene::Stations;
use sim::words::sentences::{TIED, real};
use sim::words::units::many;

/// Stretches of a run along a plot's time axis.
const STRETCHES: u64 = 60;

/// A figure with its axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What its file is called, without what says its kind.
    pub name: &'static str,
    /// What it shows, in a sentence for those who cannot see it.
    pub told: &'static str,
    figure: Figure,
    x: Axis,
    y: Axis,
}

impl Plot {
    /// The same with what changed: in words, and at its places along an axis of time.
    fn with(mut self, note: &[String], marks: Vec<f64>) -> Plot {
        self.figure.note = note.to_vec();
        let is_shown = |mark: &f64| (self.x.low..=self.x.high).contains(mark);
        self.figure.marks = marks.into_iter().filter(is_shown).collect();
        self
    }

    /// The plot as a picture.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn picture(&self, kind: Picture) -> Result<Vec<u8>, PlotError> {
        kind.picture(&self.figure, (&self.x, &self.y))
    }
}

/// Every plot that the runs have something for.
pub fn plots(runs: &[Run]) -> Vec<Plot> {
    let over_time = [
        (
            "utilization",
            "part of the rate",
            "Utilization over time: frames, preambles and gaps, as a part of the rate.",
        ),
        ("fairness", "Jain's index of octets", "Fairness over time: 1 if every station got as much as any other."),
        ("capture", "part of the frames", "Capture over time: frames whose sender also sent the one before."),
    ];
    let told = || runs.iter().filter_map(|run| Some((run.label(), run.told.as_ref()?)));
    let longest = told().map(|(_, told)| seconds(told, told.end.get())).fold(0.0, f64::max);
    let unit = TimeUnit::of_span(longest);
    let courses: Vec<(String, Course)> = told().map(|(label, told)| (label, Course::of(told, unit))).collect();
    let (changes, time) = (changes_of(runs), format!("time, {}", unit.text()));
    let marks = || told().flat_map(|(_, told)| marks_of(told, unit)).collect();
    let mut plots = Vec::new();
    for (name, y_label, told) in over_time {
        let series = courses.iter().map(|(label, course)| Series {
            name: label.clone(),
            points: course.points(name),
            is_curve: false,
        });
        let drawn = plot(name, told, (&time, y_label), series.collect(), [false, false]);
        plots.extend(drawn.map(|plot| plot.with(&changes, marks())));
    }
    let delays = runs.iter().map(|run| Series {
        name: run.label(),
        points: distribution(&run.results.medium.access_delay),
        is_curve: false,
    });
    let delays = plot(
        "access_delay",
        "Access delay: the part of the frames that waited no longer.",
        ("access delay, BT", "part of the frames"),
        delays.collect(),
        [true, false],
    );
    let attempts = runs.iter().map(|run| Series { name: run.label(), points: attempts(run), is_curve: false });
    let attempts = plot(
        "attempts",
        "Frames by the attempts that they took.",
        ("attempts", "frames"),
        attempts.collect(),
        [false, true],
    );
    plots.extend(delays.into_iter().chain(attempts).map(|plot| plot.with(&changes, Vec::new())));
    plots
}

/// Faults, cuts and the like, for those who ask why a course changes.
fn changes_of(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| -> Vec<String> {
        let Some(told) = &run.told else { return Vec::new() };
        let rate = told.header.config().rate;
        let mut lines = changes_told(told, |at| real(BitTimes::new(at), rate).replace(TIED, " "));
        if runs.len() > 1 && !lines.is_empty() {
            lines.insert(0, format!("{}:", run.label()));
        }
        lines
    };
    runs.iter().flat_map(of).collect()
}

/// Where faults, cuts and the like are along an axis of time.
fn marks_of(told: &Told, unit: TimeUnit) -> impl Iterator<Item = f64> {
    changes(told).into_iter().map(move |(at, _)| seconds(told, at) * unit.per_second())
}

/// An instant in seconds.
fn seconds(told: &Told, at: u64) -> f64 {
    at as f64 / told.header.config().rate.get() as f64
}

fn plot(
    name: &'static str,
    told: &'static str,
    (x_label, y_label): (&str, &str),
    series: Vec<Series>,
    [x_log, y_log]: [bool; 2],
) -> Option<Plot> {
    let series: Vec<Series> = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    let all = |value: fn(&Point) -> f64| -> Vec<f64> {
        series.iter().flat_map(|series| &series.points).map(value).filter(|value| value.is_finite()).collect()
    };
    let x = Axis::along(&all(|point| point.x), x_log).ok()?;
    let means = all(|point| point.mean);
    let highest = means.iter().copied().fold(0.0, f64::max);
    // A part is seen beside the whole.
    let y = match y_log {
        true => Axis::up(&means, true),
        false => Axis::between((0.0, highest.max(1.0)), false),
    };
    let y = y.ok()?;
    let figure = Figure { x_label: x_label.to_owned(), y_label: y_label.to_owned(), series, ..Figure::default() };
    Some(Plot { name, told, figure, x, y })
}

fn point(x: f64, mean: f64) -> Point {
    Point { x, mean, half: None, below: None, seeds: 1 }
}

/// What came of each stretch of a run.
struct Course {
    /// How long each is, and when the first begins, in the unit of the axis.
    length: f64,
    begin: f64,
    stretches: Vec<Stretch>,
    /// Frames that each station has offered since instant 0.
    offered: Vec<u64>,
}

#[derive(Clone, Default)]
struct Stretch {
    utilization: f64,
    frames: u64,
    same_winner: u64,
    octets: Vec<u64>,
}

impl Course {
    fn of(told: &Told, unit: TimeUnit) -> Course {
        let config = told.header.config();
        let span = told.end.since(told.begin).get().max(1);
        let empty = Stretch { octets: vec![0; config.topology.stations()], ..Stretch::default() };
        let mut stretches = vec![empty; STRETCHES.min(span) as usize];
        let count = stretches.len() as u64;
        let around = (PREAMBLE_AND_SFD + config.parameters.inter_packet_gap).get();
        let (mut winner, mut offered) = (None, vec![0; config.topology.stations()]);
        for event in &told.events {
            if let Kind::Offered { .. } = event.kind {
                offered[event.station.index()] += 1;
            }
            let Kind::Transmitted { size, .. } = event.kind else { continue };
            let same = winner.replace(event.station) == Some(event.station);
            let Some(since) = event.at.get().checked_sub(told.begin.get()) else { continue };
            let place = (u128::from(since) * u128::from(count) / u128::from(span)).min(u128::from(count) - 1);
            let length = span as f64 / count as f64;
            fill(&mut stretches, since as f64 / length, (u64::from(size.get()) * 8 + around) as f64 / length);
            let stretch = &mut stretches[place as usize];
            stretch.frames += 1;
            stretch.same_winner += u64::from(same);
            stretch.octets[event.station.index()] += u64::from(size.get());
        }
        let [length, begin] = [span, told.begin.get()].map(|bits| seconds(told, bits) * unit.per_second());
        Course { length: length / count as f64, begin, stretches, offered }
    }

    fn points(&self, name: &str) -> Vec<Point> {
        let value = |stretch: &Stretch| match name {
            "utilization" => Some(stretch.utilization),
            "fairness" => jain(stretch.octets.iter().copied().zip(self.offered.iter().copied())),
            _ => (stretch.frames > 0).then(|| stretch.same_winner as f64 / stretch.frames as f64),
        };
        let at = |number: usize| self.begin + (number as f64 + 0.5) * self.length;
        let points = self.stretches.iter().enumerate();
        points.filter_map(|(number, stretch)| Some(point(at(number), value(stretch)?))).collect()
    }
}

/// Divides what lasted `long` stretches, up to `end`, among them: a frame can begin in one and end in another.
fn fill(stretches: &mut [Stretch], end: f64, long: f64) {
    let begin = (end - long).max(0.0);
    for (number, stretch) in
        stretches.iter_mut().enumerate().skip(begin as usize).take_while(|(number, _)| (*number as f64) < end)
    {
        stretch.utilization += (end.min(number as f64 + 1.0) - begin.max(number as f64)).max(0.0);
    }
}

/// The part of the frames that waited no longer than each bin of the histogram.
fn distribution(delay: &DelayResults) -> Vec<Point> {
    let all: u64 = delay.histogram.values().sum();
    let mut so_far = 0;
    let part = |(longest, frames): (&u64, &u64)| {
        so_far += frames;
        // No wait at all has no place on a logarithmic axis; 1 BT is too small to be distinguished from it.
        point((*longest).max(1) as f64, so_far as f64 / all as f64)
    };
    delay.histogram.iter().map(part).collect()
}

/// Frames by how many attempts they took, where there are any.
fn attempts(run: &Run) -> Vec<Point> {
    let sent: u64 = run.results.stations.iter().map(|station| station.counter("frames_transmitted_ok")).sum();
    let collided: u64 = run.results.medium.collision_frames.iter().sum();
    let first = std::iter::once(sent.saturating_sub(collided));
    let all = first.chain(run.results.medium.collision_frames.iter().copied());
    let points = (1..).zip(all).filter(|(_, frames)| *frames > 0);
    points.map(|(attempts, frames): (u32, u64)| point(f64::from(attempts), frames as f64)).collect()
}

/// A figure of theory beside what was measured.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What it is.
    pub what: String,
    /// Theory's figure.
    pub theory: f64,
    /// The measured one.
    pub measured: f64,
    /// Half of its 95 % interval.
    pub half: Option<f64>,
    /// Where the theory comes from, and where it holds.
    pub source: String,
}

/// The predictions of theory for a run, beside its results.
pub fn theory(run: &Run) -> Vec<Beside> {
    let config = run.config();
    let mut rows = Vec::new();
    if config.method != Method::CsmaCd {
        return rows;
    }
    let (slot, bits) = (config.parameters.slot_time.get() as f64, mean_bits(run));
    let stations = config.topology.stations() as u32;
    let around = 64.0 + config.parameters.inter_packet_gap.get() as f64;
    // It is of one medium, which nothing is done to.
    let is_as_it_was = run.told.as_ref().is_none_or(|told| told.inputs.is_empty());
    let bits = bits.filter(|_| is_as_it_was && always_had_one(run));
    if let Some(expected) = bits.and_then(|bits| efficiency(stations, bits + around, slot).ok()) {
        let ci95 = run.results.medium.ci95.as_ref();
        rows.push(Beside {
            what: "utilization, frames with preamble and gap".to_owned(),
            theory: expected,
            measured: run.results.medium.utilization_total,
            half: ci95.and_then(|all| all.half_width("utilization_total", None)),
            source: metcalfe_boggs(stations, bits.unwrap_or(0.0) + around, slot),
        });
    }
    if let (Some(told), None) = (&run.told, &config.backoff) {
        rows.extend(draws(told, config.parameters.backoff_limit));
    }
    rows
}

/// The formula with the run's own numbers, and what it is of.
fn metcalfe_boggs(stations: u32, bits: f64, slot: f64) -> String {
    let lost = slots_lost(stations).unwrap_or(0.0);
    format!(
        "Metcalfe and Boggs 1976: E = P / (P + W T); P = {bits:.0} bit a frame, T = {slot:.0} bit a slot, W = {lost:.3} slots lost \
         before a frame with {}. It is of stations that always have a frame, as here, and send in a slot with the chance 1/{stations}: \
         with the backoff of 802.3 who has just won tries again at once",
        many(stations.into(), "station")
    )
}

/// Each station always had a frame.
pub fn always_had_one(run: &Run) -> bool {
    let Some(told) = &run.told else {
        let of = run.results.config.run.as_ref();
        return of.is_some_and(|run| run.traffic.iter().all(|traffic| traffic.starts_with("saturated")));
    };
    let config = told.header.config();
    let mut stations = Stations::new(config.topology.stations());
    let (mut at, mut left): (_, Vec<StationId>) = (told.begin, Vec::new());
    for event in &told.events {
        if event.at > at {
            let has_one = |station: StationId| stations.get(station).queue() > 0;
            if !left.drain(..).all(has_one) {
                return false;
            }
            at = event.at;
        }
        if stations.event(event, &config).is_some() {
            left.push(event.frame.station);
        }
    }
    (0..config.topology.stations() as u16).map(StationId::new).all(|one| stations.get(one).queue() > 0)
}

/// Mean length of a frame that got through, in bits.
fn mean_bits(run: &Run) -> Option<f64> {
    let sum = |counter: &str| run.results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let frames = sum("frames_transmitted_ok");
    (frames > 0).then(|| 8.0 * (sum("octets_transmitted_ok") as f64 / frames as f64 + 18.0))
}

/// The fewest draws after one number of collisions of which the mean is shown.
const LEAST_DRAWS: usize = 30;

fn draws(told: &Told, backoff_limit: u32) -> Vec<Beside> {
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    for event in &told.events {
        if let Kind::Backoff { attempt, slots } = event.kind {
            let place = attempt.max(1) as usize - 1;
            if drawn.len() <= place {
                drawn.resize_with(place + 1, Vec::new);
            }
            drawn[place].push(slots as f64);
        }
    }
    let row = |(collisions, slots): (u32, Vec<f64>)| Beside {
        what: format!("mean backoff after collision {collisions} of a frame, slots"),
        theory: (2_f64.powi(collisions.min(backoff_limit) as i32) - 1.0) / 2.0,
        measured: slots.iter().sum::<f64>() / slots.len() as f64,
        half: half_width(slots.iter().copied()),
        source: "802.3, 4.2.3.2.5: uniform over 0 to 2^min(n, backoffLimit) - 1".to_owned(),
    };
    (1..).zip(drawn).filter(|(_, slots)| slots.len() >= LEAST_DRAWS).map(row).collect()
}
