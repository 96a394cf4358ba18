//! How far figures can be off: half-widths of 95 % confidence intervals.
//!
//! Samples are stretches of one run (batch means) or independent runs, and Student's t makes intervals of them. That does
//! not see what has not happened yet: where one frame in a hundred thousand waits a hundred thousand times as long as the
//! others, most runs have none of it, and their batches agree on a mean that is too small. So rare events get a bound of
//! their own: each number of frames that many collisions held up is a Poisson count, and its bounds move the mean delay.
//! Where few events made a figure, or none, samples that agree prove nothing: the half-width is at least that of their
//! Poisson count (`Events`).
//!
//! One file above 500 lines because every half-width is made here, from samples and from counts.

use crate::figures::delays::PackedDelays;
use crate::figures::histogram::Packed;
use crate::figures::metrics::Sums;
use crate::figures::results::{DelayResults, HalfWidth, Intervals, MediumResults};
use crate::figures::table::{DELAYS, FAIRNESS, FIGURES, MAC_DELAY, NUMBERS, SAME_WINNER, TCP_GOODPUT};
use medium::{Aloha, Config, Csma, Method, Parameters, SlottedAloha};
use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Frames with fewer collisions than this are common wherever collisions are.
const RARE: usize = 3;
/// The part of the distribution that an interval leaves out at either side.
const TAIL: f64 = 0.025;

/// What intervals are made from.
#[derive(Clone, Copy, Debug)]
pub enum Samples<'a> {
    /// Stretches of one run, one after another.
    Batches(&'a [MediumResults]),
    /// Independent runs.
    Runs(&'a [MediumResults]),
}

impl<'a> Samples<'a> {
    fn all(self) -> &'a [MediumResults] {
        match self {
            Samples::Batches(all) | Samples::Runs(all) => all,
        }
    }

    fn method(self) -> &'static str {
        match self {
            Samples::Batches(_) => "batch_means",
            Samples::Runs(_) => "replications",
        }
    }

    /// Batches that lie next to each other can depend on each other, and then too many of them make the interval too
    /// narrow: so the widest of those from all, half and a quarter as many serves. Runs are independent.
    fn half_width_of_mean(self, values: &[f64]) -> Option<f64> {
        let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
        let half = |size: &usize| half_width(values.chunks_exact(*size).map(mean));
        self.groups().iter().filter_map(half).reduce(f64::max)
    }

    /// The same above a mean whose samples lie far above it now and then, so that most runs show too few of those.
    fn skewed_half_width_of_mean(self, values: &[f64]) -> Option<f64> {
        let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
        let half = |size: &usize| skewed_half_width(values.chunks_exact(*size).map(mean));
        self.groups().iter().filter_map(half).reduce(f64::max)
    }

    /// How many neighbours are taken together.
    fn groups(self) -> &'static [usize] {
        match self {
            Samples::Batches(_) => &[1, 2, 4],
            Samples::Runs(_) => &[1],
        }
    }

    /// The values that a metric has where there was something to take a mean of: with no collision there were not 0
    /// stations in one.
    fn values(self, value: impl Fn(&MediumResults) -> Option<f64>) -> Vec<f64> {
        self.all().iter().filter_map(value).collect()
    }
}

/// The delays of samples and of all of them together, from which intervals of quantiles follow.
#[derive(Clone, Debug)]
pub struct Tails<'a> {
    /// Of each sample.
    pub samples: Cow<'a, [PackedDelays]>,
    /// Of all of them.
    pub whole: PackedDelays,
}

impl Tails<'_> {
    /// The half-width of the quantile of `part` of access delay (0) or MAC delay (1), in bit times.
    fn half_width(&self, samples: Samples<'_>, which: usize, part: f64) -> Option<f64> {
        let both = |(frames, those): (u64, u64)| (frames as f64, those as f64);
        let quantile = |part| self.whole.quantile(which, part);
        half_width_of_quantile(samples, part, quantile, |number| {
            let samples = self.samples.iter().map(|delays| both(delays.beyond(which, number)));
            (both(self.whole.beyond(which, number)), samples.collect())
        })
    }
}

