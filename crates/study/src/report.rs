//! A run as one page to hand out: what was run, its figures with their intervals, plots, theory beside measurement, and
//! what happened over place and time.
//!
//! | module | holds |
//! |---|---|
//! | [`gather`] | reads traces and results |
//! | [`facts`] | what was run, and the commands that run it again |
//! | [`theory`] | theory beside measurement |
//! | [`tables`] | what was done to the medium, counters, meetings, backoff |
//! | [`page`] | the page: that of `crates/page`, with the runs in it |
//!
//! The page is one file that needs no network. It opens from a disk, and prints.

pub mod facts;
pub mod gather;
pub mod page;
pub mod tables;
pub mod theory;
