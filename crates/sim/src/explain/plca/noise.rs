//! Noise at the places of nodes: from when to when, and the harm that the trace shows.

use medium::{BitInstant, Fault, StationId};

/// A time in which a node received badly.
#[derive(Clone, Debug)]
pub struct Noise {
    pub node: StationId,
    pub fault: Fault,
    pub from: BitInstant,
    /// When it ended.
    pub to: Option<BitInstant>,
    /// Frames for it that arrived with a bad FCS.
    pub damaged: u64,
    /// When its plca_status fell.
    pub fell: Option<BitInstant>,
    /// Attempts that met it, or with which it met others, on the line.
    pub met: u64,
    /// The first of these things.
    pub first: Option<BitInstant>,
}

impl Noise {
    fn harm(&mut self, at: BitInstant) -> &mut Noise {
        self.first.get_or_insert(at);
        self
    }
}

/// All of them, in order of time.
#[derive(Clone, Debug, Default)]
pub struct Noises(Vec<Noise>);

impl Noises {
    /// `node` has another fault from `at` on, or none.
    pub fn set(&mut self, at: BitInstant, node: StationId, fault: Option<Fault>) {
        if let Some(noise) = self.present(node) {
            noise.to = Some(at);
        }
        if let Some(fault) = fault.filter(|fault| fault.is_of_receiver()) {
            let (to, damaged, fell, met, first) = (None, 0, None, 0, None);
            self.0.push(Noise { node, fault, from: at, to, damaged, fell, met, first });
        }
    }

    fn present(&mut self, node: StationId) -> Option<&mut Noise> {
        self.0.iter_mut().rfind(|noise| noise.node == node && noise.to.is_none())
    }

    /// A frame for `node` arrived with a bad FCS.
    pub fn damages(&mut self, at: BitInstant, node: StationId) {
        self.present(node).into_iter().for_each(|noise| noise.harm(at).damaged += 1);
    }

    /// A frame of `node` met another on the line. A deaf node does not notice that it sends over others.
    pub fn meets(&mut self, at: BitInstant, node: StationId) {
        let is_deaf = |noise: &&mut Noise| noise.to.is_none() && noise.fell.is_some() && noise.fault == Fault::OneWay;
        match self.present(node) {
            Some(noise) => noise.harm(at).met += 1,
            None => self.0.iter_mut().find(is_deaf).into_iter().for_each(|noise| noise.harm(at).met += 1),
        }
    }

    /// plca_status of `node` fell; false if there is no noise at it.
    pub fn fells(&mut self, at: BitInstant, node: StationId) -> bool {
        let noise = self.present(node);
        noise.map(|noise| noise.harm(at).fell.get_or_insert(at)).is_some()
    }

    /// The noise at each place.
    pub fn iter(&self) -> impl Iterator<Item = &Noise> {
        self.0.iter()
    }

    /// Frames met because of it.
    pub fn made_meet(&self) -> bool {
        self.0.iter().any(|noise| noise.met > 0)
    }
}