/// The half-width of the quantile of `part`. `quantile` gives that of any part of all frames; `beyond`, all frames and those
/// above a number, of the whole and of each sample.
///
/// The samples say how far the part of the frames beyond the quantile can be off; the frames at the ranks that much
/// lower and higher are the bounds, and the one that is farther away counts (Woodruff 1952). Few frames beyond are often
/// those of a few bad moments, so with less than [`FEWEST_BEYOND`], or a bound beyond all frames, there is none.
fn half_width_of_quantile(
    samples: Samples<'_>,
    part: f64,
    quantile: impl Fn(f64) -> Option<u64>,
    beyond: impl Fn(u64) -> ((f64, f64), Vec<(f64, f64)>),
) -> Option<f64> {
    let middle = quantile(part)?;
    let ((frames, those), counts) = beyond(middle);
    if frames * (1.0 - part) < FEWEST_BEYOND {
        return None;
    }
    let beyond = those / frames;
    let half = samples.groups().iter().filter_map(|size| half_width_of_part(beyond, counts.chunks_exact(*size)));
    let half = half.reduce(f64::max)?;
    let (low, high) = (part - half, part + half);
    if high * frames > frames - 1.0 {
        return None;
    }
    let at = |part: f64| Some(quantile(part.max(0.0))? as f64);
    let (low, high) = (at(low)?, at(high)?);
    // The numbers are whole.
    Some((middle as f64 - low).max(high - middle as f64).max(1.0))
}

/// The half-width of the quantile of `part` of numbers that came in neighbouring batches of one run.
pub fn half_width_of_batched_quantile<const BITS: u32>(batches: &[Packed<BITS>], part: f64) -> Option<f64> {
    let whole = Packed::joined(batches);
    let beyond = |numbers: &Packed<BITS>, number| (numbers.total() as f64, numbers.above(number) as f64);
    let quantile = |part| whole.quantiles([part], u64::MAX)[0];
    half_width_of_quantile(Samples::Batches(&[]), part, quantile, |number| {
        (beyond(&whole, number), batches.iter().map(|batch| beyond(batch, number)).collect())
    })
}

/// The fewest frames beyond a quantile for which the quantile has an interval.
const FEWEST_BEYOND: f64 = 50.0;

/// The half-width of `part`, a part of all frames. A sample is a number of frames, and how many of them count.
fn half_width_of_part<'a>(part: f64, groups: impl ExactSizeIterator<Item = &'a [(f64, f64)]>) -> Option<f64> {
    let n = groups.len();
    let sum = |group: &[(f64, f64)]| group.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let add = |(squares, all): (f64, f64), (frames, those): (f64, f64)| {
        (squares + (those - part * frames).powi(2), all + frames)
    };
    let (squares, all) = groups.map(sum).fold((0.0, 0.0), add);
    let half = (n > 1 && all > 0.0).then(|| student_t(n - 1) * (squares * n as f64 / (n - 1) as f64).sqrt() / all);
    Events::part(Some(part), all as u64).half_width(half)
}

