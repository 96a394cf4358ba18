//! The access method of a plan, and what belongs to it alone.

use super::{PlanError, Planner};
use crate::scenario::file::{AccessMethod, PopulationChoice, StationSection};
use crate::traffic::{Arrivals, Sizes};
use crate::words::configuration::longest_distance;
use backoff::Policy;
use medium::{Aloha, Csma, Method, Octets, Parameters, Population, SlottedAloha, Topology};
use std::num::NonZeroU32;
use std::ops::Range;
use toml::Spanned;

/// What methods without collision detection have in common.
struct Shared {
    ack_delay: u32,
    backoff: Option<Policy>,
    attempt_limit: Option<NonZeroU32>,
    population: Population,
    /// The longest frame that anybody offers.
    size: Octets,
}

impl Planner<'_> {
    /// How stations get to send; and how CSMA/CD backs off, if not as 802.3 has it.
    pub(super) fn method(
        &self,
        sections: &[StationSection],
        parameters: &Parameters,
        topology: &Topology,
    ) -> Result<(Method, Option<Policy>), PlanError> {
        let method = self.access_method();
        self.only_its_own(method)?;
        if method == AccessMethod::CsmaCd {
            return Ok((Method::CsmaCd, self.backoff()));
        }
        if method == AccessMethod::CsmaCa {
            let size = self.longest_frame(sections, parameters).max(parameters.min_frame_size);
            return Ok((Method::CsmaCa(self.csma_ca(sections, topology, size)?), None));
        }
        if method == AccessMethod::Plca {
            return Ok((Method::Plca(self.plca(sections)?), self.backoff()));
        }
        let shared = self.shared(sections, parameters);
        // One meaning, Lam's: the delay is that of bad news. Where there is none, older logs say nothing of it, nor do new ones.
        let holds_sender = shared.ack_delay == 0;
        let Shared { ack_delay, backoff, attempt_limit, population, size } = shared;
        let method = match method {
            AccessMethod::CsmaCd | AccessMethod::Plca | AccessMethod::CsmaCa => panic!("made above"),
            AccessMethod::Csma => {
                let standard = Csma::new(size);
                let attempt_limit = attempt_limit.or(standard.attempt_limit);
                let backoff = backoff.unwrap_or(standard.backoff);
                let given = self.scenario.access.persistence.as_ref().map(|text| text.get_ref().0);
                let persistence = self.overrides.persistence.or(given).unwrap_or(standard.persistence);
                Method::Csma(Csma {
                    persistence,
                    ack_delay,
                    holds_sender,
                    backoff,
                    attempt_limit,
                    population,
                    ..standard
                })
            }
            AccessMethod::Aloha => {
                let standard = Aloha::new(size);
                let backoff = backoff.unwrap_or(standard.backoff);
                Method::Aloha(Aloha { ack_delay, holds_sender, backoff, attempt_limit, population, ..standard })
            }
            AccessMethod::SlottedAloha => {
                let standard = SlottedAloha::new(size, longest_distance(topology));
                let backoff = backoff.unwrap_or(standard.backoff);
                Method::SlottedAloha(SlottedAloha {
                    ack_delay,
                    holds_sender,
                    backoff,
                    attempt_limit,
                    population,
                    ..standard
                })
            }
        };
        Ok((method, None))
    }

    /// How stations get to send, by name.
    pub(super) fn access_method(&self) -> AccessMethod {
        let given = self.scenario.access.method.as_ref().map(|method| *method.get_ref());
        self.overrides.access.or(given).unwrap_or_default()
    }

    pub(super) fn backoff(&self) -> Option<Policy> {
        self.overrides.backoff.or(self.scenario.access.backoff.as_ref().map(|text| text.get_ref().0))
    }

    fn shared(&self, sections: &[StationSection], parameters: &Parameters) -> Shared {
        let access = &self.scenario.access;
        let population = access.population.as_ref().map(|choice| *choice.get_ref());
        let limit = self.scenario.medium.attempt_limit.as_ref();
        let ack_delay = self.overrides.ack_delay.or(access.ack_delay.as_ref().map(|delay| *delay.get_ref()));
        Shared {
            ack_delay: ack_delay.unwrap_or(0),
            backoff: self.backoff(),
            attempt_limit: limit.and_then(|limit| NonZeroU32::new(*limit.get_ref())),
            population: match population.unwrap_or_else(|| self.usual_population(sections)) {
                PopulationChoice::Stations => Population::Stations,
                PopulationChoice::Infinite => Population::Infinite,
            },
            size: self.longest_frame(sections, parameters).max(parameters.min_frame_size),
        }
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

    /// Refuses what belongs to other methods.
    fn only_its_own(&self, method: AccessMethod) -> Result<(), PlanError> {
        self.only_of_plca(method)?;
        match method {
            AccessMethod::CsmaCd | AccessMethod::Plca => {
                self.only_of_csma_ca(method)?;
                self.only_of_others(method)?;
                self.one_backoff()
            }
            AccessMethod::CsmaCa => {
                self.only_of_csma_cd(method)?;
                self.only_of_others(method)?;
                self.nothing_of_contenders()
            }
            AccessMethod::Csma | AccessMethod::Aloha | AccessMethod::SlottedAloha => {
                self.only_of_csma_ca(method)?;
                self.only_of_csma_cd(method)?;
                if method == AccessMethod::Csma { Ok(()) } else { self.no_persistence(method, "csma") }
            }
        }
    }

    /// Refuses what neither CSMA/CD nor CSMA/CA has a use for.
    fn only_of_others(&self, method: AccessMethod) -> Result<(), PlanError> {
        let access = &self.scenario.access;
        let what = format!("{} has no such thing: leave it out, or choose another method with", method.title());
        if self.overrides.ack_delay.is_some() {
            return Err(self.wrong("--ack-delay", None, format!("{what} `--access slotted-aloha`")));
        }
        let keys = [
            ("ack_delay", access.ack_delay.as_ref().map(Spanned::span)),
            ("population", access.population.as_ref().map(Spanned::span)),
        ];
        if let Some((key, span)) = keys.into_iter().find_map(|(key, span)| Some((key, span?))) {
            return Err(self.wrong(key, Some(span), format!("{what} `method = \"slotted-aloha\"`")));
        }
        self.no_persistence(method, "csma")
    }

    fn no_persistence(&self, method: AccessMethod, of: &str) -> Result<(), PlanError> {
        let what = format!("{} has no such thing: leave it out, or choose another method with", method.title());
        if self.overrides.persistence.is_some() {
            return Err(self.wrong("--persistence", None, format!("{what} `--access {of}`")));
        }
        match &self.scenario.access.persistence {
            Some(text) => Err(self.wrong("persistence", Some(text.span()), format!("{what} `method = \"{of}\"`"))),
            None => Ok(()),
        }
    }

    /// Refuses a limit of 802.3's backoff beside another one.
    fn one_backoff(&self) -> Result<(), PlanError> {
        match &self.scenario.medium.backoff_limit {
            Some(limit) if self.backoff().is_some() => {
                let what = "it belongs to the backoff of 802.3, and another one is chosen: leave one of them out";
                Err(self.wrong("backoff_limit", Some(limit.span()), what.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses what only CSMA/CD has.
    fn only_of_csma_cd(&self, method: AccessMethod) -> Result<(), PlanError> {
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
        let what = format!("{} detects no collision, and has no such thing: leave it out", method.title());
        if self.overrides.bursting.is_some() {
            return Err(self.wrong("--bursting", None, what));
        }
        let given = keys.into_iter().find_map(|(key, span)| Some((key, span?)));
        given.map_or(Ok(()), |(key, span)| Err(self.wrong(key, Some(span), what)))
    }
}
