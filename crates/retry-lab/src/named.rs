//! Policies by name, as the command line has them: `google-http`, `full-jitter:100ms,20s`, `polling/cap=5s/attempts=8`.

use backoff::{DEFAULT_SLOT, Jitter, Policy, RCP_ENTRIES};
use sim::words::contention::after_a_collision;
use sim::words::units::duration;
use std::time::Duration;

/// A policy and what the user called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// As it was written.
    pub name: String,
    /// The policy itself.
    pub policy: Policy,
    /// The status codes that its source retries; empty: any failure.
    pub answers: &'static [&'static str],
}

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {what}")]
pub struct NamedError {
    text: String,
    what: String,
}

impl NamedError {
    fn new(text: &str, what: impl Into<String>) -> NamedError {
        NamedError { text: text.to_owned(), what: what.into() }
    }
}

/// A policy of its source.
type Preset = (&'static str, Policy, &'static [&'static str], &'static str);

/// Failures of any kind.
const ANY: &[&str] = &[];
/// Transient and throttling errors of the AWS SDKs: Tools Reference Guide, retry behaviour.
const AWS: &[&str] = &["429", "500", "502", "503", "504"];

/// Names that need no numbers, the status codes that they retry, and where both come from.
pub const PRESETS: [Preset; 17] = [
    ("ieee-802.3", Policy::IEEE_802_3, ANY, "IEEE 802.3, 4.2.3.2.5"),
    ("sip-e", Policy::SIP_TIMER_E, ANY, "RFC 3261, 17.1.2.2: T1 = 500 ms, T2 = 4 s"),
    ("sip-a", Policy::SIP_TIMER_A, ANY, "RFC 3261, 17.1.1.2: T1 = 500 ms"),
    ("google-http", Policy::GOOGLE_HTTP, &["500", "503"], "google-http-java-client, ExponentialBackOff"),
    ("google-drive", Policy::GOOGLE_DRIVE, &["403"], "Drive SDK, guide to errors, 2013"),
    ("simpledb", Policy::AMAZON_SIMPLEDB, &["5xx"], "AWS article 1394"),
    ("polling", Policy::POLLING, ANY, "AWS guide to exponential backoff: 100 ms * 2^(n - 1)"),
    ("aws", Policy::AWS_STANDARD, AWS, "AWS SDKs, standard mode, November 2026"),
    ("aws-throttling", Policy::AWS_THROTTLING, AWS, "the same after a throttling error"),
    ("aws-dynamodb", Policy::AWS_DYNAMODB, AWS, "the same for DynamoDB"),
    ("aws-before", Policy::AWS_STANDARD_BEFORE, AWS, "AWS SDKs, standard mode before November 2026"),
    ("kubernetes-queue", Policy::KUBERNETES_QUEUE, ANY, "client-go, default controller rate limiter"),
    ("kubernetes-crash-loop", Policy::KUBERNETES_CRASH_LOOP, ANY, "Kubernetes, pod lifecycle: CrashLoopBackOff"),
    ("tcp-rto", Policy::TCP_RTO, ANY, "RFC 6298, 2.1 to 2.5, 5.5"),
    ("trickle", Policy::TRICKLE, ANY, "RFC 6206, 4.2; RFC 6550, 17"),
    ("ieee-802.15.4", Policy::IEEE_802_15_4, ANY, "IEEE 802.15.4, 6.2.5.1"),
    ("beb", Policy::IEEE_802_3, ANY, "as ieee-802.3; beb:1024 names its largest range"),
];

/// Names that take numbers, with an example each.
pub const FAMILIES: [&str; 13] = [
    "exponential:100ms",
    "full-jitter:100ms,20s",
    "equal-jitter:100ms,20s",
    "decorrelated-jitter:100ms,20s",
    "constant:1s",
    "linear:1s,500ms",
    "fibonacci:100ms",
    "systemd:100ms,5,10s",
    "beb:1024",
    "uniform:60",
    "geometric:60",
    "rcp:1,10,100,200",
    "rcp-multipliers:10,10,2",
];

/// What may follow a policy, with an example each.
pub const CHANGES: [&str; 8] = [
    "/base=1s",
    "/slot=51.2us",
    "/ceiling=5s",
    "/cap=5s",
    "/attempts=8",
    "/elapsed=30s",
    "/priority=25",
    "/jitter=full",
];

impl Named {
    /// Reads a policy.
    ///
    /// # Errors
    /// Another name, or numbers that the policy does not take.
    pub fn parse(text: &str) -> Result<Named, NamedError> {
        // No name has a `/`.
        let mut parts = text.split('/');
        let first = parts.next().unwrap_or_default();
        let preset = PRESETS.iter().find(|(name, ..)| *name == first);
        let mut policy = preset.map_or_else(|| base(text, first), |(_, policy, ..)| Ok(*policy))?;
        for change in parts {
            policy = changed(text, policy, change)?;
        }
        let answers = preset.map_or(ANY, |(_, _, answers, _)| answers);
        Ok(Named { name: text.to_owned(), policy, answers })
    }

    /// Whether its clients try again after an answer with this status code.
    pub fn retries(&self, code: u16) -> bool {
        let class = format!("{}xx", code / 100);
        self.answers.is_empty() || self.answers.iter().any(|answer| *answer == class || *answer == code.to_string())
    }
}

fn base(text: &str, first: &str) -> Result<Policy, NamedError> {
    let (name, rest) = first.split_once(':').unwrap_or((first, ""));
    let spans = || -> Result<Vec<Duration>, NamedError> {
        rest.split(',').map(|span| duration(span.trim()).map_err(|what| NamedError::new(text, what))).collect()
    };
    let counts = || -> Result<Vec<u32>, NamedError> {
        let number = |number: &str| match number.trim().parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(NamedError::new(text, "it takes whole numbers from 1 to 4294967295")),
        };
        rest.split(',').map(number).collect()
    };
    match name {
        "exponential" => one(text, &spans()?).map(Policy::exponential),
        "constant" => one(text, &spans()?).map(Policy::constant),
        "fibonacci" => one(text, &spans()?).map(Policy::fibonacci),
        "full-jitter" => two(text, &spans()?).map(|(base, ceiling)| Policy::full_jitter(base, ceiling)),
        "equal-jitter" => two(text, &spans()?).map(|(base, ceiling)| Policy::equal_jitter(base, ceiling)),
        "decorrelated-jitter" => two(text, &spans()?).map(|(base, cap)| Policy::decorrelated_jitter(base, cap)),
        "linear" => two(text, &spans()?).map(|(base, increment)| Policy::linear(base, increment)),
        "systemd" => systemd(text, rest),
        "uniform" => one(text, &counts()?).map(|k| Policy::aloha_uniform(DEFAULT_SLOT, k)),
        "geometric" => one(text, &counts()?).map(|k| Policy::aloha_geometric(DEFAULT_SLOT, k)),
        "beb" => beb(text, one(text, &counts()?)?),
        "rcp" => Policy::rcp_of(DEFAULT_SLOT, after_a_collision(&counts()?)).ok_or_else(|| too_many(text)),
        "rcp-multipliers" => Policy::rcp_multipliers_of(DEFAULT_SLOT, &counts()?).ok_or_else(|| too_many(text)),
        _ => {
            let presets = PRESETS.map(|(name, ..)| name).join(", ");
            let what = format!("there is no such policy; there are {presets}, and {}", FAMILIES.join(", "));
            Err(NamedError::new(text, what))
        }
    }
}

