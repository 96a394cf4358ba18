//! Where ethbus meets Linux: namespaces, links, packet sockets, clocks and waiting.
//!
//! A station's host hands a frame to its interface, and the kernel carries it to the bus's end of the veth pair.
//! [`packet::Receiver`] takes it out of a ring, with the instant of its handover. [`packet::Sender`] is the opposite
//! direction. Everything else here makes these two possible, or reports when they no longer are.
//!
//! | module | holds |
//! |---|---|
//! | [`namespace`] | network namespaces, named or held by a descriptor only; user namespaces |
//! | [`netlink`] | veth pairs, interfaces, addresses, and changes of carrier |
//! | [`ethtool`], [`sysctl`] | keep a station's kernel from sending what no wire would carry |
//! | [`tap`] | interfaces whose far end is a program |
//! | [`lent`] | an interface from outside: recording its state, and giving it back in that state |
//! | [`packet`] | the bus's port: ring, batches, unfinished checksums |
//! | [`fanout`] | one frame to many ports in one call, by a program in the kernel |
//! | [`station`] | a raw socket inside a station |
//! | [`clock`] | monotonic time, kernel stamps, priority |
//! | [`confine`] | giving up capabilities and system calls |
//! | [`memory`], [`pipe`] | files without a folder; named pipes |
//! | [`wait`], [`channel`], [`signals`], [`process`], [`background`] | how two processes work together |
//! | [`random`] | what no other process can foretell |
//!
//! This crate never knows the medium: no bit times, no backoff, no frame times. Time here is in nanoseconds, the
//! kernel's unit.
//!
//! Only the private module `sys` contains `unsafe` code.

#![deny(unsafe_code)]

pub mod background;
pub mod channel;
pub mod clock;
pub mod confine;
pub mod echo;
pub mod ethtool;
pub mod fanout;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod lent;
pub mod load;
pub mod memory;
pub mod namespace;
pub mod netlink;
pub mod packet;
pub mod pipe;
pub mod process;
pub mod random;
pub mod signals;
pub mod station;
pub mod sysctl;
pub mod tap;
pub mod wait;

#[allow(unsafe_code)]
mod sys;

pub use nix::unistd::Pid;
pub use pnet_base::MacAddr;
