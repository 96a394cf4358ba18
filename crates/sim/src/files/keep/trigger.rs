//! The facts that have the last seconds written, by their names in traces.

use super::Fact;
use crate::files::event_log::EMULATOR_KINDS;
use medium::{Cause, Deed, Kind};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A collision later than slotTime after the first bit has the name of the cause for which its frame may be discarded.
const LATE: &str = Cause::LateCollision.name();

/// Some names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Triggers(Vec<String>);

impl Triggers {
    /// The name that a fact has among these, if any.
    pub fn fired_by(&self, fact: &Fact) -> Option<&str> {
        let name = |name: &str| self.0.iter().find(|known| *known == name).map(String::as_str);
        match fact {
            // A frame has the event `offered`; its input has no line in a trace.
            Fact::Input(_, input) => input.deed().and_then(|deed| name(deed.word())),
            Fact::Emulator(event) => name(event.kind.name()),
            Fact::Event(event) => match event.kind {
                Kind::Collision { late: true, .. } => name(LATE).or_else(|| name(event.kind.name())),
                Kind::Discarded { cause, .. } => name(cause.name()).or_else(|| name(event.kind.name())),
                kind => name(kind.name()),
            },
        }
    }

    /// All names, in the order of docs/trace.md.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let events = Kind::ALL.iter().map(|(name, _)| *name);
        let causes =
            Cause::ALL.into_iter().map(Cause::name).filter(|name| Kind::ALL.iter().all(|(kind, _)| kind != name));
        events.chain(causes).chain(<Deed>::WORDS).chain(EMULATOR_KINDS.iter().copied())
    }
}

/// Names with commas between.
impl FromStr for Triggers {
    type Err = String;

    fn from_str(text: &str) -> Result<Triggers, String> {
        let known = |name: &str| match Triggers::names().any(|known| known == name) {
            true => Ok(name.to_owned()),
            false => {
                let all: Vec<&str> = Triggers::names().collect();
                Err(format!("`{name}` is no kind of event: write one of {}", all.join(", ")))
            }
        };
        text.split(',').map(known).collect::<Result<_, _>>().map(Triggers)
    }
}
