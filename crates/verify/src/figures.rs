//! The figures of a results file, computed again from the rows of a trace.
//!
//! A figure has the path of its key, as in `stations/0/attempts`. Distributions are held value by value: each bucket of a
//! histogram has its count, and a quantile is at most a bucket's width above the value of its rank.

use crate::arithmetic::{HEADER_AND_FCS, UTILIZATIONS, is_same, ratio, utilization};
use crate::backlog::Backlog;
use crate::spread::Spread;
use crate::turns::Turns;
use medium::{
    BitInstant, BitTimes, Cause, Config, Event, FrameId, HostKind, Kind, MacKind, Method, Part, ReceiverKind,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A bucket of a delay is at most this part of its value.
const WIDEST_BUCKET: f64 = 0.25;
/// Places of lists of counts.
const MOST_PLACES: usize = 1024;

/// What is counted, from `start` on.
#[derive(Debug, Default)]
pub struct Figures {
    start: u64,
    end: u64,
    counts: BTreeMap<String, u64>,
    lists: BTreeMap<String, Vec<u64>>,
    delays: BTreeMap<String, Vec<u64>>,
    episodes: BTreeMap<u64, u64>,
    episodes_since_success: u64,
    /// The latest episode that began before the measurement.
    latest_before: u64,
    winner: Option<u16>,
    run: u64,
    successes: Vec<(u64, u64)>,
    queued: Vec<(i64, i64)>,
    /// The slot, or the frame time, of a method that has one, and bits in a second.
    slot: Option<u64>,
    rate: f64,
    is_dcf: bool,
    backlog: Option<Backlog>,
    turns: Option<Turns>,
    spread: Option<Spread>,
    /// The frame that has just found the line busy: that it gives way is no draw.
    deferred: Option<(BitInstant, FrameId)>,
}

/// The slot in which a method counts.
fn slot(method: &Method) -> Option<BitTimes> {
    match method {
        Method::SlottedAloha(own) => Some(own.slot),
        Method::Tdma(own) => Some(own.slot),
        Method::Aloha(own) => Some(own.slot),
        Method::Csma(own) => Some(own.slot),
        Method::CsmaCa(own) => Some(own.frame_time),
        Method::CsmaCd | Method::Plca(_) => None,
    }
}

impl Figures {
    /// Of a run whose results are `results`.
    ///
    /// # Errors
    /// A file that is no results of one run.
    pub fn of(results: &Value, config: &Config) -> Result<Figures, String> {
        let measured = results["measured_bit_times"].as_u64();
        let measured = measured.ok_or("`measured_bit_times` is missing: this is no results file of one run")?;
        if results["config"]["replications"].as_u64().is_some_and(|runs| runs > 1) {
            return Err("these are results of several runs, and a trace is of one".to_owned());
        }
        let warm_up = results["config"]["warmup_s"].as_f64().unwrap_or(0.0);
        let start = (warm_up * config.rate.get() as f64).round() as u64;
        let stations = config.topology.stations();
        let end = start + measured;
        let is_dcf = matches!(config.method, Method::CsmaCa(_));
        Ok(Figures {
            start,
            end,
            backlog: slot(&config.method).map(|_| Backlog::new(config, start..end, !is_dcf)),
            turns: Turns::new(config, start..end),
            spread: (results["medium"]["ci95"]["samples"] == 32).then(|| Spread::new(start..end)),
            successes: vec![(0, 0); stations],
            queued: vec![(0, 0); stations],
            slot: slot(&config.method).map(BitTimes::get),
            rate: config.rate.get() as f64,
            is_dcf,
            ..Figures::default()
        })
    }

    fn add(&mut self, station: usize, name: &str, count: u64) {
        *self.counts.entry(format!("stations/{station}/{name}")).or_default() += count;
    }

    fn place(&mut self, path: String, place: u64) {
        let list = self.lists.entry(path).or_default();
        let place = (place as usize).min(MOST_PLACES - 1);
        list.resize(list.len().max(place + 1), 0);
        list[place] += 1;
    }

    /// Takes one more event.
    pub fn take(&mut self, event: &Event) {
        let (at, own) = (event.at.get(), event.station.index());
        if at >= self.end {
            return;
        }
        let change = match event.kind.part() {
            Part::Host(HostKind::Offered { .. }) => 1,
            Part::Host(HostKind::QueueDrop) | Part::Mac(MacKind::Transmitted { .. } | MacKind::Discarded { .. }) => -1,
            _ => 0,
        };
        self.queued[own].1 += change;
        let gives_way = self.gives_way(event);
        self.backlog.iter_mut().for_each(|backlog| backlog.take(event, gives_way));
        self.turns.iter_mut().for_each(|turns| turns.take(event));
        self.spread.iter_mut().for_each(|spread| spread.take(event));
        if at < self.start {
            self.queued[own].0 += change;
            return self.before(own, &event.kind);
        }
        match event.kind.part() {
            Part::Host(HostKind::Offered { .. }) => self.add(own, "offered", 1),
            Part::Host(HostKind::QueueDrop) => self.add(own, "queue_drops", 1),
            Part::Mac(MacKind::Backoff { slots, .. }) => {
                let (name, count) = if gives_way { ("gave_way", 1) } else { ("waited", slots) };
                self.add(own, name, count);
            }
            Part::Mac(kind) => self.mac(own, kind),
            Part::Receiver(kind) => self.received(own, event.frame.station.index(), kind),
            Part::Wireless(_) | Part::Plca(_) => {}
        }
    }

    /// A backoff of a frame that has just found the line busy.
    fn gives_way(&mut self, event: &Event) -> bool {
        match event.kind.part() {
            Part::Mac(MacKind::Defer { .. }) => self.deferred = Some((event.at, event.frame)),
            Part::Mac(MacKind::Backoff { attempt: 1.., .. }) => {
                return self.deferred.take() == Some((event.at, event.frame));
            }
            _ => {}
        }
        false
    }

    /// What the last success before the measurement leaves for the first one in it.
    fn before(&mut self, own: usize, kind: &Kind) {
        match kind.part() {
            Part::Mac(MacKind::Transmitted { .. }) => {
                self.winner = Some(own as u16);
                self.episodes_since_success = 0;
            }
            Part::Mac(MacKind::Collision { episode, .. }) if episode > self.latest_before => {
                self.latest_before = episode;
                self.episodes_since_success += 1;
            }
            _ => {}
        }
    }

    fn received(&mut self, own: usize, sender: usize, kind: ReceiverKind) {
        match kind {
            ReceiverKind::Delivered { size } => {
                self.add(sender, "delivered", 1);
                self.add(own, "frames_received_ok", 1);
                self.add(own, "octets_received_ok", u64::from(size.get()).saturating_sub(HEADER_AND_FCS));
            }
            ReceiverKind::Fragment { .. } => self.add(own, "fragments_received", 1),
            ReceiverKind::Damaged { bits } if bits.get() % 8 == 0 => self.add(own, "fcs_errors", 1),
            ReceiverKind::Damaged { .. } => self.add(own, "alignment_errors", 1),
            ReceiverKind::TooLong { .. } => self.add(own, "frame_too_long_errors", 1),
        }
    }

    fn mac(&mut self, own: usize, kind: MacKind) {
        match kind {
            MacKind::Attempt { excessive_deferral, .. } => {
                self.add(own, "attempts", 1);
                self.add(own, "excessive_deferrals", excessive_deferral.into());
            }
            MacKind::Collision { late, episode, .. } => {
                self.add(own, "collisions", 1);
                self.add(own, "late_collisions", late.into());
                // One that began before the measurement is not counted.
                if episode > self.latest_before {
                    let attempts = self.episodes.entry(episode).or_default();
                    *attempts += 1;
                    self.episodes_since_success += u64::from(*attempts == 1);
                }
            }
            MacKind::Transmitted { size, attempts, deferred, access_delay, mac_delay, no_carrier, .. } => {
                self.success(own, u64::from(size.get()));
                let collisions = attempts.saturating_sub(1);
                self.add(own, "deferred_transmissions", u64::from(deferred && collisions == 0));
                self.add(own, "single_collision_frames", u64::from(collisions == 1));
                self.add(own, "multiple_collision_frames", u64::from(collisions > 1));
                self.add(own, "carrier_sense_errors", no_carrier.into());
                if let Some(place) = collisions.checked_sub(1) {
                    self.place(format!("stations/{own}/collision_frames"), place.into());
                    self.place("medium/collision_frames".to_owned(), place.into());
                }
                for (name, delay) in [("access_delay", access_delay), ("mac_delay", mac_delay)] {
                    self.delays.entry(format!("stations/{own}/{name}")).or_default().push(delay.get());
                    self.delays.entry(format!("medium/{name}")).or_default().push(delay.get());
                }
            }
            MacKind::Discarded { cause, .. } => {
                let (name, is_internal) = match cause {
                    Cause::ExcessiveCollisions => ("excessive_collisions", 0),
                    Cause::LateCollision => ("late_collision_discards", 0),
                    Cause::TooShort => ("too_short", 1),
                    Cause::TooLong => ("too_long", 1),
                    Cause::Detached => ("detached", 1),
                };
                self.add(own, name, 1);
                self.add(own, "internal_mac_transmit_errors", is_internal);
            }
            MacKind::Defer { .. } | MacKind::JamEnd { .. } | MacKind::Backoff { .. } => {}
        }
    }

    fn success(&mut self, own: usize, size: u64) {
        self.add(own, "frames_transmitted_ok", 1);
        self.add(own, "octets_transmitted_ok", size.saturating_sub(HEADER_AND_FCS));
        self.successes[own].0 += 1;
        self.successes[own].1 += size;
        let again = self.winner.replace(own as u16) == Some(own as u16);
        *self.counts.entry("same".to_owned()).or_default() += u64::from(again);
        if self.run > 0 && !again {
            self.place("medium/capture_runs".to_owned(), self.run - 1);
            self.run = 0;
        }
        self.run += 1;
        let before = std::mem::take(&mut self.episodes_since_success);
        self.place("medium/episodes_before_success".to_owned(), before);
    }

    /// Compares with the results: the figures that differ, the number that agree, and those that are not computed.
    pub fn compare(mut self, results: &Value) -> Compared {
        if self.run > 0 {
            self.place("medium/capture_runs".to_owned(), self.run - 1);
        }
        let multiplicities: Vec<u64> = self.episodes.values().copied().collect();
        for attempts in multiplicities {
            self.place("medium/collision_multiplicity".to_owned(), attempts - 1);
        }
        let mut metrics = self.metrics();
        let waiting = self.backlog.take().into_iter().flat_map(Backlog::figures);
        metrics.extend(waiting.map(|(name, value)| (format!("medium/{name}"), value)));
        self.turns.iter_mut().for_each(Turns::close);
        let mut compared = Compared::default();
        let mut leaves = Vec::new();
        for part in ["medium", "stations"] {
            collect(part, &results[part], &mut leaves);
        }
        for (path, told) in leaves {
            self.compare_one(&metrics, &path, told, &mut compared);
        }
        for (path, delays) in &self.delays {
            let told = results.pointer(&format!("/{path}/histogram")).and_then(Value::as_object);
            told.into_iter().for_each(|told| histogram(path, told, delays, &mut compared));
        }
        compared
    }

    fn compare_one(&self, metrics: &BTreeMap<String, f64>, path: &str, told: &Value, compared: &mut Compared) {
        let name = path.rsplit('/').find(|part| part.parse::<u64>().is_err()).unwrap_or(path);
        if let Some(of) = path.strip_prefix("medium/ci95/") {
            let least = self.spread.as_ref().and_then(|spread| spread.least(of));
            match least.zip(told.as_f64()) {
                Some((least, half)) if half >= least => compared.same += 1,
                Some((least, half)) => {
                    compared.differ.push(format!("{path} is {half}, and at least {least} by the trace"))
                }
                None if matches!(of, "method" | "samples") => {}
                None => compared.skip("ci95"),
            }
            return;
        }
        // What somebody has set, or the state at the end: no figures.
        if matches!(name, "name" | "attached" | "fault") || is_of_a_node(path) {
            return;
        }
        let number = told.as_f64();
        if let Some((is_right, own)) = self.turns.as_ref().and_then(|turns| turns.figure(path, number?)) {
            return compared.tell(path, is_right, told, own);
        }
        let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
        if parent.ends_with("/histogram") {
            // As one, below.
            return;
        }
        if let Some(delays) = self.delays.get(parent) {
            let Some(own) = delay(delays, last) else { return compared.skip(name) };
            let is_quantile = last.starts_with('p');
            let is_right = number.is_some_and(|told| match is_quantile {
                true => told >= own && told <= own * (1.0 + WIDEST_BUCKET) + 1.0,
                false => is_same(told, own),
            });
            return compared.tell(path, is_right, told, own);
        }
        if let Some(place) = last.parse::<usize>().ok().filter(|_| LISTS.contains(&name)) {
            let own = self.lists.get(parent).and_then(|list| list.get(place)).copied().unwrap_or(0) as f64;
            return compared.tell(path, number == Some(own), told, own);
        }
        let counter = || self.counts.get(path).map(|count| *count as f64);
        // A counter that nothing has counted is 0.
        let zero = || (path.starts_with("stations/") && COUNTERS.split(' ').any(|name| name == last)).then_some(0.0);
        match metrics.get(path).copied().or_else(counter).or_else(zero) {
            Some(own) => compared.tell(path, number.is_some_and(|told| is_same(told, own)), told, own),
            None if told.is_null() => {}
            None => compared.skip(name),
        }
    }

    fn metrics(&self) -> BTreeMap<String, f64> {
        let sum = |name: &str| {
            let of = |station: usize| self.counts.get(&format!("stations/{station}/{name}")).copied().unwrap_or(0);
            (0..self.successes.len()).map(of).sum::<u64>() as f64
        };
        let span = (self.end - self.start) as f64;
        let frames: u64 = self.successes.iter().map(|(frames, _)| frames).sum();
        let bits: u64 = self.successes.iter().map(|(_, octets)| octets * 8).sum();
        let finished = frames as f64 + sum("excessive_collisions") + sum("late_collision_discards");
        let collided: u64 = self.episodes.values().sum();
        let mut metrics = BTreeMap::from([
            ("attempts_per_frame", ratio(sum("attempts"), finished)),
            ("discard_fraction", ratio(sum("excessive_collisions"), finished)),
            ("collision_episodes", Some(self.episodes.len() as f64)),
            ("attempts_per_episode", ratio(collided as f64, self.episodes.len() as f64)),
            ("same_winner", ratio(self.counts.get("same").copied().unwrap_or(0) as f64, frames as f64)),
        ]);
        metrics.extend(UTILIZATIONS.map(|(name, _)| (name, utilization(name, bits, frames, span))));
        metrics.insert("fairness", self.fairness());
        if let Some(slot) = self.slot {
            let (attempts, own) = (sum("attempts"), |value: f64| Some(value).filter(|_| self.is_dcf));
            let delays = self.delays.get("medium/mac_delay").map_or(0, |delays| delays.iter().sum::<u64>()) as f64;
            metrics.insert("throughput", Some(frames as f64 * slot as f64 / span));
            metrics.insert("offered_traffic", Some((attempts + sum("gave_way")) * slot as f64 / span));
            metrics.insert("delay", ratio(delays / slot as f64, frames as f64));
            metrics.insert("goodput_mbps", own(sum("octets_transmitted_ok") * 8.0 / span * self.rate / 1e6));
            metrics.insert("collision_probability", ratio(sum("collisions"), attempts).and_then(own));
            metrics.insert("tau", ratio(attempts, attempts + sum("waited")).and_then(own));
        }
        let mut all: BTreeMap<String, f64> =
            metrics.into_iter().filter_map(|(name, value)| Some((format!("medium/{name}"), value?))).collect();
        for (station, (start, end)) in self.queued.iter().enumerate() {
            all.insert(format!("stations/{station}/queued_at_start"), *start as f64);
            all.insert(format!("stations/{station}/queued"), *end as f64);
        }
        all
    }

    /// Jain's index over the octets of the stations that had something to send.
    fn fairness(&self) -> Option<f64> {
        let offers = |station: &usize| {
            self.queued[*station].0 > 0 || self.counts.contains_key(&format!("stations/{station}/offered"))
        };
        let shares: Vec<f64> =
            (0..self.successes.len()).filter(offers).map(|station| self.successes[station].1 as f64).collect();
        let (sum, squares): (f64, f64) = (shares.iter().sum(), shares.iter().map(|share| share * share).sum());
        ratio(sum * sum, squares * shares.len() as f64)
    }
}

/// A setting of a node of PLCA, or its state.
fn is_of_a_node(path: &str) -> bool {
    path.split_once("/plca/").is_some_and(|(of, rest)| of.starts_with("stations/") && !rest.starts_with("counters/"))
}

/// Lists of counts.
const LISTS: [&str; 4] = ["collision_frames", "collision_multiplicity", "episodes_before_success", "capture_runs"];

/// The counters of a station.
const COUNTERS: &str = "\
    offered queue_drops frames_transmitted_ok single_collision_frames multiple_collision_frames \
    deferred_transmissions late_collisions excessive_collisions late_collision_discards \
    excessive_deferrals carrier_sense_errors internal_mac_transmit_errors too_short too_long detached \
    octets_transmitted_ok frames_received_ok octets_received_ok fcs_errors alignment_errors \
    frame_too_long_errors attempts collisions fragments_received delivered";

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Compared {
    /// Figures that are others.
    pub differ: Vec<String>,
    /// The number of figures that are the same.
    pub same: usize,
    /// Keys of figures that were not computed.
    pub skipped: Vec<String>,
}

impl Compared {
    fn tell(&mut self, path: &str, is_right: bool, told: &Value, own: f64) {
        if is_right {
            self.same += 1;
        } else {
            self.differ.push(format!("{path} is {told} in the results, and {own} by the trace"));
        }
    }

    fn skip(&mut self, name: &str) {
        if !self.skipped.iter().any(|own| own == name) {
            self.skipped.push(name.to_owned());
        }
    }
}

fn collect<'a>(path: &str, value: &'a Value, leaves: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| collect(&format!("{path}/{key}"), value, leaves)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| collect(&format!("{path}/{place}"), value, leaves));
        }
        _ => leaves.push((path.to_owned(), value)),
    }
}

