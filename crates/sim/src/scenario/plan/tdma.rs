//! TDMA of a plan: slots, guard time, and which station each slot belongs to.

use super::cuts::some_names;
use super::planner::Planner;
use crate::scenario::file::{StationSection, span, value};
use crate::scenario::plan::Plan;
use crate::settings::wrong::PlanError;
use medium::{BitTimes, Carried, Method, Octets, StationId, Tdma, Topology};
use std::num::NonZeroU32;

impl Plan {
    /// The shortest slot for programs, whose frames may have any length; `None` without slots.
    fn live_slot(&self) -> Option<BitTimes> {
        let Method::Tdma(own) = &self.medium.method else { return None };
        Some(self.medium.on_air(Carried::Frame, self.medium.parameters.frame_size_limit(true)) + own.guard)
    }

    /// Refuses slots that are too short for programs.
    pub(super) fn check_live_slots(&self) -> Result<(), PlanError> {
        let (Method::Tdma(own), Some(needed)) = (&self.medium.method, self.live_slot()) else { return Ok(()) };
        if own.slot >= needed || !self.has_slot {
            return Ok(());
        }
        let what = format!(
            "programs send frames of up to {} octets, and a slot of {} has no room for them: write `--slot {}bt`, or leave it out",
            self.medium.parameters.frame_size_limit(true).get(),
            own.slot,
            needed.get()
        );
        Err(PlanError::option("slot", what))
    }

    /// A default slot has room for the frames of programs.
    pub(super) fn widen_slots(&mut self) {
        let needed = self.live_slot().filter(|_| !self.has_slot);
        if let (Method::Tdma(own), Some(needed)) = (&mut self.medium.method, needed) {
            own.slot = own.slot.max(needed);
        }
    }
}

impl Planner<'_> {
    /// Slots with room for a frame of `size` octets, unless said otherwise.
    pub(super) fn tdma(
        &self,
        sections: &[StationSection],
        topology: &Topology,
        size: Octets,
        ack_delay: u32,
        attempt_limit: Option<NonZeroU32>,
    ) -> Result<Tdma, PlanError> {
        let access = &self.scenario.access;
        let farthest = topology.longest_distance();
        let guard = value(&access.guard).map_or(farthest, BitTimes::from);
        if guard < farthest {
            let what =
                format!("the longest way between two stations takes {farthest}: write that at least, or leave it out");
            return Err(self.wrong("guard", span(&access.guard), what));
        }
        let standard = Tdma::new(size, guard, sections.len());
        let slot = value(&access.slot).map_or(standard.slot, BitTimes::from);
        if slot < standard.slot {
            let what = format!(
                "a frame of {} octets with preamble, and {guard} of guard time, take {}: write that at least, or leave it out",
                size.get(),
                standard.slot
            );
            return Err(self.wrong("slot", span(&access.slot), what));
        }
        let owners = self.owners(sections)?.unwrap_or(standard.owners);
        Ok(Tdma { slot, guard, owners, ack_delay, attempt_limit })
    }

    /// The stations that `slots` names, each at least once.
    fn owners(&self, sections: &[StationSection]) -> Result<Option<Vec<StationId>>, PlanError> {
        let Some(slots) = &self.scenario.access.slots else { return Ok(None) };
        let names = sections.iter().enumerate().map(|(index, section)| self.station_name(index, section));
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let number = |name: &String| {
            let found = names.iter().position(|known| known == name);
            let unknown = || format!("`{name}` is no station: write {}", some_names(&names));
            found.map(|number| StationId::new(number as u16)).ok_or_else(unknown)
        };
        let owners: Result<Vec<StationId>, String> = slots.get_ref().0.iter().map(number).collect();
        let owners = owners.map_err(|what| self.at("slots", slots, what))?;
        if owners.len() > Tdma::MAX_SLOTS {
            let what = format!("a frame of {} slots: write {} at most", owners.len(), Tdma::MAX_SLOTS);
            return Err(self.at("slots", slots, what));
        }
        let without = (0..names.len()).find(|number| !owners.iter().any(|owner| owner.index() == *number));
        match without {
            Some(number) => {
                let what = format!("`{}` has no slot: name each station once at least", names[number]);
                Err(self.at("slots", slots, what))
            }
            None => Ok(Some(owners)),
        }
    }
}
