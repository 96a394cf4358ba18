//! Holds the trace of a run, live or simulated, against the standard.
//!
//! ```text
//!   rows ──► Verifier ──► bus: who sends, what each place hears
//!                         ├─ queue      frames in queues: each offered once, over once
//!                         ├─ csma_cd    defer, gap, collision, jam, backoff (802.3, clause 4)
//!                         ├─ unslotted, slots, dcf, plca    the other methods
//!                         └─ receive    what each addressee makes of each frame
//!            Ports        what bridges pass on between the buses of several traces
//!            Figures      the figures of a results file, computed again
//!                         └─ backlog, turns, spread    waiting frames, PLCA's cycles, intervals
//! ```
//! It shares the trace's reader and the plain data of a configuration with ethbus. It never knows the engine, its access
//! methods, or the scene: what they do wrong must not be wrong here too.

mod arithmetic;
mod backlog;
mod bridge;
mod bus;
mod csma_cd;
mod cycle;
mod dcf;
mod deference;
mod figures;
mod listening;
mod plca;
mod queue;
mod receive;
mod signal;
mod slots;
mod spread;
mod station;
#[allow(dead_code, reason = "the reference model of the engine's tests uses the rest")]
mod times;
mod turns;
mod unslotted;
mod verifier;
mod violation;
pub mod ways;

pub use bridge::{Ports, bridges};
pub use figures::{Compared, Figures};
pub use verifier::{Verdict, Verifier, verify};
pub use violation::{RULES, Rule, Violation};
