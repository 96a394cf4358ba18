//! From keys and texts to a service: defaults, a file, options, and the values of a sweep, each over the one before.

use super::keys::{KEYS, Key, key};
use super::{BreakerLimits, BudgetLimits, Class, Crowd, Dip, Service, Trip, too_large};
use crate::Named;
use backoff::{BudgetLimits as BucketLimits, QuotaLimits, RateLimits, ThrottleLimits, WindowLimits};
use sim::scenario::file::ScenarioError;
use sim::scenario::flat;
use sim::settings::wrong::{FilePlace, Wrong, Wrongs};
use sim::words::units::{count, duration, duration_or_zero, per_second, share, whole};
use std::path::Path;
use std::time::Duration;

/// The key of a file that names its policies, which are arguments on the command line.
const POLICY: &str = "policy";
/// Requests after which a run is broken off.
const MOST_REQUESTS: u64 = 2_000_000_000;

/// A text for a key.
#[derive(Clone, Debug)]
struct Setting {
    key: &'static Key,
    text: String,
    place: Option<FilePlace>,
}

/// The settings of a service, and its policies.
#[derive(Clone, Debug)]
pub struct Settings {
    settings: Vec<Setting>,
    /// One column of the result each.
    pub policies: Vec<Named>,
}

fn wrong(place: Option<FilePlace>, name: &str, what: String) -> Wrong {
    let name = if place.is_some() { name.replace('-', "_") } else { format!("--{name}") };
    Wrong { place, name, what }
}

impl Settings {
    /// Reads a file, if there is one, and lays `options` over it; `policies` take the place of the file's.
    ///
    /// # Errors
    /// A file that cannot be read, unknown keys, texts that are no policies.
    pub fn read(
        file: Option<&Path>,
        options: &[(&'static str, String)],
        policies: &[String],
    ) -> Result<Settings, ScenarioError> {
        let mut settings = Settings { settings: Vec::new(), policies: Vec::new() };
        let mut wrongs = Vec::new();
        let mut of_file = Vec::new();
        if let Some(path) = file {
            let names: Vec<String> = KEYS.iter().map(|key| key.name.replace('-', "_")).collect();
            let known: Vec<&str> = names.iter().map(String::as_str).chain([POLICY]).collect();
            for flat::Setting { name, value, place } in flat::read(path, &known)? {
                match key(&name.replace('_', "-")) {
                    Some(key) => of_file.push(Setting { key, text: value, place: Some(place) }),
                    None => match Named::parse(&value) {
                        Ok(named) => settings.policies.push(named),
                        Err(what) => {
                            wrongs.push(Wrong { place: Some(place), name: POLICY.to_owned(), what: what.to_string() });
                        }
                    },
                }
            }
        }
        settings.lay(of_file);
        let option =
            |(name, text): &(&'static str, String)| Some(Setting { key: key(name)?, text: text.clone(), place: None });
        settings.lay(options.iter().filter_map(option).collect());
        if !policies.is_empty() {
            settings.policies.clear();
        }
        for text in policies {
            match Named::parse(text) {
                Ok(named) => settings.policies.push(named),
                Err(what) => wrongs.push(Wrong { place: None, name: "POLICY".to_owned(), what: what.to_string() }),
            }
        }
        if settings.policies.is_empty() && wrongs.is_empty() {
            let what = "no policy: write one like `full-jitter:100ms,20s`; docs/retry.md has all".to_owned();
            wrongs.push(Wrong { place: None, name: "POLICY".to_owned(), what });
        }
        if wrongs.is_empty() { Ok(settings) } else { Err(ScenarioError::Content(Wrongs::new(wrongs))) }
    }

    /// The same with one more text over what there is.
    pub fn with(&self, key: &'static Key, text: &str) -> Settings {
        let mut settings = self.clone();
        settings.lay(vec![Setting { key, text: text.to_owned(), place: None }]);
        settings
    }

    /// Lays settings over those that are there: of the same key, and of the other kind of loop.
    fn lay(&mut self, above: Vec<Setting>) {
        const LOOPS: [&str; 2] = ["load", "think"];
        let has = |name: &str| above.iter().any(|setting| setting.key.name == name);
        let is_loop = LOOPS.iter().any(|name| has(name));
        self.settings.retain(|old| !(has(old.key.name) || is_loop && LOOPS.contains(&old.key.name)));
        self.settings.extend(above);
    }

    /// The text of a key, the default included; `none` is none.
    fn text(&self, name: &str) -> Option<(&str, Option<&Setting>)> {
        let setting = self.settings.iter().rev().find(|setting| setting.key.name == name);
        let text = setting.map_or(key(name)?.default, |setting| &setting.text);
        (!text.is_empty() && text != "none").then_some((text, setting))
    }

    /// The service.
    ///
    /// # Errors
    /// All values that make no sense, by themselves or together.
    pub fn service(&self) -> Result<Service, Wrongs> {
        let mut reader = Reader { settings: self, wrongs: Vec::new() };
        let service = reader.service();
        if reader.wrongs.is_empty() {
            reader.check(&service);
        }
        if reader.wrongs.is_empty() { Ok(service) } else { Err(Wrongs::new(reader.wrongs)) }
    }
}

/// Reads values, and collects what is wrong.
struct Reader<'a> {
    settings: &'a Settings,
    wrongs: Vec<Wrong>,
}

impl Reader<'_> {
    fn value<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let (text, setting) = self.settings.text(name)?;
        let value = read(text);
        value.map_err(|what| self.wrongs.push(wrong(setting.and_then(|it| it.place.clone()), name, what))).ok()
    }