/// Half-widths for the figures of `whole`, whose sums are `sums`, on a medium made from `config`; of quantiles only with
/// their `tails`.
pub fn intervals(
    samples: Samples<'_>,
    tails: Option<&Tails<'_>>,
    whole: &MediumResults,
    sums: &Sums,
    config: &Config,
) -> Intervals {
    let mut half_widths = BTreeMap::new();
    let batches = matches!(samples, Samples::Batches(_));
    let queues = batches && holds_up_queues(whole, sums, config);
    let short = queues && is_short_for_queues(sums, config);
    for number in NUMBERS {
        let name = number.name;
        // A station that was held up sends its queue in a row, so rows are as rare as long backoffs.
        if (batches && name == FAIRNESS) || (short && name == SAME_WINNER) {
            continue;
        }
        let half = samples.half_width_of_mean(&samples.values(number.value));
        let events = Events::of((number.value)(whole), name, whole, sums);
        half_widths.extend(events.half_width(half).map(|half| (name.to_owned(), HalfWidth::Number(half))));
    }
    let goodput = samples.half_width_of_mean(&samples.values(|sample| Some(sample.tcp.as_ref()?.goodput_mbps)));
    let of_segments = whole.tcp.as_ref().map(|tcp| Events::each(tcp.segments, tcp.goodput_mbps));
    let goodput = of_segments.unwrap_or_default().half_width(goodput);
    half_widths.extend(goodput.map(|half| (TCP_GOODPUT.to_owned(), HalfWidth::Number(half))));
    let rare =
        if config.method == Method::CsmaCd { Rare::new(sums, &config.parameters) } else { Rare::again(sums, config) };
    for (which, delay) in DELAYS.iter().enumerate() {
        let known = !short || delay.name != MAC_DELAY;
        let mut figures = BTreeMap::new();
        if known {
            let skewed = queues && sums.collisions() > 0 && delay.name == MAC_DELAY;
            let events = Events::of_delay((delay.of)(whole), whole, sums);
            figures.extend(of_mean(samples, |sample| (delay.of)(sample).mean_bt, skewed, &rare, events));
        }
        let quantiles = FIGURES.iter().filter_map(|figure| Some((figure.name, figure.part?)));
        let quantiles = quantiles.filter(|(_, part)| known || *part <= 0.5);
        figures.extend(
            quantiles.filter_map(|(name, part)| Some((name.to_owned(), tails?.half_width(samples, which, part)?))),
        );
        if !figures.is_empty() {
            half_widths.insert(delay.name.to_owned(), HalfWidth::Delay(figures));
        }
    }
    Intervals { method: samples.method().to_owned(), samples: samples.all().len(), half_widths }
}

/// With fewer events than this some batch of a run has none, and the bound of a Poisson count says more than batches.
const FEW: u64 = 32;

/// What a figure counts: how often something happened that moved it, and how far once moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Events {
    pub count: u64,
    pub each: f64,
}

impl Events {
    /// `count` events, all of which together are `whole`.
    pub(super) fn each(count: u64, whole: f64) -> Events {
        Events { count, each: per(whole, count) }
    }

    /// `part` of `all`: what counts is the rarer of those that are in it and those that are not.
    pub(super) fn part(part: Option<f64>, all: u64) -> Events {
        let within = (part.unwrap_or_default() * all as f64).round() as u64;
        Events { count: within.min(all.saturating_sub(within)), each: per(1.0, all) }
    }

    /// Those of the metric called `name`, which has this value.
    fn of(value: Option<f64>, name: &str, whole: &MediumResults, sums: &Sums) -> Events {
        match name {
            "discard_fraction" => Events::part(value, sums.finished()),
            SAME_WINNER => Events::part(value, sums.frames()),
            // Two stations that collide meet again with chance 1/2, then 1/4: some 4 attempts until one gets through.
            "attempts_per_frame" => {
                let contended = whole.episodes_before_success.iter().skip(1).sum();
                let all = Events::each(contended, sums.collisions() as f64);
                Events { each: per(all.each.max(4.0), sums.finished()), ..all }
            }
            "attempts_per_episode" => Events::of_multiplicity(&whole.collision_multiplicity),
            name if name.starts_with("utilization") => Events::each(sums.frames(), value.unwrap_or_default()),
            _ => Events::default(),
        }
    }

    /// Episodes that did not have as many attempts as most of them.
    fn of_multiplicity(multiplicity: &[u64]) -> Events {
        let most = (0..multiplicity.len()).max_by_key(|&place| multiplicity[place]).unwrap_or(0);
        Events::off(multiplicity.iter().enumerate().map(|(place, &count)| (place as f64, count)), most as f64, 1.0)
    }

    /// Frames whose delay is not in the same bin as that of most frames. One more may have to wait for another frame.
    fn of_delay(delay: &DelayResults, whole: &MediumResults, sums: &Sums) -> Events {
        let most = delay.histogram.iter().max_by_key(|(_, count)| **count).map_or(0, |(&bits, _)| bits);
        let frame = whole.utilization_wire * sums.measured() as f64 / sums.frames() as f64;
        Events::off(delay.histogram.iter().map(|(&bits, &count)| (bits as f64, count)), most as f64, frame)
    }

