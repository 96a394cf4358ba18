//! Which packets of a capture are written: decided as they are made, so that the others cost nothing.

use crate::words::MacAddr;
use medium::{FrameId, StationId};
use serde::{Deserialize, Serialize};

/// What a filter looks like, for refusals.
const REMEDY: &str =
    "write `frames`, `collisions` or `rows`, `station=`NAME, `address=`MAC, or several with commas between";

/// Packets that are wanted. All conditions hold for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    only: Option<Only>,
    /// A station's number.
    station: Option<u16>,
    address: Option<[u8; 6]>,
}

/// One sort of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Only {
    /// Transmissions, also those that were cut short.
    Frames,
    /// Transmissions that met others, and the rows of kind `collision`.
    Collisions,
    /// What is on the interface "bus".
    Rows,
}

/// What a packet is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    pub is_row: bool,
    pub is_collision: bool,
    pub station: StationId,
    pub frame: FrameId,
}

impl Filter {
    /// Every packet.
    pub const ALL: Filter = Filter { only: None, station: None, address: None };
    /// Every transmission, and no row.
    pub(super) const FRAMES: Filter = Filter { only: Some(Only::Frames), ..Filter::ALL };

    /// Reads what a user wrote, for a medium of these stations.
    ///
    /// # Errors
    /// What no filter has, or the name of no station.
    pub fn read(text: &str, stations: &[String]) -> Result<Filter, String> {
        let mut filter = Filter::ALL;
        for term in text.split(',') {
            let is_first = match (term.split_once('='), term) {
                (Some(("station", name)), _) => filter.station.replace(number(name, stations)?).is_none(),
                (Some(("address", address)), _) => filter.address.replace(octets(address)?).is_none(),
                (None, "frames") => filter.only.replace(Only::Frames).is_none(),
                (None, "collisions") => filter.only.replace(Only::Collisions).is_none(),
                (None, "rows") => filter.only.replace(Only::Rows).is_none(),
                (Some(_) | None, _) => return Err(format!("`{term}` is no filter: {REMEDY}")),
            };
            if !is_first {
                return Err(format!("`{term}` is the second of its sort in `{text}`: leave one out"));
            }
        }
        Ok(filter)
    }

    /// What the filter leaves of a capture that has frames alone.
    ///
    /// # Errors
    /// Nothing: all that the filter takes are collisions or rows.
    pub(super) fn of_frames(self) -> Result<Filter, String> {
        match self.only {
            None | Some(Only::Frames) => Ok(Filter { only: Some(Only::Frames), ..self }),
            Some(Only::Collisions | Only::Rows) => {
                Err("a plain capture has neither collisions nor rows: leave them out of the filter, or write a \
                     capture in pcapng that is not plain"
                    .to_owned())
            }
        }
    }

    /// Whether a packet about a frame is wanted; `addresses` gives the frame's destination and source.
    #[inline]
    pub(super) fn takes(&self, subject: Subject, addresses: impl FnOnce() -> [[u8; 6]; 2]) -> bool {
        *self == Filter::ALL
            || (self.takes_sort(subject.is_row, subject.is_collision)
                && self.station.is_none_or(|number| {
                    [subject.station, subject.frame.station].map(StationId::index).contains(&usize::from(number))
                })
                && self.address.is_none_or(|address| addresses().contains(&address)))
    }

    /// Whether a row about no frame is wanted: one about a station, or about cable or machine, which concerns all.
    pub(super) fn takes_row(&self, station: Option<StationId>) -> bool {
        let is_other = |station: StationId| self.station.is_some_and(|number| station.index() != usize::from(number));
        self.takes_sort(true, false) && !station.is_some_and(is_other)
    }

    fn takes_sort(&self, is_row: bool, is_collision: bool) -> bool {
        match self.only {
            None => true,
            Some(Only::Frames) => !is_row,
            Some(Only::Collisions) => is_collision,
            Some(Only::Rows) => is_row,
        }
    }
}

fn number(name: &str, stations: &[String]) -> Result<u16, String> {
    let number = stations.iter().position(|station| station == name);
    number.map(|number| number as u16).ok_or_else(|| format!("no station is called `{name}`: {REMEDY}"))
}

fn octets(text: &str) -> Result<[u8; 6], String> {
    let address = text.parse::<MacAddr>().map(|address| address.octets());
    address.map_err(|_| format!("`{text}` is no address of six octets like `02:eb:00:00:00:01`: {REMEDY}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_conditions_hold() {
        let stations = ["st1", "st2"].map(str::to_owned);
        let read = |text: &str| Filter::read(text, &stations);
        let [st1, st2] = [0, 1].map(StationId::new);
        let of = |station, is_row, is_collision| {
            let frame = FrameId { station, serial: 1 };
            Subject { is_row, is_collision, station, frame }
        };
        let takes = |text: &str, subject| read(text).expect(text).takes(subject, || [[1; 6], [0x0a; 6]]);
        for (text, taken) in [
            ("frames", [true, true, false, false]),
            ("collisions", [false, true, true, false]),
            ("rows", [false, false, true, true]),
            ("station=st1", [true, true, true, true]),
            ("station=st2", [false; 4]),
            ("address=0a:0a:0A:0a:0a:0a,frames", [true, true, false, false]),
            ("address=01:01:01:01:01:02", [false; 4]),
        ] {
            let subjects = [of(st1, false, false), of(st1, false, true), of(st1, true, true), of(st1, true, false)];
            assert_eq!(subjects.map(|subject| takes(text, subject)), taken, "{text}");
        }
        // A row at one station about another's frame is about both.
        assert!(takes("station=st2", Subject { station: st2, ..of(st1, true, false) }));
        for (text, remains) in
            [("station=st1", true), ("frames", true), ("collisions", false), ("rows,station=st1", false)]
        {
            let plain = read(text).expect(text).of_frames();
            assert_eq!(plain.is_ok(), remains, "{text}");
            assert!(
                plain.is_ok_and(|plain| plain.takes(of(st1, false, false), || [[1; 6]; 2]) && !plain.takes_row(None))
                    == remains
            );
        }
        let cable = read("station=st1,rows").expect("a filter");
        assert!(cable.takes_row(None) && cable.takes_row(Some(st1)) && !cable.takes_row(Some(st2)));
        for wrong in ["", "st1", "frames,rows", "station=st3", "station=st1,station=st2", "address=1:2:3", "frames,"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
