//! What a run looks like: the life of a frame, captures, timelines, pages, the live view, and every file that is written.
//!
//! One program for all of them: each links the whole of ethbus.

#[path = "../../crates/sim/tests/common/case.rs"]
mod case;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/logged.rs"]
mod logged;
#[path = "../../crates/medium/tests/common/scenario.rs"]
mod scenario;

mod causes;
mod diagram;
mod explain;
mod explain_agrees;
mod explain_contention;
mod explain_plca;
mod explain_random;
mod outputs;
mod page;
mod pages;
mod readers;
mod report;
mod seeing;
mod timelines;
mod watch;
mod watch_room;
mod wireshark;