    /// Counts of values of which some are not `most`: how many, and by how much on average, or by `unseen` if there is none.
    fn off(counts: impl Iterator<Item = (f64, u64)>, most: f64, unseen: f64) -> Events {
        let add = |(all, count, sum): (u64, u64, f64), (value, more): (f64, u64)| {
            let other = if value == most { 0 } else { more };
            (all + more, count + other, sum + other as f64 * (value - most).abs())
        };
        let (all, count, sum) = counts.fold((0, 0, 0.0), add);
        let mean = if count == 0 { unseen } else { sum / count as f64 };
        Events { count, each: per(mean, all) }
    }

    /// The larger of the half-width `half` of samples and the bound of a Poisson count; with many events the bound is one
    /// event, since a count is whole. `None` without samples, or if both are 0.
    pub(super) fn half_width(self, half: Option<f64>) -> Option<f64> {
        let bound = if self.count < FEW { above(self.count) * self.each } else { self.each };
        half.map(|half| half.max(bound)).filter(|half| *half > 0.0)
    }
}

/// `whole` for each of `count`; of none, 0.
fn per(whole: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { whole / count as f64 }
}

/// A station whose frame collides time and again holds up its queue meanwhile: a run has to be this many times as long as
/// the longest backoff of a frame before its batches show how often that happens.
const BACKOFFS: u64 = 100;

/// Whether frames wait in queues behind others that back off.
fn holds_up_queues(whole: &MediumResults, sums: &Sums, config: &Config) -> bool {
    let (Some(access), Some(mac)) = (whole.access_delay.mean_bt, whole.mac_delay.mean_bt) else { return false };
    let sent = whole.utilization_wire * sums.measured() as f64 / sums.frames() as f64;
    config.method == Method::CsmaCd && mac - access - sent > 0.05 * mac
}

/// Whether a run with such queues is too short to tell how long frames wait in them.
fn is_short_for_queues(sums: &Sums, config: &Config) -> bool {
    let parameters = &config.parameters;
    let exponents = (1..parameters.attempt_limit.get()).map(|attempt| attempt.min(parameters.backoff_limit).min(31));
    let longest = parameters.slot_time.get() * exponents.map(|exponent| (1_u64 << exponent) - 1).sum::<u64>();
    sums.measured() < BACKOFFS * longest
}

/// The half-widths of the mean of a delay: under its name that to above and, where it is another, that to below.
fn of_mean(
    samples: Samples<'_>,
    value: impl Fn(&MediumResults) -> Option<f64>,
    skewed: bool,
    rare: &Rare,
    events: Events,
) -> Vec<(String, f64)> {
    let values = samples.values(value);
    let Some(half) = events.half_width(samples.half_width_of_mean(&values)) else { return Vec::new() };
    let above = samples.skewed_half_width_of_mean(&values).filter(|_| skewed).unwrap_or(half);
    let (up, down) = (above.max(rare.above), half.max(rare.below));
    let below = (down != up).then(|| (format!("mean_bt{BELOW}"), down));
    [("mean_bt".to_owned(), up)].into_iter().chain(below).collect()
}

/// What the name of a figure has after it where its interval reaches less far below it than above.
pub const BELOW: &str = "_below";

/// How far a mean delay can be off because too few or too many frames met many collisions, in bit times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rare {
    above: f64,
    below: f64,
}

impl Rare {
    /// Sum over the numbers of collisions k from [`RARE`] on: the bounds of the count of such frames, times the backoff
    /// that they had on average, over all frames. Squares add up, since the counts are nearly independent.
    fn new(sums: &Sums, parameters: &Parameters) -> Rare {
        let frames = sums.frames() as f64;
        // Where nothing collided, nothing is known to be rare.
        if sums.collisions() == 0 || frames == 0.0 {
            return Rare::default();
        }
        let (mut backoff, mut squares) = (0.0, (0.0, 0.0));
        for (collisions, &count) in (1..).zip(sums.collision_frames()) {
            backoff += mean_backoff(collisions, parameters);
            if collisions >= RARE {
                squares.0 += (above(count) * backoff / frames).powi(2);
                squares.1 += (below(count) * backoff / frames).powi(2);
            }
        }
        Rare { above: squares.0.sqrt(), below: squares.1.sqrt() }
    }
}