/// Each bin has the delays up to its key, and above that of the bin before.
fn histogram(path: &str, told: &Map<String, Value>, delays: &[u64], compared: &mut Compared) {
    let mut bins: Vec<(u64, &Value)> =
        told.iter().filter_map(|(key, count)| Some((key.parse().ok()?, count))).collect();
    bins.sort_by_key(|(key, _)| *key);
    let mut above = None;
    for (key, count) in bins {
        let is_in = |delay: &&u64| **delay <= key && above.is_none_or(|above| **delay > above);
        let own = delays.iter().filter(is_in).count();
        compared.tell(&format!("{path}/histogram/{key}"), count.as_u64() == Some(own as u64), count, own as f64);
        above = Some(key);
    }
}

/// A figure of delays by its key; `None` for one that is not known.
fn delay(delays: &[u64], key: &str) -> Option<f64> {
    let mut sorted = delays.to_vec();
    sorted.sort_unstable();
    let part = match key {
        "mean_bt" => return Some(sorted.iter().map(|delay| *delay as f64).sum::<f64>() / sorted.len() as f64),
        "max_bt" => return sorted.last().map(|most| *most as f64),
        "p50_bt" => 0.5,
        "p90_bt" => 0.9,
        "p95_bt" => 0.95,
        "p99_bt" => 0.99,
        "p999_bt" => 0.999,
        _ => return None,
    };
    let rank = (part * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map(|value| *value as f64)
}
