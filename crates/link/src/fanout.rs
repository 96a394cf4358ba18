//! One frame to many ports in one call: the kernel makes the copies.
//!
//! ```text
//!              data plane                       kernel, inside the same call
//!   wanted ← {st2, st3, … st64} ┐
//!   send one frame ─────────────┼──► hub ──► program ──► a copy to st2 … st64
//!   look at failures ◄──────────┘                 └────► what could not be sent, and why
//! ```
//! The hub is an interface without a peer. A program on its egress consumes each frame and has the kernel give a copy
//! to every port of a set. The set and the result of each copy are in memory that the program shares with the data
//! plane. So each frame can have its own set of ports, and each failed copy is known when the call returns. The program
//! empties the set: other frames that leave the hub go nowhere.
//!
//! Making a hub takes CAP_SYS_ADMIN or CAP_BPF in the first user namespace ([`make_hub`]); using it takes nothing
//! but the socket and the memory ([`FanOut`]).
//!
//! With many stations there are several hubs, each for a part of the ports, and several threads ([`Copiers`]).

mod copiers;
mod program;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use crate::namespace::{Namespace, NamespaceError};
use crate::netlink::{LinkError, Netlink};
use crate::packet::{SendError, Sender};
use crate::sys::bpf::{self, Words};

pub use copiers::{Copiers, Helper, Sent, make_hubs};

/// The maximum number of ports of a hub.
pub const PORTS_MAX: usize = 1024;

/// The maximum number of copies of one call: they wait in a queue of 1,000 that each processor has for all its frames
/// (`net.core.netdev_max_backlog`). This leaves room for other frames.
const COPIES_MAX: usize = 256;

/// The largest possible MTU, so that the hub lets every frame through.
const LARGEST_MTU: u32 = 65_535;

