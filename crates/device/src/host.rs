//! A station's stack: an interface of smoltcp, its card and its sockets.

use crate::Port;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr};
use std::fmt;

/// A stack with one address. Everything that it draws follows from its seed, the first sequence numbers of TCP too.
pub struct Host {
    /// The stack.
    pub interface: Interface,
    /// Its sockets.
    pub sockets: SocketSet<'static>,
    /// Its card.
    pub port: Port,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("addresses", &self.interface.ip_addrs()).finish_non_exhaustive()
    }
}

impl Host {
    /// A stack that has sent nothing, with this card and these addresses.
    pub fn new(mut port: Port, mac: [u8; 6], ip: IpCidr, seed: u64) -> Host {
        let mut config = Config::new(EthernetAddress(mac).into());
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut port, Instant::ZERO);
        interface.update_ip_addrs(|addresses| addresses.push(ip).expect("room for one address"));
        Host { interface, sockets: SocketSet::new(Vec::with_capacity(1)), port }
    }

    /// Has the stack take what has arrived, and send what it can.
    pub fn poll(&mut self, now: Instant) {
        loop {
            let before = self.port.sent();
            self.interface.poll(now, &mut self.port, &mut self.sockets);
            // A poll sends one fragment of a packet.
            if self.port.sent() == before || !self.is_busy(now) {
                return;
            }
        }
    }

    /// Whether the stack has something to send that it has not sent yet. If it gets a second packet that is longer than a frame
    /// before it has sent all fragments of the first, it forgets the rest of these (smoltcp 0.14).
    pub fn is_busy(&mut self, now: Instant) -> bool {
        self.poll_at(now).is_some_and(|at| at <= now)
    }

    /// When the stack has something to do if nothing arrives. An instant that has passed: it waits for room in its card.
    pub fn poll_at(&mut self, now: Instant) -> Option<Instant> {
        self.interface.poll_at(now, &self.sockets)
    }
}