impl Rare {
    /// Of a method that waits by a policy: frames that were sent again, each of which waited once at least.
    fn again(sums: &Sums, config: &Config) -> Rare {
        let (slot, ack_delay, backoff) = match &config.method {
            Method::Aloha(Aloha { slot, ack_delay, backoff, .. }) => (slot, ack_delay, backoff),
            Method::SlottedAloha(SlottedAloha { slot, ack_delay, backoff, .. }) => (slot, ack_delay, backoff),
            Method::Csma(Csma { slot, ack_delay, backoff, .. }) => (slot, ack_delay, backoff),
            _ => return Rare::default(),
        };
        let wait = backoff.with_attempt_limit(0).law(1).map_or(0.0, |law| law.mean_ns());
        let each = per(slot.get() as f64 * (f64::from(*ack_delay) + wait + 1.0), sums.frames());
        let count = sums.collision_frames().iter().sum();
        Rare { above: above(count) * each, below: below(count) * each }
    }
}

/// Mean backoff after a frame's n-th collision, in bit times: (2^min(n, backoff_limit) − 1) / 2 slots (802.3, 4.2.3.2.5).
fn mean_backoff(collisions: usize, parameters: &Parameters) -> f64 {
    let exponent = (collisions as i32).min(parameters.backoff_limit as i32);
    parameters.slot_time.get() as f64 * (2_f64.powi(exponent) - 1.0) / 2.0
}

/// How far the mean of a Poisson count can be above it: χ²(0.975; 2(c + 1)) / 2 − c.
fn above(count: u64) -> f64 {
    chi_square(1.0 - TAIL, 2 * (count + 1)) / 2.0 - count as f64
}

/// How far it can be below: c − χ²(0.025; 2c) / 2.
fn below(count: u64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 - chi_square(TAIL, 2 * count) / 2.0 }
}

/// A quantile of χ² with `freedom` degrees of freedom.
fn chi_square(part: f64, freedom: u64) -> f64 {
    /// From here on Wilson and Hilferty's cube is right to five digits.
    const MANY: u64 = 500;
    let freedom_f = freedom as f64;
    if freedom < MANY {
        let chi = ChiSquared::new(freedom_f).expect("a positive number of degrees of freedom");
        return chi.inverse_cdf(part);
    }
    let normal = if part > 0.5 { 1.959_964 } else { -1.959_964 };
    let (shift, width) = (2.0 / (9.0 * freedom_f), (2.0 / (9.0 * freedom_f)).sqrt());
    freedom_f * (1.0 - shift + normal * width).powi(3)
}