    fn list<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let all = self.settings.settings.iter().filter(|setting| setting.key.name == name && setting.text != "none");
        let mut values = Vec::new();
        for setting in all {
            match read(&setting.text) {
                Ok(value) => values.push(value),
                Err(what) => self.wrongs.push(wrong(setting.place.clone(), name, what)),
            }
        }
        values
    }

    fn service(&mut self) -> Service {
        let capacity = self.value("capacity", per_second).unwrap_or(1.0);
        let (load, think) = (self.value("load", per_second), self.value("think", span_or_zero));
        let loops = ["load", "think"].map(|name| self.settings.text(name).and_then(|(_, setting)| setting));
        if let [Some(_), Some(think)] = loops {
            let what = "`load` is there too: an open loop or a closed one, leave one of them out".to_owned();
            self.wrongs.push(wrong(think.place.clone(), "think", what));
        }
        let cooling_off = self.value("cooling-off", duration).unwrap_or_default();
        let rate = self.value("rate", per_second);
        let limits = |rate: f64| RateLimits::new(Duration::from_secs_f64(1.0 / rate)).with_cooling_off(cooling_off);
        Service {
            crowd: match think {
                Some(think) => Crowd::Closed { think },
                None => Crowd::Open { load: load.unwrap_or(0.8 * capacity) },
            },
            clients: self.value("clients", |text| whole(text, 1, 10_000_000, "100")).unwrap_or(1) as u32,
            timeout: self.value("timeout", span),
            lost: self.value("lost", share).unwrap_or(0.0),
            keys: self.value("keys", share),
            retry_after: self.value("retry-after", span).unwrap_or(0),
            refusal: self.value("refusal", |text| whole(text, 400, 599, "503")).map(|code| code as u16),
            quota: self.value("quota", per_second).map(|rate| (1e9 / rate) as u64),
            rate: rate.map(limits),
            budget: self.value("budget", budget),
            breaker: self.value("breaker", breaker),
            classes: self.list("class", Class::parse),
            capacity,
            queue: self
                .value("queue", |text| whole(text, 0, u32::MAX.into(), "1000"))
                .map_or((10.0 * capacity).ceil() as u32, |queue| queue as u32),
            exponential: self.value("work", law).unwrap_or(false),
            dips: self.list("dip", dip),
            duration: self.value("duration", span).unwrap_or(1),
            warm_up: self.value("warm-up", span_or_zero).unwrap_or(0),
            seed: self.value("seed", |text| whole(text, 0, u64::MAX, "7")).unwrap_or(1),
            most_requests: MOST_REQUESTS,
        }
    }

    /// What does not fit together.
    fn check(&mut self, service: &Service) {
        let mut no = |name: &str, what: String| {
            let setting = self.settings.settings.iter().find(|setting| setting.key.name == name);
            self.wrongs.push(wrong(setting.and_then(|it| it.place.clone()), name, what));
        };
        if service.lost > 0.0 && service.timeout.is_none() {
            no("lost", "a client whose answer is lost would wait for ever: give a time-out too".to_owned());
        }
        if service.warm_up >= service.duration {
            no("warm-up", "it ends after the run does: write a shorter time, or a longer duration".to_owned());
        }
        if let Some(what) = too_large(&service.classes) {
            no("class", what);
        }
        if service.classes.len() > 100 {
            no("class", "there are more than 100 classes".to_owned());
        }
        let mut dips = service.dips.clone();
        dips.sort_by_key(|dip| dip.start);
        if dips.windows(2).any(|pair| pair[0].end() > pair[1].start) {
            no("dip", "two dips overlap: write one after the other".to_owned());
        }
        if let Some(dip) = dips.iter().find(|dip| dip.end() >= service.duration || dip.start < service.warm_up) {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let what = format!(
                "a dip from {} s to {} s: it is between the warm-up's end, {} s, and the run's, {} s",
                seconds(dip.start),
                seconds(dip.end()),
                seconds(service.warm_up),
                seconds(service.duration)
            );
            no("dip", what);
        }
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn span(text: &str) -> Result<u64, String> {
    duration(text).map(nanos)
}

fn span_or_zero(text: &str) -> Result<u64, String> {
    duration_or_zero(text).map(nanos)
}

fn law(text: &str) -> Result<bool, String> {
    match text {
        "constant" => Ok(false),
        "exponential" => Ok(true),
        _ => Err(format!("`{text}`: it is `constant` or `exponential`")),
    }
}

fn dip(text: &str) -> Result<Dip, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [start, length, left] = parts[..] else {
        return Err(format!("`{text}`: it has a start, a length and the part that is left, like `60s,20s,10%`"));
    };
    Ok(Dip { start: span_or_zero(start)?, length: span(length)?, left: share(left)? })
}

