//! One bridge: what it has learned, and where it forwards a frame.

use super::address::{Number, Whom};
use super::ear::Carried;
use crate::figures::bridge::PortResults;

/// A bridge between its ports, which it numbers from 0.
#[derive(Debug)]
pub(super) struct Relay {
    ageing: u64,
    /// The numbers of its ports' stations.
    ports: Vec<Number>,
    /// By number of a station: the port behind which it was heard last, and when.
    learned: Vec<Option<(usize, u64)>>,
    /// What the ports have received since counting began.
    pub counts: Vec<PortResults>,
}

impl Relay {
    /// One with these ports, in a file with `numbers` stations and ports; `ageing` is in nanoseconds.
    pub fn new(ageing: u64, ports: Vec<Number>, numbers: usize) -> Relay {
        Relay { ageing, counts: vec![PortResults::default(); ports.len()], ports, learned: vec![None; numbers] }
    }

    /// Which port has this number, if one has.
    pub fn port(&self, number: Number) -> Option<usize> {
        self.ports.iter().position(|own| *own == number)
    }

    /// A port has received a frame whole at `at`: the ports to which the bridge forwards it, in order.
    ///
    /// Learning comes before forwarding, and a source is always one station's (802.1Q, 8.7); a frame for a group or for an
    /// address that is not known goes to all other ports (8.6.3).
    pub fn hear(&mut self, at: u64, port: usize, frame: &Carried, counted: bool) -> std::ops::Range<usize> {
        self.learned[usize::from(frame.source)] = Some((port, at));
        let known = match frame.whom {
            Whom::One(number) if self.ports.contains(&number) => Some(port),
            Whom::One(number) => self.known(number, at),
            Whom::All | Whom::Nobody => None,
        };
        let (to, count): (_, fn(&mut PortResults) -> &mut u64) = match known {
            Some(known) if known == port => (0..0, |counts| &mut counts.filtered),
            Some(known) => (known..known + 1, |counts| &mut counts.forwarded),
            None => (0..self.ports.len(), |counts| &mut counts.flooded),
        };
        if counted {
            self.counts[port].received += 1;
            *count(&mut self.counts[port]) += 1;
        }
        to
    }

    /// The port behind which a station was heard within the ageing time (802.1Q, 8.8.3).
    fn known(&self, number: Number, at: u64) -> Option<usize> {
        let (port, since) = self.learned[usize::from(number)]?;
        (at - since < self.ageing).then_some(port)
    }
}