/// Half-width of the 95 % interval of the mean of independent samples: t × s / √n (Student's t, n − 1 degrees of
/// freedom); `None` for fewer than two.
pub fn half_width(samples: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let (sum, n) = samples.clone().fold((0.0, 0_usize), |(sum, n), x| (sum + x, n + 1));
    let mean = sum / n as f64;
    let squares: f64 = samples.map(|x| (x - mean).powi(2)).sum();
    (n > 1).then(|| student_t(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt())
}

/// The half-width above the mean of independent samples: Student's, and γ (1 + 2t²) s / 6n for samples with a skewness γ above 0
/// (Johnson 1978).
fn skewed_half_width(samples: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let half = half_width(samples.clone())?;
    let n = samples.clone().count() as f64;
    let mean = samples.clone().sum::<f64>() / n;
    let power = |power: i32| samples.clone().map(|x| (x - mean).powi(power)).sum::<f64>();
    let deviation = (power(2) / (n - 1.0)).sqrt();
    let skewness = if deviation > 0.0 { (power(3) / n / deviation.powi(3)).max(0.0) } else { 0.0 };
    let t = student_t(n as usize - 1);
    Some(half + skewness * (1.0 + 2.0 * t * t) * deviation / (6.0 * n))
}

/// The half-width of the mean of neighbouring batches of one run: see `Samples::half_width_of_mean`.
pub fn half_width_of_batches(values: &[f64]) -> Option<f64> {
    Samples::Batches(&[]).half_width_of_mean(values)
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
fn student_t(freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).expect("a positive number of degrees of freedom");
    t.inverse_cdf(1.0 - TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::BitRate;

    /// Values of any table of Student's t.
    #[test]
    fn student_t_is_that_of_the_tables() {
        for (freedom, t) in [(1, 12.706), (2, 4.303), (9, 2.262), (31, 2.040), (1000, 1.962)] {
            assert!((student_t(freedom) - t).abs() < 5e-4, "{freedom}: {}", student_t(freedom));
        }
    }

    #[test]
    fn an_interval_needs_two_samples() {
        assert_eq!(half_width([1.0].into_iter()), None);
        // Mean 2, s = √2, n = 2: t(1) × √2 / √2.
        let half = half_width([1.0, 3.0].into_iter()).expect("two samples");
        assert!((half - 12.706).abs() < 1e-3, "{half}");
    }

    /// Of 1, 1, 1, 5 the mean is 2, s = 2 and γ = 24/4/8 = 0.75; t(3) = 3.182.
    #[test]
    fn samples_far_above_the_mean_widen_the_interval_above_it() {
        let skewed = skewed_half_width([1.0, 1.0, 1.0, 5.0].into_iter()).expect("four samples");
        assert!((skewed - 3.182 - 0.75 * (1.0 + 2.0 * 3.182_f64.powi(2)) * 2.0 / 24.0).abs() < 2e-3, "{skewed}");
        for even in [[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 1.0], [2.0; 4]] {
            assert_eq!(skewed_half_width(even.into_iter()), half_width(even.into_iter()), "{even:?}");
        }
    }

    /// No event in 100 leaves room for 3.689 in 100; of many events one more is possible, and of unknown ones nothing is known.
    #[test]
    fn few_events_are_a_poisson_count() {
        let half = |events: Events, half| events.half_width(Some(half)).unwrap_or(0.0);
        assert!((half(Events::part(Some(0.0), 100), 0.0) - 0.036_89).abs() < 1e-4);
        assert!((half(Events::part(Some(1.0), 100), 0.0) - 0.036_89).abs() < 1e-4);
        assert!((half(Events::part(Some(0.06), 100), 0.01) - 0.0706).abs() < 1e-4, "13.06 may have been 6");
        assert_eq!(half(Events::part(Some(0.5), 100), 0.2), 0.2, "samples know more of many");
        assert_eq!(half(Events::part(Some(0.5), 100), 0.0), 0.01);
        assert_eq!(Events::default().half_width(Some(0.0)), None, "not 0 \u{b1} 0");
        assert_eq!(Events::each(1, 3.0).half_width(None), None);
        // Of 100 episodes with 2 attempts one with 3 is the rarest that may be unseen; two with 4 are 2 off each.
        assert_eq!(Events::of_multiplicity(&[0, 100]), Events { count: 0, each: 0.01 });
        assert_eq!(Events::of_multiplicity(&[0, 98, 0, 2]), Events { count: 2, each: 0.02 });
    }

    /// Exact limits of a Poisson count (Garwood, 1936): 0 to 3.689 for none, 2.202 to 13.060 for six.
    #[test]
    fn a_count_is_off_by_what_the_tables_say() {
        for (count, low, high) in [(0, 0.0, 3.689), (1, 0.0253, 5.572), (6, 2.202, 13.060), (50, 37.11, 65.92)] {
            let (below, above) = (count as f64 - below(count), count as f64 + above(count));
            assert!((below - low).abs() < 6e-3 && (above - high).abs() < 6e-3, "{count}: {below} to {above}");
        }
        // Where the approximation begins it meets the exact one.
        let (exact, near) = (chi_square(0.975, 499), chi_square(0.975, 500));
        assert!((near - exact - 1.06).abs() < 0.03, "{exact}, {near}");
    }

    /// STANDARD: 0.5, 1.5, 3.5 … 511.5 slots of 512 BT.
    #[test]
    fn mean_backoff_doubles_up_to_backoff_limit() {
        let parameters = Parameters::at(BitRate::MBIT_10);
        let slots = [1, 2, 3, 10, 15].map(|collisions| mean_backoff(collisions, &parameters) / 512.0);
        assert_eq!(slots, [0.5, 1.5, 3.5, 511.5, 511.5]);
    }
}