fn percent(text: &str) -> Result<u32, String> {
    share(text).map(|part| (100.0 * part).round() as u32)
}

fn small(text: &str) -> Result<u32, String> {
    whole(text, 0, 1_000_000, "10").map(|number| number as u32)
}

fn at_least_one(text: &str) -> Result<u32, String> {
    count(text)?;
    whole(text, 1, 1_000_000, "10").map(|number| number as u32)
}

/// A budget: its name alone, with the numbers of its source, or all of its numbers.
fn budget(text: &str) -> Result<BudgetLimits, String> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let numbers: Vec<&str> = if numbers.is_empty() { Vec::new() } else { numbers.split(',').map(str::trim).collect() };
    match (name, &numbers[..]) {
        ("bucket", []) => Ok(BudgetLimits::Bucket(BucketLimits::new(0))),
        ("bucket", [size, part]) => {
            let limits = BucketLimits::new(at_least_one(size)?);
            Ok(BudgetLimits::Bucket(limits.with_deposit_percent(percent(part)?.max(1))))
        }
        ("finagle", []) => Ok(BudgetLimits::Window(WindowLimits::FINAGLE)),
        ("finagle", [part, least, window]) => Ok(BudgetLimits::Window(WindowLimits {
            window_ns: span(window)?,
            percent: percent(part)?,
            least_per_second: small(least.strip_suffix("/s").unwrap_or(least))?,
        })),
        ("envoy", []) => Ok(BudgetLimits::Share { percent: 20, least: 3 }),
        ("envoy", [part, least]) => Ok(BudgetLimits::Share { percent: percent(part)?, least: small(least)? }),
        ("aws", []) => Ok(BudgetLimits::Quota(QuotaLimits::AWS)),
        ("aws", [capacity, cost, throttled, reward]) => Ok(BudgetLimits::Quota(QuotaLimits {
            capacity: small(capacity)?,
            cost: small(cost)?,
            throttling_cost: small(throttled)?,
            reward: small(reward)?,
        })),
        ("grpc", []) => Ok(BudgetLimits::Throttle(ThrottleLimits::GRPC)),
        ("grpc", [tokens, gain]) => Ok(BudgetLimits::Throttle(ThrottleLimits {
            max_tokens: at_least_one(tokens)?,
            ratio_thousandths: (1000.0 * share(gain)?).round() as u32,
        })),
        _ => Err(format!(
            "`{text}`: write `bucket:10,10%`, `finagle:20%,10/s,10s`, `envoy:20%,3`, `aws:500,14,5,1` or `grpc:10,0.1`; \
             each name alone has the numbers of its source"
        )),
    }
}

