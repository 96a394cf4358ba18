//! A fault of a station, and its one text, like `deaf` or `ber:1e-6`.

use crate::noise::{BitErrors, Mishap};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A fault of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
pub enum Fault {
    /// It has no carrier sense: it never defers to transmissions that begin during the fault, its own too, and no gap
    /// follows them. It hears a transmission whole or not at all: one that began before the fault it hears to its end,
    /// and waits for the gap after it; after the fault, the next one that begins is the next that it hears. Each frame
    /// whose transmission it begins during the fault and finishes without collision counts a carrier sense error. It
    /// still detects collisions.
    Deaf,
    /// Each frame whose transmission it begins during the fault arrives everywhere with a bad FCS.
    BadFcs,
    /// Its MAC takes frames of any length from the host. Its MAU cuts a transmission off at jabber_limit, and the MAC
    /// does not notice: a longer frame is transmitted as if it had the number of whole octets that fit. An addressee
    /// counts such a frame as too long, and does not hand it up.
    Babble,
    /// It hears nothing that begins at its place during the fault, and sends as ever: it has no carrier sense, as with
    /// [`Fault::Deaf`], and receives no frame. With PLCA its node hears no BEACON, no COMMIT and no collision; without
    /// PLCA its transmitter still detects collisions.
    OneWay,
    /// Its host's side of the link is in full duplex and the medium is not: a duplex mismatch. Under CSMA/CD it sends
    /// whenever a frame and its own gap allow, also over signals of others, detects no collision, and receives while it
    /// sends. So the others meet late collisions, and it receives what they cut short. Under other methods it has no
    /// carrier sense, as with [`Fault::Deaf`].
    FullDuplex,
    /// Bits are wrong at its place. A frame with a wrong bit has a bad FCS there, and a BEACON with one is not recognised.
    BitErrors(BitErrors),
    /// Signals of PLCA have a mishap at its place; without PLCA this has no effect.
    Signals {
        /// Which signals, and what happens to them.
        mishap: Mishap,
        /// To how many in a million.
        millionths: u32,
    },
}

impl Fault {
    /// Its station has no carrier sense.
    pub const fn is_deaf(self) -> bool {
        matches!(self, Fault::Deaf | Fault::OneWay | Fault::FullDuplex)
    }

    /// It changes what its station receives, and nothing that the station sends.
    pub const fn is_of_receiver(self) -> bool {
        match self {
            Fault::OneWay | Fault::BitErrors(_) | Fault::Signals { .. } => true,
            Fault::Deaf | Fault::BadFcs | Fault::Babble | Fault::FullDuplex => false,
        }
    }
}

/// What a fault takes after its name.
#[derive(Clone, Copy)]
enum Takes {
    Nothing(Fault),
    /// A rate; `on_line`: it comes from the line.
    Rate {
        on_line: bool,
    },
    /// A rate, and the bits that an error lasts.
    Burst {
        on_line: bool,
    },
    Share(Mishap),
}

/// Every fault: its name, what it takes, an example, and a few words.
const ALL: [(&str, Takes, &str, &str); 13] = [
    ("deaf", Takes::Nothing(Fault::Deaf), "", "no carrier sense"),
    ("one_way", Takes::Nothing(Fault::OneWay), "", "it hears nothing"),
    ("bad_fcs", Takes::Nothing(Fault::BadFcs), "", ""),
    ("babble", Takes::Nothing(Fault::Babble), "", "no limit to its frames"),
    ("full_duplex", Takes::Nothing(Fault::FullDuplex), "", "a duplex mismatch"),
    ("ber", Takes::Rate { on_line: false }, ":1e-6", "wrong bits"),
    ("burst", Takes::Burst { on_line: false }, ":1e-6:400", "wrong bits in bursts of 400"),
    ("line_ber", Takes::Rate { on_line: true }, ":1e-6", "the same wrong bits as others with it"),
    ("line_burst", Takes::Burst { on_line: true }, ":1e-6:400", ""),
    ("lost_beacon", Takes::Share(Mishap::LostBeacon), ":10%", ""),
    ("bad_beacon", Takes::Share(Mishap::BadBeacon), ":10%", ""),
    ("lost_commit", Takes::Share(Mishap::LostCommit), ":10%", ""),
    ("bad_commit", Takes::Share(Mishap::BadCommit), ":10%", ""),
];

impl Fault {
    /// A fault as it is written; nothing for `none`.
    ///
    /// # Errors
    /// Another text, and what would be right.
    pub fn read(text: &str) -> Result<Option<Fault>, String> {
        if text == "none" { Ok(None) } else { text.parse().map(Some) }
    }

    /// Every fault's name with an example of what it takes, for completions.
    pub fn examples() -> impl Iterator<Item = String> {
        ALL.iter().map(|(name, _, example, _)| format!("{name}{example}"))
    }

    /// Its name without what it takes.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The same fault where it is one of all stations: errors come from the line.
    ///
    /// # Errors
    /// It is a fault of one station.
    pub fn of_all(self) -> Result<Fault, String> {
        match self {
            Fault::BitErrors(errors) => Ok(Fault::BitErrors(BitErrors { on_line: true, ..errors })),
            Fault::Signals { .. } => Ok(self),
            Fault::Deaf | Fault::OneWay | Fault::BadFcs | Fault::Babble | Fault::FullDuplex => {
                Err(format!("`{self}` is a fault of one station"))
            }
        }
    }

