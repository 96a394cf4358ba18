//! What a user wants of a capture.

use super::filter::Filter;
use serde::{Deserialize, Serialize};

/// What frames are written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Preamble, SFD and FCS, collision fragments and jam: LINKTYPE_ETHERNET_MPACKET.
    #[default]
    Whole,
    /// Frames that got through alone, from destination address to FCS: LINKTYPE_ETHERNET. The capture has no interface
    /// "bus", since libpcap reads no file of two link types.
    Plain,
}

/// What a capture has, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// What frames are written with.
    pub framing: Framing,
    /// Which packets are written; no rows, if the capture is plain.
    pub(super) filter: Filter,
}

impl Framing {
    /// All packets in this framing.
    pub const fn unfiltered(self) -> Wish {
        let filter = match self {
            Framing::Whole => Filter::ALL,
            Framing::Plain => Filter::FRAMES,
        };
        Wish { framing: self, filter }
    }

    /// The packets in this framing that `filter` takes.
    ///
    /// # Errors
    /// No capture in this framing has any of them.
    pub fn filtered(self, filter: Filter) -> Result<Wish, String> {
        let filter = match self {
            Framing::Whole => filter,
            Framing::Plain => filter.of_frames()?,
        };
        Ok(Wish { framing: self, filter })
    }
}
