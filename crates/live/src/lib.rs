//! A bus in real time: the lab around it, the data plane, the supervisor between them, and what offers frames to it. Containers
//! ([`containers`]) and kernels in virtual time ([`virt`]) are stations too.
#![forbid(unsafe_code)]

pub mod bench;
pub mod clients;
pub mod containers;
pub mod control;
pub mod copies;
pub mod discards;
pub mod driver;
pub mod keeper;
pub mod lab;
pub mod plane;
pub mod scrape;
pub mod supervisor;
pub mod virt;
pub mod watchers;
