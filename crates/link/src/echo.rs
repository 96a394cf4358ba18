//! How long a machine takes to answer: ICMP echoes (RFC 792, RFC 4443) in the network namespace of the calling thread.

use crate::packet::internet_checksum;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, recv, sendto, setsockopt, socket,
    sockopt,
};
use nix::sys::time::TimeVal;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Octets of a request, header included, as `ping` has them.
const OCTETS: usize = 64;
/// Types of messages: a request and its answer, with IPv4 and IPv6.
const TYPES_V4: [u8; 2] = [8, 0];
const TYPES_V6: [u8; 2] = [128, 129];

/// The least of `echoes` round trips to `remote`, from `local` if that is said. None if one is not answered within
/// `patience`, or the kernel lets no echo out.
pub fn round_trip(remote: IpAddr, local: Option<IpAddr>, echoes: u16, patience: Duration) -> Option<Duration> {
    let asking = Asking::open(remote, local, patience).ok()?;
    (1..=echoes).map(|number| asking.ask(number)).collect::<Option<Vec<_>>>()?.into_iter().min()
}

struct Asking {
    socket: OwnedFd,
    remote: SockaddrStorage,
    types: [u8; 2],
    /// Tells these requests from those of others.
    identifier: u16,
    patience: Duration,
}

impl Asking {
    fn open(remote: IpAddr, local: Option<IpAddr>, patience: Duration) -> Result<Asking, Errno> {
        let (family, protocol, types) = match remote {
            IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp, TYPES_V4),
            IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6, TYPES_V6),
        };
        let socket = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        if let Some(local) = local {
            bind(socket.as_raw_fd(), &address(local))?;
        }
        let timeout = TimeVal::new(patience.as_secs() as i64, i64::from(patience.subsec_micros()));
        setsockopt(&socket, sockopt::ReceiveTimeout, &timeout)?;
        Ok(Asking { socket, remote: address(remote), types, identifier: std::process::id() as u16, patience })
    }

    fn ask(&self, number: u16) -> Option<Duration> {
        let request = request(self.types[0], self.identifier, number);
        let begin = Instant::now();
        sendto(self.socket.as_raw_fd(), &request, &self.remote, MsgFlags::empty()).ok()?;
        let mut buffer = [0; 256];
        while begin.elapsed() < self.patience {
            let octets = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).ok()?;
            // With IPv4 the kernel gives the packet's own header too.
            let header = if self.types == TYPES_V4 { usize::from(buffer[0] & 15) * 4 } else { 0 };
            if is_answer(buffer[..octets].get(header..)?, self.types[1], &request) {
                return Some(begin.elapsed());
            }
        }
        None
    }
}

fn address(ip: IpAddr) -> SockaddrStorage {
    SocketAddr::new(ip, 0).into()
}

/// A request. The kernel computes the checksum of ICMPv6 itself.
fn request(kind: u8, identifier: u16, number: u16) -> [u8; OCTETS] {
    let mut octets = [0; OCTETS];
    octets[0] = kind;
    octets[4..6].copy_from_slice(&identifier.to_be_bytes());
    octets[6..8].copy_from_slice(&number.to_be_bytes());
    let sum = internet_checksum(&octets);
    octets[2..4].copy_from_slice(&sum.to_be_bytes());
    octets
}

/// The answer repeats all but type and checksum.
fn is_answer(message: &[u8], kind: u8, request: &[u8; OCTETS]) -> bool {
    message.len() == OCTETS && message[..2] == [kind, 0] && message[4..] == request[4..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a message with its checksum add up to all ones (RFC 1071).
    #[test]
    fn a_request_has_its_checksum() {
        for (identifier, number) in [(0, 1), (0xffff, 0xffff), (0x1234, 7)] {
            let octets = request(8, identifier, number);
            let words = octets.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        }
    }

    #[test]
    fn only_the_answer_to_this_request_counts() {
        let own = request(8, 5, 1);
        let answer = |of: [u8; OCTETS]| [&[0, 0, 9, 9][..], &of[4..]].concat();
        assert!(is_answer(&answer(own), 0, &own));
        assert!(!is_answer(&answer(request(8, 5, 2)), 0, &own));
        assert!(!is_answer(&answer(request(8, 6, 1)), 0, &own));
        assert!(!is_answer(&own, 0, &own), "the request itself");
        assert!(!is_answer(&answer(own)[..20], 0, &own));
    }
}