    fn row(self) -> (&'static str, String) {
        let fault = self;
        let is_it = |takes: &Takes| match (takes, fault) {
            (Takes::Nothing(known), _) => *known == fault,
            (Takes::Rate { on_line }, Fault::BitErrors(errors)) => errors.burst < 2 && errors.on_line == *on_line,
            (Takes::Burst { on_line }, Fault::BitErrors(errors)) => errors.burst > 1 && errors.on_line == *on_line,
            (Takes::Share(known), Fault::Signals { mishap, .. }) => *known == mishap,
            (Takes::Rate { .. } | Takes::Burst { .. } | Takes::Share(_), _) => false,
        };
        let (name, ..) = ALL.iter().find(|(_, takes, ..)| is_it(takes)).expect("every fault has a row");
        let rate = |errors: BitErrors| format!("{:e}", errors.rate as f64 / 1e12);
        let more = match fault {
            Fault::BitErrors(errors) if errors.burst > 1 => format!(":{}:{}", rate(errors), errors.burst),
            Fault::BitErrors(errors) => format!(":{}", rate(errors)),
            Fault::Signals { millionths, .. } => format!(":{}%", f64::from(millionths) / 1e4),
            Fault::Deaf | Fault::OneWay | Fault::BadFcs | Fault::Babble | Fault::FullDuplex => String::new(),
        };
        (name, more)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, more) = self.row();
        write!(f, "{name}{more}")
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        fault.to_string()
    }
}

impl TryFrom<String> for Fault {
    type Error = String;
    fn try_from(text: String) -> Result<Fault, String> {
        text.parse()
    }
}

impl FromStr for Fault {
    type Err = String;
    fn from_str(text: &str) -> Result<Fault, String> {
        let (name, given) = text.split_once(':').map_or((text, None), |(name, given)| (name, Some(given)));
        let Some((_, takes, example, _)) = ALL.iter().find(|(known, ..)| *known == name) else {
            return Err(format!("`{text}` is no fault: write {} or `none`", known()));
        };
        let wrong = |what: &str| Err(format!("`{text}` {what}: write one like `{name}{example}`"));
        let rate = |given: &str| {
            let rate = (given.parse::<f64>().ok()? * 1e12).round();
            (1.0..=BitErrors::MOST as f64).contains(&rate).then_some(rate as u64)
        };
        const RATE: &str = "has no rate of wrong bits, 1e-12 to 0.1";
        match (*takes, given) {
            (Takes::Nothing(fault), None) => Ok(fault),
            (Takes::Nothing(_), Some(_)) => wrong("takes nothing after its name"),
            (Takes::Rate { on_line }, given) => match given.and_then(rate) {
                Some(rate) => Ok(Fault::BitErrors(BitErrors { rate, burst: 1, on_line })),
                None => wrong(RATE),
            },
            (Takes::Burst { on_line }, given) => {
                let (errors, bits) =
                    given.map(|given| given.split_once(':').unwrap_or((given, ""))).unwrap_or_default();
                let Some(rate) = rate(errors) else { return wrong(RATE) };
                match bits.parse().ok().filter(|bits| *bits > 1) {
                    Some(burst) => Ok(Fault::BitErrors(BitErrors { rate, burst, on_line })),
                    None => wrong("has no length of a burst, 2 to 65535 bits"),
                }
            }
            (Takes::Share(mishap), given) => {
                let percent = given.and_then(|given| given.strip_suffix('%')).and_then(|part| part.parse::<f64>().ok());
                let millionths =
                    percent.map(|percent| (percent * 1e4).round()).filter(|part| (1.0..=1e6).contains(part));
                match millionths {
                    Some(millionths) => Ok(Fault::Signals { mishap, millionths: millionths as u32 }),
                    None => wrong("has no share of signals, 0.0001% to 100%"),
                }
            }
        }
    }
}

/// All that can be written, with a few words.
fn known() -> String {
    let one = |&(name, _, example, about): &(&str, Takes, &str, &str)| match about {
        "" => format!("`{name}{example}`"),
        about => format!("`{name}{example}` ({about})"),
    };
    ALL.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_one_name_everywhere() {
        for example in Fault::examples() {
            let known = Fault::read(&example).expect("an example").expect("a fault");
            assert_eq!(known.to_string(), example);
        }
        assert_eq!(Fault::read("none"), Ok(None));
        assert!(Fault::read("mute").expect_err("no fault").contains("`deaf`"));
    }

    #[test]
    fn what_a_fault_takes_is_checked() {
        for (text, what) in [
            ("deaf:1", "takes nothing"),
            ("ber", "no rate"),
            ("ber:0", "no rate"),
            ("ber:0.2", "no rate"),
            ("ber:nan", "no rate"),
            ("burst:1e-6", "no length"),
            ("burst:1e-6:1", "no length"),
            ("burst:1e-6:70000", "no length"),
            ("lost_beacon:10", "no share"),
            ("bad_commit:101%", "no share"),
        ] {
            let error = Fault::read(text).expect_err(text);
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    /// A medium's errors are the same at all stations; a deaf medium is none.
    #[test]
    fn a_fault_of_all_stations_comes_from_the_line() {
        let of_all = |text: &str| text.parse::<Fault>().and_then(Fault::of_all).map(|fault| fault.to_string());
        assert_eq!(of_all("ber:1e-6"), Ok("line_ber:1e-6".to_owned()));
        assert_eq!(of_all("lost_beacon:2.5%"), Ok("lost_beacon:2.5%".to_owned()));
        assert!(of_all("deaf").is_err());
    }
}