fn one<T: Copy>(text: &str, values: &[T]) -> Result<T, NamedError> {
    match values {
        [value] => Ok(*value),
        _ => Err(NamedError::new(text, "it takes one number")),
    }
}

fn two<T: Copy>(text: &str, values: &[T]) -> Result<(T, T), NamedError> {
    match values {
        [first, second] => Ok((*first, *second)),
        _ => Err(NamedError::new(text, "it takes two numbers, like `100ms,20s`")),
    }
}

/// RestartSec, RestartSteps, RestartMaxDelaySec.
fn systemd(text: &str, rest: &str) -> Result<Policy, NamedError> {
    let [first, steps, last] = rest.split(',').map(str::trim).collect::<Vec<_>>()[..] else {
        return Err(NamedError::new(text, "it takes a span, a number of steps and a span, like `100ms,5,10s`"));
    };
    let span = |span| duration(span).map_err(|what| NamedError::new(text, what));
    let steps = steps.parse().map_err(|_| NamedError::new(text, "its number of steps is a whole number"))?;
    Ok(Policy::systemd_restart(span(first)?, steps, span(last)?))
}

fn too_many(text: &str) -> NamedError {
    NamedError::new(text, format!("it takes at most {RCP_ENTRIES} numbers"))
}

fn beb(text: &str, range: u32) -> Result<Policy, NamedError> {
    if !range.is_power_of_two() || range < 2 {
        let next = u64::from(range).next_power_of_two().max(2);
        return Err(NamedError::new(text, format!("its largest range is a power of 2, like {next}")));
    }
    Ok(Policy::slot_exponential(DEFAULT_SLOT, 2, range.ilog2()).with_attempt_limit(16))
}

