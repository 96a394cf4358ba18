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
    /// Frames that got through alone, from destination address to FCS: LINKTYPE_ETHERNET.
    Plain,
}

/// What a capture has, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// What frames are written with.
    pub framing: Framing,
    /// Which packets are written.
    pub filter: Filter,
}

impl Framing {
    /// All packets in this framing.
    pub const fn unfiltered(self) -> Wish {
        Wish { framing: self, filter: Filter::ALL }
    }
}
