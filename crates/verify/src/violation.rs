//! The rules, with their clauses, and what a trace does against them.

use medium::StationId;
use sim::files::event_log::Names;

/// A rule of a standard or of the trace itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Where it is written.
    pub clause: &'static str,
}

/// A row that a rule does not allow, or that a rule asks for and that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When, in bit times since the medium began.
    pub at: u64,
    /// The rule.
    pub rule: &'static Rule,
    /// The station.
    pub station: StationId,
    /// What was found, and what would be right. Frames have the number of their station, as in `s0#1`.
    pub text: String,
}

impl Violation {
    /// Its line: instant, station, rule, clause and text, with the names of stations.
    pub fn told(&self, names: &Names) -> String {
        let (text, station) = (self.text_with(names), names.name(self.station));
        format!("{:>10} {station} {} ({}): {text}", self.at, self.rule.name, self.rule.clause)
    }

    /// Its text, with the names of stations.
    pub fn text_with(&self, names: &Names) -> String {
        let frame = |word: &str| {
            let (station, serial) = word.strip_prefix('s')?.split_once('#')?;
            Some(format!("{}#{serial}", names.name(StationId::new(station.parse().ok()?))))
        };
        self.text.split(' ').map(|word| frame(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
    }
}

macro_rules! rules {
    ($($name:ident = $word:literal, $clause:literal;)*) => {
        $(pub(crate) static $name: Rule = Rule { name: $word, clause: $clause };)*

        /// Every rule.
        pub static RULES: &[&Rule] = &[$(&$name,)*];
    };
}

rules! {
    CONSERVATION = "conservation", "docs/trace.md, Events";
    ORDER = "order of the queue", "802.3, 4.3.2";
    ADMISSION = "admission", "802.3, 4.2.8";
    ONE_FRAME = "one frame at a time", "802.3, 4.2.8";
    DURATION = "duration of a frame", "802.3, 4.2.3";
    DELAYS = "delays of a frame", "docs/trace.md, Events";
    DEFER = "defer", "802.3, 4.2.3.2.1";
    GAP = "interpacket gap", "802.3, 4.2.3.2.2";
    BURST = "burst", "802.3, 4.2.3.2.7";
    DETECTION = "collision detection", "802.3, 4.2.3.2.3";
    LATE = "late collision", "802.3, 4.2.3.2.3";
    JAM = "jam", "802.3, 4.2.3.2.4";
    ATTEMPTS = "attempts", "802.3, 4.2.3.2.5";
    SLOTS_DRAWN = "slots drawn", "802.3, 4.2.3.2.5";
    BACKOFF = "end of backoff", "802.3, 4.2.3.2.5";
    FULL_DUPLEX = "full duplex", "802.3, 4.1.2.2";
    RECEPTION = "reception", "802.3, 4.2.4";
    SLOT = "slots of the medium", "docs/access.md";
    OWNER = "owner of the slot", "docs/access.md";
    SENSE = "carrier sense", "docs/access.md";
    DIFS = "DIFS", "802.11, 10.3.2.3";
    SIFS = "SIFS", "802.11, 10.3.2.3";
    EIFS = "EIFS", "802.11, 10.3.2.3.7";
    NAV = "NAV", "802.11, 10.3.2.4";
    ANSWER = "answer", "802.11, 10.3.2.9";
    COUNT = "count of slots", "802.11, 10.3.4.3";
    RETRIES = "retry limits", "802.11, 10.3.4.4";
    WINDOW = "contention window", "802.11, 10.3.3";
    TURN = "turn", "802.3, 148.4.4";
    FORWARDING = "forwarding", "802.1Q, 8.6";
    BEACON = "BEACON", "802.3, 148.4.4";
}
