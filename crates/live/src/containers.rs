//! What programs that start containers ask of ethbus: a station for each container, on a lab for each network.
//!
//! These rooms hold no bus. They ask labs over the control socket, as any other program may (docs/api.md).

pub mod cni;
pub mod docker;
mod labs;
