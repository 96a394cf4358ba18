//! All of ethbus that runs without a kernel: files, figures, scenarios, traffic, and runs in virtual time.
//!
//! | room | holds |
//! |---|---|
//! | [`words`] | quantities, faults, cuts and choices as people write them |
//! | [`traffic`] | what stations offer in virtual time |
//! | [`files`] | the trace, and its replay |
//! | [`figures`] | sums, delays, the results schema, flat rows |
//! | [`settings`] | every key of a scenario, declared once, and what is made of that table |
//! | [`scenario`] | the scenario file, and the plan that it and the command line make |
//! | [`run`] | the loop in virtual time, and a measurement made of it |
//! | [`explain`] | the life of one frame in words, from the scene that its events make |
//! | [`scene`] | the medium, reconstructed from events: signals, stations, queues |
//! | [`windows`] | what a run looks like to other tools: captures, timelines, tables |
//!
//! What it must never know: sockets, namespaces, threads of a live bus, the command line, plots. Cargo keeps that: `link`
//! and clap are no dependencies here.
#![forbid(unsafe_code)]

pub mod explain;
pub mod figures;
pub mod files;
pub mod run;
pub mod scenario;
pub mod scene;
pub mod settings;
pub mod traffic;
pub mod windows;
pub mod words;
