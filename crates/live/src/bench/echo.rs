//! An echo client of our own: it sleeps to the instant, sends an ICMP echo request through a packet socket, and takes the
//! kernel's stamp of the answer. So neither its own wake-ups nor its printing are in the time.
//!
//! `ping` is bimodal where the kernel's clock ticks at 250 Hz: it either sleeps, 16.7 ms instead of 10, or spins.

use super::bus::{BenchError, Context};
use crate::lab::INTERFACE;
use link::MacAddr;
use link::clock::{RealtimeNanos, set_timer_slack};
use link::namespace::Namespace;
use link::packet::internet_checksum;
use link::station::StationSocket;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

const ETHERTYPE_IPV4: u16 = 0x0800;
/// Octets of data in a request, as `ping` has them.
const DATA: usize = 56;
/// Octets of headers before them: Ethernet, IPv4, ICMP.
const HEADERS: usize = 14 + 20 + 8;
/// Octets of a request or an answer on the medium, FCS included, without preamble and SFD.
pub const OCTETS: u64 = (HEADERS + DATA + 4) as u64;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Asks one host for echoes.
#[derive(Debug)]
pub struct Echo {
    socket: StationSocket,
    frame: Vec<u8>,
    number: u16,
}

/// The station that asks, and the station that answers.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The asking station's address, to which the other station answers.
    pub from: Ipv4Addr,
    /// The address that is asked.
    pub to: Ipv4Addr,
    /// Its hardware address.
    pub mac: MacAddr,
}

impl Echo {
    /// A client in a station.
    ///
    /// # Errors
    /// A socket that the kernel refuses.
    pub fn open(station: &Namespace, ends: Ends) -> Result<Echo, BenchError> {
        let socket = StationSocket::open(station, INTERFACE, ETHERTYPE_IPV4)?;
        let frame = request(ends, socket.mac());
        Ok(Echo { socket, frame, number: 0 })
    }

    /// Asks once in each `interval`, for as long as `duration`; adds how long the answers took.
    ///
    /// # Errors
    /// A socket that does not work, or an interrupt.
    pub fn ask(
        &mut self,
        context: &Context<'_>,
        interval: Duration,
        duration: Duration,
        trips: &mut Trips,
    ) -> Result<(), BenchError> {
        // A thread of its own, so that no other thread gets its exact sleep.
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| self.ask_here(context, interval, duration, trips));
            asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn ask_here(
        &mut self,
        context: &Context<'_>,
        interval: Duration,
        duration: Duration,
        trips: &mut Trips,
    ) -> Result<(), BenchError> {
        set_timer_slack(Duration::from_nanos(1)).map_err(super::bus::system("sleep exactly"))?;
        let (begin, mut due) = (Instant::now(), Duration::ZERO);
        while due < duration {
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
            if !context.interrupts.is_empty() {
                return Err(BenchError::Interrupted);
            }
            match self.round_trip()? {
                Some(nanos) => trips.add(nanos),
                None => trips.lost += 1,
            }
            // Never two at once: after a late answer the next instant counts.
            while due <= begin.elapsed() {
                due += interval;
            }
        }
        Ok(())
    }

    /// Nanoseconds from the call that sends a request to the kernel's stamp of its answer.
    fn round_trip(&mut self) -> Result<Option<u64>, BenchError> {
        self.number = self.number.wrapping_add(1);
        set_number(&mut self.frame, self.number);
        let sent = RealtimeNanos::now();
        if self.socket.send(&self.frame).is_err() {
            return Ok(None);
        }
        let (begin, mut answer) = (Instant::now(), [0; HEADERS + DATA]);
        while let Some(frame) = self.socket.receive(Some(PATIENCE.saturating_sub(begin.elapsed())), &mut answer)? {
            if is_answer(&answer[..frame.octets], self.number) {
                return Ok(Some(frame.stamp.0.saturating_sub(sent.0)));
            }
        }
        Ok(None)
    }
}

/// An echo request without a number: RFC 792 in RFC 791 in Ethernet.
fn request(ends: Ends, from: MacAddr) -> Vec<u8> {
    let mut frame = vec![0; HEADERS + DATA];
    frame[0..6].copy_from_slice(&ends.mac.octets());
    frame[6..12].copy_from_slice(&from.octets());
    frame[12..14].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
    let ip = &mut frame[14..34];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&((HEADERS - 14 + DATA) as u16).to_be_bytes());
    (ip[8], ip[9]) = (64, 1);
    ip[12..16].copy_from_slice(&ends.from.octets());
    ip[16..20].copy_from_slice(&ends.to.octets());
    let sum = internet_checksum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    frame[34] = 8;
    frame[38..40].copy_from_slice(&IDENTIFIER.to_be_bytes());
    frame
}

/// What tells our echoes from others.
const IDENTIFIER: u16 = 0xeb05;

fn set_number(frame: &mut [u8], number: u16) {
    frame[36..38].fill(0);
    frame[40..42].copy_from_slice(&number.to_be_bytes());
    let sum = internet_checksum(&frame[34..]);
    frame[36..38].copy_from_slice(&sum.to_be_bytes());
}

fn is_answer(frame: &[u8], number: u16) -> bool {
    frame.len() >= HEADERS
        && (frame[23], frame[34]) == (1, 0)
        && frame[38..40] == IDENTIFIER.to_be_bytes()
        && frame[40..42] == number.to_be_bytes()
}

/// Round-trip times.
#[derive(Clone, Debug, Default)]
pub struct Trips {
    micros: Vec<f64>,
    /// Requests without an answer.
    pub lost: u64,
}

impl Trips {
    fn add(&mut self, nanos: u64) {
        self.micros.push(nanos as f64 / 1e3);
    }

    /// How many echoes came back.
    pub fn count(&self) -> usize {
        self.micros.len()
    }

    /// The time in microseconds that these parts of all echoes took at most; no number if none came back.
    pub fn quantiles<const N: usize>(&self, parts: [f64; N]) -> [f64; N] {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        parts.map(|part| {
            let rank = (part * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> Ends {
        let (from, to) = (Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2));
        Ends { from, to, mac: MacAddr::new(2, 0, 0, 0, 0, 2) }
    }

    /// A checksum over what has its own in it is zero.
    #[test]
    fn requests_have_right_checksums_and_answers_are_known() {
        let mut frame = request(ends(), MacAddr::new(2, 0, 0, 0, 0, 1));
        for number in [0, 1, 0xffff] {
            set_number(&mut frame, number);
            assert_eq!((internet_checksum(&frame[14..34]), internet_checksum(&frame[34..])), (0, 0));
            assert!(!is_answer(&frame, number), "a request is no answer");
            frame[34] = 0;
            assert!(is_answer(&frame, number) && !is_answer(&frame, number.wrapping_add(1)));
            frame[34] = 8;
        }
        (0..HEADERS).for_each(|length| assert!(!is_answer(&frame[..length], 0)));
    }

    #[test]
    fn quantiles_are_of_what_came_back() {
        let mut trips = Trips::default();
        assert!(trips.quantiles([0.5])[0].is_nan());
        (1..=100).rev().for_each(|number| trips.add(number * 1_000));
        assert_eq!(trips.quantiles([0.5, 0.9, 0.99]), [50.0, 90.0, 99.0]);
    }
}