fn changed(text: &str, policy: Policy, change: &str) -> Result<Policy, NamedError> {
    let wrong = || NamedError::new(text, format!("`/{change}` changes nothing; there are {}", CHANGES.join(", ")));
    let (key, value) = change.split_once('=').ok_or_else(wrong)?;
    let span = || duration(value).map_err(|what| NamedError::new(text, format!("{key}: {what}")));
    let count = || match value.parse::<u32>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(NamedError::new(text, format!("{key}: it is a whole number from 1 to 4294967295"))),
    };
    Ok(match key {
        "base" => policy.with_base(span()?),
        "slot" => policy.with_slot(span()?),
        "ceiling" => policy.with_ceiling(span()?),
        "cap" => policy.with_cap(span()?),
        "attempts" => policy.with_attempt_limit(count()?.into()),
        "elapsed" => policy.with_elapsed_limit(span()?),
        "priority" => policy.with_priority_percent(count()?),
        "jitter" => policy.with_jitter(match value {
            "none" => Jitter::None,
            "full" => Jitter::Full,
            "equal" => Jitter::Equal,
            _ => return Err(NamedError::new(text, "jitter: it is `none`, `full` or `equal`")),
        }),
        _ => return Err(wrong()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_policy() {
        for text in FAMILIES.iter().chain(PRESETS.iter().map(|(name, ..)| name)) {
            assert!(Named::parse(text).is_ok(), "{text}");
            for change in CHANGES {
                assert!(Named::parse(&format!("{text}{change}")).is_ok(), "{text}{change}");
            }
        }
    }

    /// The codes of the note on exponential backoff of 2013.
    #[test]
    fn presets_know_which_answers_they_retry() {
        for (text, retried, not) in [
            ("google-http", &[500, 503][..], &[403, 429, 502][..]),
            ("google-drive", &[403], &[500, 503]),
            ("simpledb/attempts=3", &[500, 503, 599], &[403, 429]),
            ("full-jitter:1s,2s", &[400, 429, 503], &[]),
        ] {
            let named = Named::parse(text).expect("a policy");
            assert!(retried.iter().all(|&code| named.retries(code)), "{text}");
            assert!(!not.iter().any(|&code| named.retries(code)), "{text}");
        }
    }

    #[test]
    fn changes_apply_in_order() {
        let named = Named::parse("polling/cap=1s/attempts=3").expect("a policy");
        let expected = Policy::POLLING.with_cap(Duration::from_secs(1)).with_attempt_limit(3);
        assert_eq!(named.policy, expected);
    }

    #[test]
    fn what_is_no_policy_is_told_why() {
        for text in [
            "",
            "fast",
            "exponential",
            "exponential:1s,2s",
            "full-jitter:1s",
            "constant:soon",
            "uniform:0",
            "beb:1000",
            "rcp:",
            "rcp:0",
            "polling/",
            "polling/cap",
            "polling/speed=1s",
            "polling/attempts=0",
            "polling/jitter=some",
        ] {
            let error = Named::parse(text).expect_err(text);
            assert!(error.to_string().starts_with(&format!("`{text}`: ")), "{error}");
        }
    }
}
