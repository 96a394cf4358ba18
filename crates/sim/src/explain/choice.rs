//! Which frames of a trace are worth a look: how each ended, after how many collisions, in one pass.

use crate::files::event_log::EventLogReader;
use crate::files::json_lines::ReadError;
use medium::{Event, FrameId, Kind};
use serde::Serialize;
use std::io::BufRead;

/// How a frame ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// As `explain` takes it.
    pub frame: String,
    /// Its station.
    pub station: String,
    /// `transmitted`, or `discarded`.
    pub end: &'static str,
    /// How many collisions it had.
    pub collisions: u32,
    /// When it ended, in bit times.
    pub at_bt: u64,
    /// From its arrival in the queue to its end, in bit times; nothing for a discarded one.
    pub mac_delay_bt: Option<u64>,
}

/// What to look for, as it is written: `collisions=3`, `station=st2`, `end=discarded`, with `,` between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    collisions: Option<u32>,
    station: Option<String>,
    end: Option<String>,
}

impl Pick {
    /// Reads it.
    ///
    /// # Errors
    /// What makes no sense, and what would be right.
    pub fn parse(text: &str) -> Result<Pick, String> {
        let mut pick = Pick::default();
        for part in text.split(',') {
            let (key, value) =
                part.split_once('=').map_or((part.trim(), ""), |(key, value)| (key.trim(), value.trim()));
            match (key, value) {
                ("collisions", number) if number.parse::<u32>().is_ok() => pick.collisions = number.parse().ok(),
                ("station", name) if !name.is_empty() => pick.station = Some(name.to_owned()),
                ("end", end @ ("transmitted" | "discarded")) => pick.end = Some(end.to_owned()),
                _ => {
                    return Err(format!(
                        "`{}`: write `collisions=3`, `station=st2`, `end=transmitted` or `end=discarded`, with commas between",
                        part.trim()
                    ));
                }
            }
        }
        Ok(pick)
    }

    /// The station whose frames are looked for.
    pub fn station(&self) -> Option<&str> {
        self.station.as_deref()
    }

    /// Whether it is such a frame.
    pub fn is(&self, ended: &Ended) -> bool {
        self.collisions.is_none_or(|collisions| collisions == ended.collisions)
            && self.station.as_ref().is_none_or(|station| *station == ended.station)
            && self.end.as_ref().is_none_or(|end| end == ended.end)
    }
}

/// The frames that have ended, in order of time, each given to `visit` until it has seen enough.
///
/// # Errors
/// A trace that is damaged.
pub fn ended<R: BufRead>(log: &mut EventLogReader<R>, mut visit: impl FnMut(Ended) -> bool) -> Result<(), ReadError> {
    let stations = log.header().stations.clone();
    while let Some(event) = log.next_event()? {
        if let Some(ended) = end_of(&event, &stations)
            && !visit(ended)
        {
            break;
        }
    }
    Ok(())
}

fn end_of(event: &Event, stations: &[String]) -> Option<Ended> {
    let (end, collisions, mac_delay) = if let Kind::Transmitted { attempts, mac_delay, .. } = event.kind {
        ("transmitted", attempts.saturating_sub(1), Some(mac_delay.get()))
    } else if let Kind::Discarded { attempts, .. } = event.kind {
        ("discarded", attempts, None)
    } else {
        return None;
    };
    let FrameId { station, serial } = event.frame;
    let station = stations.get(station.index())?.clone();
    let frame = format!("{station}#{serial}");
    Some(Ended { frame, station, end, collisions, at_bt: event.at.get(), mac_delay_bt: mac_delay })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_is_read_and_found() {
        let pick = Pick::parse("collisions=3, station=st2").expect("both are known");
        let ended = |station: &str, collisions| Ended {
            frame: format!("{station}#1"),
            station: station.to_owned(),
            end: "transmitted",
            collisions,
            at_bt: 0,
            mac_delay_bt: None,
        };
        assert!(pick.is(&ended("st2", 3)) && !pick.is(&ended("st2", 2)) && !pick.is(&ended("st1", 3)));
        for wrong in ["", "collisions", "collisions=many", "end=lost", "size=64"] {
            assert!(Pick::parse(wrong).expect_err(wrong).contains("`collisions=3`"), "{wrong}");
        }
    }
}
