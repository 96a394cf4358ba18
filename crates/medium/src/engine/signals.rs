//! Signals that begin and end at places: who is told, in the written order.

use super::Engine;
use crate::access::{Access, Begun};
use crate::frame::{Destination, StationId, TransmissionId};
use crate::inputs::Host;

impl<A: Access> Engine<A> {
    /// Signals begin at places.
    pub(super) fn signals_begin<H: Host>(&mut self, host: &mut H) {
        if self.core.line.is_star() {
            self.begin_everywhere(host);
        } else if let Some((station, id)) = self.core.agenda.begins.pop(self.core.instant) {
            let own = self.core.line.get(id).source() == station;
            let heard = self.core.line.hears(station, id);
            A::signals_begin(self, station, Begun { other: !own, heard, own }, host);
        }
    }

    /// Signals begin at all places but their sources', or at their sources, where others are already.
    fn begin_everywhere<H: Host>(&mut self, host: &mut H) {
        let (now, mut begun) = (self.core.instant, std::mem::take(&mut self.core.signals));
        self.core.agenda.begins.take_everywhere(now, &mut begun);
        self.core.line.got_there(begun.len());
        let mut at_source = self.core.agenda.begins.pop(now).map(|(station, _)| station);
        let mut from = 0;
        loop {
            let listener = if begun.is_empty() { None } else { self.core.line.listeners().next(from) };
            let Some(station) = listener.into_iter().chain(at_source).min() else { break };
            from = station.index() + 1;
            let own = at_source == Some(station);
            if own {
                at_source = self.core.agenda.begins.pop(now).map(|(station, _)| station);
            }
            let line = &self.core.line;
            let mut others = begun.iter().filter(|&&id| line.get(id).source() != station);
            let other = others.clone().next().is_some();
            let heard = others.any(|&id| line.hears(station, id));
            A::signals_begin(self, station, Begun { other, heard, own }, host);
        }
        self.core.signals = begun;
    }

    /// Signals end at places.
    pub(super) fn signals_end<H: Host>(&mut self, host: &mut H) {
        if self.core.line.is_star() {
            self.end_everywhere(host);
        } else if let Some((station, id)) = self.core.agenda.ends.pop(self.core.instant) {
            self.receive(station, id, host);
            A::signals_end(self, station, host);
        }
    }

    /// Signals end at all places but their sources', or at their sources.
    fn end_everywhere<H: Host>(&mut self, host: &mut H) {
        let (now, mut ended) = (self.core.instant, std::mem::take(&mut self.core.signals));
        self.core.agenda.ends.take_everywhere(now, &mut ended);
        self.core.line.ended_there(ended.len());
        self.receive_everywhere(&ended, host);
        let core = &mut self.core;
        let coming = core.agenda.begins.everywhere.iter().take_while(|(at, _)| *at == now);
        core.coming.clear();
        core.coming.extend(coming.map(|&(_, id)| core.line.get(id).source()));
        while let Some((station, id)) = self.core.agenda.ends.pop(now) {
            self.receive(station, id, host);
            A::signals_end(self, station, host);
        }
        let mut from = 0;
        while let Some(station) = self.core.line.listeners().next(from).filter(|_| !ended.is_empty()) {
            from = station.index() + 1;
            A::signals_end(self, station, host);
        }
        self.core.signals = ended;
    }

    /// Transmissions have just ended everywhere but at their sources.
    fn receive_everywhere<H: Host>(&mut self, ended: &[TransmissionId], host: &mut H) {
        let stations = self.stations.len() as u16;
        let line = &self.core.line;
        let addressees = |&id: &TransmissionId| match line.get(id).destination {
            Destination::Station(addressee) => addressee.index() as u16..addressee.index() as u16 + 1,
            Destination::All => 0..stations,
            Destination::Nobody => 0..0,
        };
        if let [id] = ended {
            let places = addressees(id);
            return places.for_each(|place| self.receive(StationId::new(place), *id, host));
        }
        let mut places: Vec<(u16, TransmissionId)> =
            ended.iter().flat_map(|id| addressees(id).map(|place| (place, *id))).collect();
        places.sort_unstable();
        places.into_iter().for_each(|(place, id)| self.receive(StationId::new(place), id, host));
    }

    /// A transmission has just ended at `place`.
    fn receive<H: Host>(&mut self, place: StationId, id: TransmissionId, host: &mut H) {
        let transmission = self.core.line.get(id);
        if !transmission.is_for(place) || !self.station(place).attached {
            return;
        }
        let frame = transmission.frame;
        if let Some(kind) = A::verdict(&self.core, place, id) {
            self.core.emit(place, frame, kind, host);
        }
    }
}
