//! Quantities, faults, cuts and choices as people write them: in scenarios, on the command line, in files.

pub mod cable;
pub mod choices;
pub mod configuration;
pub mod contention;
pub mod interface;
pub mod lines;
pub mod macphy;
pub mod places;
pub mod plca;
pub mod program;
pub mod prose;
pub mod sentences;
pub mod units;

pub use pnet_base::MacAddr;
