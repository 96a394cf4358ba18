//! A run as one page to hand out: what was run, its figures with their intervals, plots, theory beside measurement, and
//! what happened over place and time.
//!
//! | module | holds |
//! |---|---|
//! | [`gather`] | reads event logs, records and results |
//! | [`facts`] | what was run, and the commands that run it again |
//! | [`figures`] | plots, and theory beside measurement |
//! | [`pack`] | events in few octets, for the page's script |
//! | [`signals`] | signals in few octets, for the same |
//! | [`tables`] | what was done to the medium, counters, meetings, backoff |
//! | [`words`] | the first events in words |
//! | [`page`] | the page |
//!
//! The page is one file that needs no network. It opens from a disk, and prints.

pub mod facts;
pub mod figures;
pub mod gather;
pub mod pack;
pub mod page;
pub mod signals;
pub mod tables;
pub mod words;
