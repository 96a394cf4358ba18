//! The settings of a service: each key once. The options of `ethbus retry service` and `retry tip`, the keys of their files,
//! defaults and docs/retry.md come from here.
//!
//! `build.rs` includes this file, so it knows std alone.

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in a file, and with two hyphens on the command line.
    pub name: &'static str,
    /// What the help calls its value.
    pub value: &'static str,
    /// Its value unless another is given; empty: none.
    pub default: &'static str,
    /// It may be given again; a file has a list.
    pub is_list: bool,
    /// `-h` shows it.
    pub in_short: bool,
    /// What it is, in one line.
    pub help: &'static str,
    /// What `--help` adds.
    pub more: &'static str,
}

const KEY: Key = Key { name: "", value: "", default: "", is_list: false, in_short: false, help: "", more: "" };

// Those of a herd, too.
const RETRY_AFTER: Key =
    Key { name: "retry-after", value: "TIME", default: "none", help: "What each refusal asks clients to wait", ..KEY };
const RATE: Key = Key {
    name: "rate",
    value: "RATE",
    default: "none",
    help: "How often a client asks at most; each failure halves it",
    ..KEY
};
const COOLING_OFF: Key = Key {
    name: "cooling-off",
    value: "TIME",
    default: "1s",
    help: "How long without a failure until the rate doubles again",
    more: "Each time that it was too early, twice as long.",
    ..KEY
};
const CLASS: Key = Key {
    name: "class",
    value: "NAME:PERCENT:PRIORITY[:POLICY]",
    is_list: true,
    help: "Some of the clients, like `emergency:5:25`",
    more: "Their delays are PRIORITY percent of the others'. Clients with a POLICY of their own cheat: they ignore \
           Retry-After, budget, rate and breaker.",
    ..KEY
};
const CAPACITY: Key = Key {
    name: "capacity",
    value: "RATE",
    default: "1000/s",
    in_short: true,
    help: "Requests that the service serves",
    more: "One after the other.",
    ..KEY
};

/// All settings, in the order of the help.
pub const KEYS: &[Key] = &[
    Key {
        name: "load",
        value: "RATE",
        in_short: true,
        help: "Operations a second, at random times: `800/s`",
        more: "An open loop: they begin whatever the service does. Without `load` and `think`: 80 % of the capacity.",
        ..KEY
    },
    Key {
        name: "think",
        value: "TIME",
        in_short: true,
        help: "Or a closed loop: how long a client thinks",
        more: "A client begins its next operation this long, on average, after the end of the last one.",
        ..KEY
    },
    Key { name: "clients", value: "N", default: "100", help: "How many clients", ..KEY },
    Key {
        name: "timeout",
        value: "TIME",
        default: "1s",
        in_short: true,
        help: "How long a client waits",
        more: "With `none` for as long as it takes. The service works on the request all the same.",
        ..KEY
    },
    Key { name: "lost", value: "SHARE", default: "0%", help: "Answers that get lost after the work", ..KEY },
    Key {
        name: "keys",
        value: "COST",
        default: "none",
        help: "Idempotency keys, and what a known one costs, like `1%`",
        more: "The service answers a request again, for this part of its work, whose operation it has accepted. With \
               `none` it does the work twice.",
        ..KEY
    },
    RETRY_AFTER,
    Key {
        name: "refusal",
        value: "CODE",
        default: "503",
        help: "The status code of a refusal; policies know which they retry",
        more: "With `none` every policy retries.",
        ..KEY
    },
    Key {
        name: "quota",
        value: "RATE",
        default: "none",
        help: "Requests a client may make; the service refuses more, with 429",
        more: "Those of a second may come at once.",
        ..KEY
    },
    RATE,
    COOLING_OFF,
    Key {
        name: "budget",
        value: "LIMITS",
        default: "none",
        in_short: true,
        help: "What bounds a client's retries: `bucket:10,10%`",
        more: "bucket:SIZE,SHARE (a share of a retry for each operation), finagle:SHARE,RATE,WINDOW, envoy:SHARE,LEAST, \
               aws:TOKENS,COST,THROTTLED,REWARD or grpc:TOKENS,GAIN. Without numbers those of its source.",
        ..KEY
    },
    Key {
        name: "breaker",
        value: "TRIP",
        default: "none",
        in_short: true,
        help: "A circuit breaker: `5,30s` or `50%/10s,30s`",
        more: "Five failures in a row, or half of the answers in 10 s, open it for 30 s; then one request is a probe.",
        ..KEY
    },
    CLASS,
    CAPACITY,
    Key {
        name: "queue",
        value: "N",
        help: "Requests that may wait [default: those of 10 seconds]",
        more: "One more is refused.",
        ..KEY
    },
    Key {
        name: "work",
        value: "LAW",
        default: "constant",
        help: "How long a request takes: `constant` or `exponential`",
        ..KEY
    },
    Key {
        name: "dip",
        value: "DIP",
        is_list: true,
        in_short: true,
        help: "Start, length, what is left: `60s,20s,10%`",
        more: "From 60 s on, for 20 s, 10 % of the capacity is left. With 0 the service is out and refuses every request.",
        ..KEY
    },
    Key { name: "duration", value: "TIME", default: "5m", in_short: true, help: "How long the run lasts", ..KEY },
    Key { name: "warm-up", value: "TIME", default: "20s", help: "When the measurement begins", ..KEY },
    Key { name: "seed", value: "SEED", default: "1", in_short: true, help: "Seed of every random draw", ..KEY },
];

/// What `ethbus retry herd` has of it, and its own, in the order of the help.
pub const HERD: &[Key] = &[
    Key { name: "clients", value: "N", default: "10000", in_short: true, help: "How many clients", ..KEY },
    Key { name: "outage", value: "TIME", default: "30s", in_short: true, help: "How long the service is out", ..KEY },
    Key { in_short: true, ..CAPACITY },
    Key {
        name: "queue",
        value: "N",
        in_short: true,
        help: "Requests that may wait [default: those of a second]",
        more: "One more is refused.",
        ..KEY
    },
    Key {
        name: "spread",
        value: "TIME",
        default: "0s",
        in_short: true,
        help: "Clients ask first within this span",
        more: "Each at a random time; with 0s all at once.",
        ..KEY
    },
    Key { in_short: true, ..RETRY_AFTER },
    Key { name: "budget", value: "N", in_short: true, help: "How many retries each client may make", ..KEY },
    Key { in_short: true, ..RATE },
    COOLING_OFF,
    CLASS,
    Key { name: "duration", value: "TIME", help: "How long the run lasts [default: the outage and 10 minutes]", ..KEY },
];

/// The key of that name.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
