//! Signals that begin and end at places: which stations are notified, in the written order.

use super::Engine;
use crate::access::{Access, Begun};
use crate::frame::{StationId, TransmissionId};
use crate::inputs::Host;
use crate::time::BitTimes;

impl<A: Access> Engine<A> {
    /// Signals begin at places.
    pub(super) fn signals_begin<H: Host>(&mut self, host: &mut H) {
        if self.core.line.is_star() {
            self.begin_everywhere(host);
        } else if let Some((station, id)) = self.core.agenda.begins.pop(self.core.instant) {
            self.begin_along(station, id, host);
        }
    }

    /// A signal begins at the place of `station`, or the station's own signal begins where others are already.
    fn begin_along<H: Host>(&mut self, station: StationId, id: TransmissionId, host: &mut H) {
        let now = self.core.instant;
        if self.core.line.get(id).source() == station {
            return A::signals_begin(self, station, Begun { other: false, heard: false, own: true }, host);
        }
        let Some(heard) = self.core.line.begin_is_due(now, station) else { return };
        A::signals_begin(self, station, Begun { other: true, heard, own: false }, host);
        if self.core.line.for_begins().contains(station) {
            self.core.line.expect_begin(now + BitTimes::new(1), station, &mut self.core.agenda);
        }
    }

    /// Signals begin at all places but their sources', or at their sources, where others are already.
    fn begin_everywhere<H: Host>(&mut self, host: &mut H) {
        let (now, mut begun) = (self.core.instant, std::mem::take(&mut self.core.signals));
        self.core.line.pass_by(now, &mut self.core.agenda);
        self.core.agenda.begins.take_everywhere(now, &mut begun);
        self.core.line.got_there(begun.len());
        let mut at_source = self.core.agenda.begins.pop(now).map(|(station, _)| station);
        let mut from = 0;
        loop {
            let listener = if begun.is_empty() { None } else { self.core.line.for_begins().next(from) };
            let Some(station) = listener.into_iter().chain(at_source).min() else { break };
            from = station.index() + 1;
            let own = at_source == Some(station);
            if own {
                at_source = self.core.agenda.begins.pop(now).map(|(station, _)| station);
            }
            let (other, heard) = self.core.line.begin_at(station, &begun);
            A::signals_begin(self, station, Begun { other, heard, own }, host);
        }
        self.core.signals = begun;
    }

    /// Signals end at places, which may fall silent.
    pub(super) fn signals_end<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        if self.core.line.is_star() {
            self.end_everywhere(host);
        } else if let Some((station, id)) = self.core.agenda.ends.pop(now) {
            self.receive(station, id, host);
        } else if let Some(station) = self.core.agenda.silences.pop(now)
            && self.core.line.silence_is_due(now, station, &mut self.core.agenda)
        {
            A::signals_end(self, station, host);
        }
    }

    /// Signals end at all places but their sources', or at their sources.
    fn end_everywhere<H: Host>(&mut self, host: &mut H) {
        let (now, mut ended) = (self.core.instant, std::mem::take(&mut self.core.signals));
        let core = &mut self.core;
        core.line.pass_by(now, &mut core.agenda);
        core.agenda.ends.take_everywhere(now, &mut ended);
        core.line.ended_there(ended.len());
        core.coming.clear();
        let coming = core.agenda.begins.everywhere.iter().take_while(|(at, _)| *at == now);
        core.coming.extend(coming.map(|&(_, id)| core.line.get(id).source()));
        self.receive_everywhere(&ended, host);
        while let Some((station, id)) = self.core.agenda.ends.pop(now) {
            self.receive(station, id, host);
        }
        while let Some(station) = self.core.agenda.silences.pop(now) {
            A::signals_end(self, station, host);
        }
        if !ended.is_empty() && self.core.line.for_silence().len() > 0 {
            let mut from = 0;
            while let Some(station) = self.core.line.for_silence().next(from) {
                from = station.index() + 1;
                A::signals_end(self, station, host);
            }
        }
        self.core.signals = ended;
    }

    /// Transmissions have just ended everywhere but at their sources.
    fn receive_everywhere<H: Host>(&mut self, ended: &[TransmissionId], host: &mut H) {
        let stations = self.stations.len();
        if let [id] = ended {
            let places = self.core.line.get(*id).destination.places(stations);
            return places.for_each(|place| self.receive(place, *id, host));
        }
        let mut places = std::mem::take(&mut self.core.places);
        for &id in ended {
            places.extend(self.core.line.get(id).destination.places(stations).map(|place| (place, id)));
        }
        if !places.is_sorted() {
            places.sort_unstable();
        }
        places.drain(..).for_each(|(place, id)| self.receive(place, id, host));
        self.core.places = places;
    }

    /// A transmission has just ended at `place`.
    fn receive<H: Host>(&mut self, place: StationId, id: TransmissionId, host: &mut H) {
        if self.core.line.get(id).is_for(place) && self.station(place).attached {
            A::receives(self, place, id, host);
        }
    }
}
