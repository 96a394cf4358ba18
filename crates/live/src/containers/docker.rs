//! A network driver of Docker: the daemon asks over HTTP at a Unix socket, a network is a lab, an endpoint a station.
//!
//! | file | what it holds |
//! |---|---|
//! | `call.rs` | what the daemon says, checked |
//! | `names.rs` | what a container is called |
//! | `networks.rs` | which network has which lab, and which endpoint which station, on disk |
//! | `driver.rs` | what each call does |
//! | `serve.rs` | the socket |

pub mod call;
mod driver;
mod names;
mod networks;
pub mod serve;