fn breaker(text: &str) -> Result<BreakerLimits, String> {
    let wrong = || format!("`{text}`: write `5,30s` (failures in a row, open) or `50%/10s,30s` (part, window, open)");
    let (trip, open) = text.split_once(',').ok_or_else(wrong)?;
    let trip = match trip.split_once('/') {
        Some((part, window)) => Trip::Share { part: share(part)?, window: span(window)? },
        None => Trip::InARow(at_least_one(trip).map_err(|_| wrong())?),
    };
    Ok(BreakerLimits { trip, open: span(open.trim())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: &[(&'static str, &str)]) -> Settings {
        let options: Vec<_> = options.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        Settings::read(None, &options, &["sip-e".to_owned()]).expect("a policy")
    }

    /// Every default is a value of its key.
    #[test]
    fn defaults_make_a_service() {
        let service = settings(&[]).service().expect("defaults");
        assert_eq!(service.crowd, Crowd::Open { load: 800.0 });
        assert_eq!((service.queue, service.timeout, service.refusal), (10_000, Some(1_000_000_000), Some(503)));
    }

    #[test]
    fn a_name_alone_has_the_numbers_of_its_source() {
        for (name, whole) in [
            ("bucket", "bucket:10,10%"),
            ("finagle", "finagle:20%,10/s,10s"),
            ("envoy", "envoy:20%,3"),
            ("aws", "aws:500,14,5,1"),
            ("grpc", "grpc:10,0.1"),
        ] {
            assert_eq!(budget(name), budget(whole), "{name}");
        }
    }

    #[test]
    fn the_last_loop_counts_and_two_at_once_are_refused() {
        let both = settings(&[("load", "10/s"), ("think", "1s")]).service().expect_err("two loops").to_string();
        assert!(both.starts_with("--think: "), "{both}");
        let closed = settings(&[("load", "10/s")]).with(key("think").expect("a key"), "2s");
        assert_eq!(closed.service().expect("one loop").crowd, Crowd::Closed { think: 2_000_000_000 });
    }

    #[test]
    fn what_makes_no_service_is_named() {
        for (name, text) in [
            ("load", "0/s"),
            ("clients", "0"),
            ("timeout", "soon"),
            ("lost", "120%"),
            ("refusal", "200"),
            ("budget", "bucket:0,10%"),
            ("budget", "envoy:20%"),
            ("budget", "mine"),
            ("breaker", "5"),
            ("breaker", "0,1s"),
            ("class", "a:0:1"),
            ("class", "a:1:1:fast"),
            ("dip", "60s,20s"),
            ("dip", "290s,20s,0"),
            ("dip", "10s,20s,0"),
            ("work", "hard"),
            ("warm-up", "5m"),
        ] {
            let error = settings(&[(name, text)]).service().expect_err(text).to_string();
            assert!(error.starts_with(&format!("--{name}: ")), "{error}");
        }
        let lost = settings(&[("lost", "1%"), ("timeout", "none")]).service().expect_err("no end").to_string();
        assert!(lost.starts_with("--lost: "), "{lost}");
    }
}