/// Why there is no fan-out in the kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FanOutError {
    /// The process may not load programs.
    #[error("the kernel lets only root on the host itself load BPF programs")]
    NotPermitted,
    /// This kernel has no BPF.
    #[error("this kernel has no BPF, or not enough of it ({call})")]
    NoBpf {
        /// What was refused.
        call: &'static str,
    },
    /// The kernel refused `call` for another reason.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The hub could not be made, or takes no program.
    #[error("the kernel makes no hub")]
    Link(#[from] LinkError),
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl FanOutError {
    fn of(call: &'static str) -> impl FnOnce(io::Error) -> FanOutError {
        move |source| match source.raw_os_error() {
            Some(libc::EPERM) => FanOutError::NotPermitted,
            Some(libc::ENOSYS | libc::EINVAL) => FanOutError::NoBpf { call },
            _ => FanOutError::System { call, source },
        }
    }
}

/// The place of each number in the shared memory.
#[derive(Clone, Copy, Debug)]
struct Layout {
    ports: usize,
}

impl Layout {
    /// The number of frames that the program has seen.
    const RUNS: usize = 0;
    /// The number of copies that could not be sent.
    const FAILURES: usize = 1;

    /// 32 ports of the wanted set.
    fn wanted(self, word: usize) -> usize {
        2 + word
    }

    /// The result of the last failed copy for a port: an `errno`, negative, or one of NET_XMIT's.
    fn result(self, port: usize) -> usize {
        self.wanted(self.ports.div_ceil(32)) + port
    }

    fn words(self) -> usize {
        self.result(self.ports)
    }
}

/// What [`FanOut::new`] needs, in this or another process.
#[derive(Debug)]
pub struct Hub {
    /// The hub's index in its namespace.
    pub index: u32,
    /// The shared memory.
    pub memory: OwnedFd,
}

/// Makes a hub called `name` in a namespace, for ports with these indices there.
///
/// The hub ends with the namespace.
///
/// # Errors
/// A process without the rights, or a kernel without BPF. Nothing remains then.
///
/// # Panics
/// With more than [`PORTS_MAX`] ports.
pub fn make_hub(namespace: &Namespace, name: &str, ports: &[u32]) -> Result<Hub, FanOutError> {
    assert!(ports.len() <= PORTS_MAX, "callers check how many ports there are");
    let layout = Layout { ports: ports.len() };
    let memory = bpf::create_memory(4 * layout.words() as u32).map_err(FanOutError::of("making memory to share"))?;
    let program = program::program(ports, bpf::number(memory.as_fd()));
    let program = bpf::load_classifier(&program).map_err(FanOutError::of("loading a program"))?;
    let mut netlink = Netlink::in_namespace(namespace)?;
    let index = netlink.create_hub(name)?;
    let mut set_up = || {
        netlink.attach_to_egress(index, program.as_fd())?;
        netlink.set_mtu(index, LARGEST_MTU)?;
        netlink.set_up(index)
    };
    match set_up() {
        Ok(()) => Ok(Hub { index, memory }),
        Err(error) => {
            // The first error is the one to report.
            let _ = netlink.delete(index);
            Err(error.into())
        }
    }
}

/// Sends frames through a hub.
#[derive(Debug)]
pub struct FanOut {
    hub: u32,
    layout: Layout,
    memory: Words,
    /// Room for the answer to one call.
    sent: Vec<Result<(), SendError>>,
}

impl FanOut {
    /// Takes a hub that was made for `ports` ports, possibly in another process.
    ///
    /// # Errors
    /// Memory that cannot be mapped.
    pub fn new(hub: Hub, ports: usize) -> io::Result<FanOut> {
        let layout = Layout { ports };
        let memory = Words::map(hub.memory, layout.words())?;
        Ok(FanOut { hub: hub.index, layout, memory, sent: Vec::new() })
    }

    /// Sends one frame to the ports with these numbers, counted from 0 in the order in which the hub was given them.
    ///
    /// Pushes one result a port, in their order, and returns whether the hub worked. If not, for instance because the
    /// hub was removed, nothing was sent to the remaining ports, and the caller sends another way.
    ///
    /// # Panics
    /// With a port that the hub does not have.
    pub fn send(
        &mut self,
        sender: &mut Sender,
        octets: &[u8],
        ports: &[usize],
        results: &mut Vec<Result<(), SendError>>,
    ) -> bool {
        ports.chunks(COPIES_MAX).all(|ports| self.send_some(sender, octets, ports, results))
    }

    fn send_some(
        &mut self,
        sender: &mut Sender,
        octets: &[u8],
        ports: &[usize],
        results: &mut Vec<Result<(), SendError>>,
    ) -> bool {
        let FanOut { hub, layout, memory, sent } = self;
        let words = memory.words();
        let (runs, failures) = (words[Layout::RUNS].load(Relaxed), words[Layout::FAILURES].load(Relaxed));
        for &port in ports {
            assert!(port < layout.ports, "callers know how many ports there are");
            words[layout.wanted(port / 32)].fetch_or(1 << (port % 32), Relaxed);
        }
        sender.send(&[(*hub, octets)], sent);
        if words[Layout::RUNS].load(Relaxed) == runs {
            let wanted = layout.wanted(0)..layout.result(0);
            words[wanted].iter().for_each(|word| word.store(0, Relaxed));
            return false;
        }
        if words[Layout::FAILURES].load(Relaxed) == failures {
            results.extend(ports.iter().map(|_| Ok(())));
        } else {
            results.extend(ports.iter().map(|&port| answer(words[layout.result(port)].swap(0, Relaxed) as i32)));
        }
        true
    }
}

/// The meaning of the kernel's answer about one copy.
fn answer(result: i32) -> Result<(), SendError> {
    const NET_XMIT_DROP: i32 = 1;
    /// A link without carrier drops frames and reports it here, but not to a sender that uses a socket.
    const NET_XMIT_CONGESTED: i32 = 2;
    match result {
        0 => Ok(()),
        NET_XMIT_DROP => Err(SendError::Dropped),
        NET_XMIT_CONGESTED => Err(SendError::Down),
        // The kernel does not find the index.
        _ if result == -libc::EINVAL => Err(SendError::NoInterface),
        _ if result == -libc::ENETDOWN => Err(SendError::Down),
        _ if result == -libc::ENOBUFS => Err(SendError::Dropped),
        _ => Err(SendError::System(result.saturating_neg())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_numbers_share_a_place() {
        for ports in [1, 31, 32, 33, PORTS_MAX] {
            let layout = Layout { ports };
            let mut places = vec![Layout::RUNS, Layout::FAILURES];
            places.extend((0..ports.div_ceil(32)).map(|word| layout.wanted(word)));
            places.extend((0..ports).map(|port| layout.result(port)));
            assert_eq!(places, (0..layout.words()).collect::<Vec<_>>(), "{ports} ports");
        }
    }
}
