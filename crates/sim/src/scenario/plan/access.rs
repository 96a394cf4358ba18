//! The access method of a plan, and what belongs to it alone.

use super::{PlanError, Planner};
use crate::scenario::file::{AccessMethod, PopulationChoice, StationSection};
use crate::traffic::{Arrivals, Sizes};
use crate::words::configuration::longest_distance;
use medium::{Method, Octets, Parameters, Population, SlottedAloha, Topology};
use std::num::NonZeroU32;
use std::ops::Range;
use toml::Spanned;

impl Planner<'_> {
    /// How stations get to send.
    pub(super) fn method(
        &self,
        sections: &[StationSection],
        parameters: &Parameters,
        topology: &Topology,
    ) -> Result<Method, PlanError> {
        let given = self.scenario.access.method.as_ref().map(|method| *method.get_ref());
        match self.overrides.access.or(given).unwrap_or_default() {
            AccessMethod::CsmaCd => self.only_of_slotted_aloha().map(|()| Method::CsmaCd),
            AccessMethod::SlottedAloha => {
                self.only_of_csma_cd()?;
                self.slotted_aloha(sections, parameters, topology).map(Method::SlottedAloha)
            }
        }
    }

    fn slotted_aloha(
        &self,
        sections: &[StationSection],
        parameters: &Parameters,
        topology: &Topology,
    ) -> Result<SlottedAloha, PlanError> {
        let access = &self.scenario.access;
        let size = self.longest_frame(sections, parameters).max(parameters.min_frame_size);
        let standard = SlottedAloha::new(size, longest_distance(topology));
        let backoff = self.overrides.backoff.or(access.backoff.as_ref().map(|text| text.get_ref().0));
        let population = access.population.as_ref().map(|choice| *choice.get_ref());
        let population = population.unwrap_or_else(|| self.usual_population(sections));
        let limit = self.scenario.medium.attempt_limit.as_ref();
        Ok(SlottedAloha {
            ack_delay: self
                .overrides
                .ack_delay
                .or(access.ack_delay.as_ref().map(|delay| *delay.get_ref()))
                .unwrap_or(0),
            backoff: backoff.unwrap_or(standard.backoff),
            attempt_limit: limit.and_then(|limit| NonZeroU32::new(*limit.get_ref())),
            population: match population {
                PopulationChoice::Stations => Population::Stations,
                PopulationChoice::Infinite => Population::Infinite,
            },
            ..standard
        })
    }

    /// The longest frame that anybody offers: a slot has room for it.
    fn longest_frame(&self, sections: &[StationSection], parameters: &Parameters) -> Octets {
        let common = &self.scenario.traffic;
        let all = self.overrides.sizes.as_ref().or(common.frame_size.as_ref().map(|sizes| &sizes.get_ref().0));
        let own = sections.iter().flat_map(|section| {
            let sources = section.source.iter().filter_map(|source| source.get_ref().frame_size.as_ref());
            section.frame_size.iter().chain(sources).map(|sizes| sizes.get_ref().0.longest())
        });
        let scripted = self.scenario.frame.iter().filter_map(|frame| frame.get_ref().size.as_ref());
        let scripted = scripted.map(|size| Octets::new(*size.get_ref()));
        let replies = self.arrivals(sections).filter_map(|arrivals| match arrivals {
            Arrivals::Window(window) => window.reply.map(Octets::new),
            Arrivals::Replay { .. } => Some(parameters.max_frame_size),
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Poisson { .. } | Arrivals::Periodic { .. } => None,
            Arrivals::OnOff { .. } | Arrivals::Bernoulli { .. } => None,
        });
        let first = all.map_or(Sizes::DEFAULT.longest(), Sizes::longest);
        own.chain(scripted).chain(replies).fold(first, Octets::max).min(parameters.max_frame_size)
    }

    /// Frames that arrive by themselves come from infinitely many users; others from the stations, one after the other.
    fn usual_population(&self, sections: &[StationSection]) -> PopulationChoice {
        let mut arrivals = self.arrivals(sections).peekable();
        let some = arrivals.peek().is_some();
        if some && arrivals.all(|arrivals| matches!(arrivals, Arrivals::Poisson { .. })) {
            PopulationChoice::Infinite
        } else {
            PopulationChoice::Stations
        }
    }

    /// What is offered, as far as it is written.
    fn arrivals<'a>(&'a self, sections: &'a [StationSection]) -> impl Iterator<Item = &'a Arrivals> {
        let shares = |section: &StationSection| section.arrivals.is_none() && section.source.is_empty();
        let common = self.overrides.arrivals.as_ref();
        let common = common.or(self.scenario.traffic.arrivals.as_ref().map(|text| &text.get_ref().0));
        let common = common.filter(|_| sections.iter().any(shares));
        let own = sections.iter().flat_map(|section| {
            let sources = section.source.iter().filter_map(|source| source.get_ref().arrivals.as_ref());
            section.arrivals.iter().chain(sources).map(|text| &text.get_ref().0)
        });
        common.into_iter().chain(own)
    }

    /// Refuses what CSMA/CD has no use for.
    fn only_of_slotted_aloha(&self) -> Result<(), PlanError> {
        let access = &self.scenario.access;
        let options =
            [("--backoff", self.overrides.backoff.is_some()), ("--ack-delay", self.overrides.ack_delay.is_some())];
        let keys = [
            ("backoff", access.backoff.as_ref().map(Spanned::span)),
            ("ack_delay", access.ack_delay.as_ref().map(Spanned::span)),
            ("population", access.population.as_ref().map(Spanned::span)),
        ];
        let what = "CSMA/CD has no such thing: leave it out, or choose slotted ALOHA with";
        if let Some((option, _)) = options.into_iter().find(|(_, given)| *given) {
            return Err(self.wrong(option, None, format!("{what} `--access slotted-aloha`")));
        }
        let given = keys.into_iter().find_map(|(key, span)| Some((key, span?)));
        given.map_or(Ok(()), |(key, span)| {
            Err(self.wrong(key, Some(span), format!("{what} `method = \"slotted-aloha\"`")))
        })
    }

    /// Refuses what slotted ALOHA has no use for.
    fn only_of_csma_cd(&self) -> Result<(), PlanError> {
        let medium = &self.scenario.medium;
        fn span<T>(given: &Option<Spanned<T>>) -> Option<Range<usize>> {
            given.as_ref().map(Spanned::span)
        }
        let keys = [
            ("slot_time", span(&medium.slot_time)),
            ("inter_packet_gap", span(&medium.inter_packet_gap)),
            ("inter_packet_gap_part_1", span(&medium.inter_packet_gap_part_1)),
            ("jam_size", span(&medium.jam_size)),
            ("max_defer_time", span(&medium.max_defer_time)),
            ("backoff_limit", span(&medium.backoff_limit)),
            ("bursting", span(&medium.bursting)),
        ];
        let what = "slotted ALOHA listens to nobody, so it has no such thing: leave it out";
        if self.overrides.bursting.is_some() {
            return Err(self.wrong("--bursting", None, what.to_owned()));
        }
        let given = keys.into_iter().find_map(|(key, span)| Some((key, span?)));
        given.map_or(Ok(()), |(key, span)| Err(self.wrong(key, Some(span), what.to_owned())))
    }
}
