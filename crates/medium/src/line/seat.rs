//! A station that joins at a place of its own: the line is as if its seat had been there from the beginning.
//!
//! A seat on which no station has been sends nothing and listens to nothing. So only the ends of signals that it is an
//! addressee of depend on its place, and how far the others are from it.

use super::{Course, Line};
use crate::agenda::Agenda;
use crate::frame::{StationId, TransmissionId};
use crate::time::BitInstant;
use crate::topology::Topology;
use crate::topology::segments::Place;

impl Line {
    /// The seat of `station` is at `place` from `now` on, which makes the topology `moved`.
    ///
    /// How far the farthest station is from any other stays as it was planned, since deliveries are settled by it.
    ///
    /// # Panics
    /// If a station has been there: it has signals of its own, and may listen.
    pub fn seat(&mut self, now: BitInstant, station: StationId, place: Place, moved: Topology, agenda: &mut Agenda) {
        let index = station.index();
        let is_fresh =
            self.last_of[index].is_none() && !self.for_begins.contains(station) && !self.for_silence.contains(station);
        assert!(is_fresh, "{station} has been on the medium: it joins again where it was");
        let planned = self.planned.take().unwrap_or_else(|| Box::new(self.topology.clone()));
        let there = planned.with_place(station, place).ok().flatten().expect("a place that the configuration has");
        self.farthest[index] = there.farthest(station);
        assert!(self.farthest[index] <= self.longest, "{station} is farther away than planned");
        self.planned = Some(planned);
        self.ways = self.ways.moved(&moved);
        self.topology = moved;
        agenda.ends.forget(station);
        // The end of a jam is scheduled as its sender ends it.
        let is_scheduled = |course: Course| !matches!(course, Course::Cut { end } if end > now);
        let here =
            (self.first..).zip(&self.transmissions).filter(|(_, one)| one.is_for(station) && one.reaches(station));
        for (number, one) in here.filter(|(_, one)| is_scheduled(one.course)) {
            let end = one.known_end().map(|end| end + self.way(one, station));
            if let Some(end) = end.filter(|end| *end >= now) {
                agenda.ends.push(end, station, TransmissionId::new(number));
            }
        }
    }
}
