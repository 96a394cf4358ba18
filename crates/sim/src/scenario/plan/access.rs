//! The access method of a plan, and what belongs to it alone.

use super::planner::Planner;
use crate::scenario::file::{AccessMethod, CaptureText, PopulationChoice, StationSection, value};
use crate::settings::keys::{ACCESS, MEDIUM, PLCA};
use crate::settings::overrides::option_at;
use crate::settings::wrong::{PlanError, Wrongs};
use crate::traffic::{Arrivals, Sizes};
use backoff::Policy;
use medium::{Aloha, Capture, Control, Csma, Method, Octets, Parameters, Population, SlottedAloha, Topology};
use std::num::NonZeroU32;

/// What methods without collision detection have in common.
struct Shared {
    ack_delay: u32,
    backoff: Option<Policy>,
    attempt_limit: Option<NonZeroU32>,
    population: Population,
    /// The longest frame that a station offers.
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
        let capture = self.capture(sections, topology)?;
        let shared = self.shared(sections, parameters);
        // One meaning, Lam's: the delay is that of bad news. Where there is none, older traces say nothing of it, nor do new ones.
        let holds_sender = shared.ack_delay == 0;
        let Shared { ack_delay, backoff, attempt_limit, population, size } = shared;
        let method = match method {
            AccessMethod::CsmaCd | AccessMethod::Plca | AccessMethod::CsmaCa => panic!("made above"),
            AccessMethod::Csma => {
                let csma = Csma { ack_delay, holds_sender, capture, population, ..Csma::new(size) };
                Method::Csma(self.csma(csma, backoff, attempt_limit))
            }
            AccessMethod::Aloha => {
                let standard = Aloha::new(size);
                let backoff = backoff.unwrap_or(standard.backoff);
                Method::Aloha(Aloha {
                    ack_delay,
                    holds_sender,
                    backoff,
                    capture,
                    attempt_limit,
                    population,
                    ..standard
                })
            }
            AccessMethod::Tdma => Method::Tdma(self.tdma(sections, topology, size, ack_delay, attempt_limit)?),
            AccessMethod::SlottedAloha => {
                let standard = SlottedAloha::new(size, topology.longest_distance());
                let control = self.control(topology)?;
                let backoff = backoff.unwrap_or(standard.backoff);
                Method::SlottedAloha(SlottedAloha {
                    ack_delay,
                    holds_sender,
                    backoff,
                    control,
                    capture,
                    attempt_limit,
                    population,
                    ..standard
                })
            }
        };
        Ok((method, None))
    }

    /// The same CSMA, with what the scenario says of it.
    fn csma(&self, standard: Csma, backoff: Option<Policy>, attempt_limit: Option<NonZeroU32>) -> Csma {
        let given = value(&self.scenario.access.persistence);
        Csma {
            persistence: given.map_or(standard.persistence, |text| text.0),
            backoff: backoff.unwrap_or(standard.backoff),
            attempt_limit: attempt_limit.or(standard.attempt_limit),
            ..standard
        }
    }

    /// How stations get to send, by name.
    pub(super) fn access_method(&self) -> AccessMethod {
        value(&self.scenario.access.method).unwrap_or_default()
    }

    pub(super) fn backoff(&self) -> Option<Policy> {
        value(&self.scenario.access.backoff).map(|text| text.0)
    }

    /// How frames draw for each slot; refused beside what it replaces, and where stations hear different things.
    fn control(&self, topology: &Topology) -> Result<Option<Control>, PlanError> {
        let access = &self.scenario.access;
        let Some(given) = &access.control else { return Ok(None) };
        let wrong = |what: &str| Err(self.at("control", given, what.to_owned()));
        if access.backoff.is_some() {
            return wrong("it replaces the backoff, and one is given: leave one of them out");
        }
        if value(&access.ack_delay).is_some_and(|slots| slots > 0) {
            return wrong("stations hear a slot as it ends: leave `ack_delay` out");
        }
        if !matches!(topology, Topology::Star { .. }) {
            return wrong("it is for a star, where all stations hear the same: write `topology = \"star:0bt\"`");
        }
        Ok(Some(given.get_ref().0))
    }

    /// Which frame of several is received; refused where stations have no places, which give the power.
    pub(super) fn capture(
        &self,
        sections: &[StationSection],
        topology: &Topology,
    ) -> Result<Option<Capture>, PlanError> {
        let Some(given) = &self.scenario.access.capture else { return Ok(None) };
        let Topology::Bus { .. } = topology else {
            let what = "the distance of stations gives their power: write `topology = \"bus:200m\"`";
            return Err(self.at("capture", given, what.to_owned()));
        };
        let CaptureText(threshold, exponent) = *given.get_ref();
        let positions = self.millimetres(sections)?;
        Ok(Some(Capture { threshold, exponent, positions }))
    }

    fn shared(&self, sections: &[StationSection], parameters: &Parameters) -> Shared {
        let access = &self.scenario.access;
        Shared {
            ack_delay: value(&access.ack_delay).unwrap_or(0),
            backoff: self.backoff(),
            attempt_limit: value(&self.scenario.medium.attempt_limit),
            population: match value(&access.population) {
                None | Some(PopulationChoice::Stations) => Population::Stations,
                Some(PopulationChoice::Infinite) => Population::Infinite,
            },
            size: self.longest_frame(sections, parameters).max(parameters.min_frame_size),
        }
    }

    /// The longest frame that a station offers: a slot has room for it.
    fn longest_frame(&self, sections: &[StationSection], parameters: &Parameters) -> Octets {
        let common = &self.scenario.traffic;
        let all = common.frame_size.as_ref().map(|sizes| &sizes.get_ref().0);
        let own = sections.iter().flat_map(|section| {
            let sources = section.source.iter().filter_map(|source| source.get_ref().frame_size.as_ref());
            section.frame_size.iter().chain(sources).map(|sizes| sizes.get_ref().0.longest())
        });
        let scripted = self.scenario.frame.iter().filter_map(|frame| frame.get_ref().size.as_ref());
        let scripted = scripted.map(|size| Octets::new(*size.get_ref()));
        let replies = self.arrivals(sections).filter_map(|arrivals| match arrivals {
            Arrivals::Window(window) => window.reply.map(Octets::new),
            Arrivals::Replay { .. } => Some(parameters.max_frame_size),
            Arrivals::Tcp(_) | Arrivals::Ping(_) | Arrivals::Udp(_) => Some(parameters.max_frame_size),
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Poisson { .. } | Arrivals::Periodic { .. } => None,
            Arrivals::OnOff { .. } | Arrivals::Bernoulli { .. } => None,
        });
        let first = all.map_or(Sizes::DEFAULT.longest(), Sizes::longest);
        own.chain(scripted).chain(replies).fold(first, Octets::max).min(parameters.max_frame_size)
    }

    /// The arrivals that the scenario writes: of `[traffic]`, if a station uses it, and of stations.
    fn arrivals<'a>(&'a self, sections: &'a [StationSection]) -> impl Iterator<Item = &'a Arrivals> {
        let shares = |section: &StationSection| section.arrivals.is_none() && section.source.is_empty();
        let common = self.scenario.traffic.arrivals.as_ref().map(|text| &text.get_ref().0);
        let common = common.filter(|_| sections.iter().any(shares));
        let own = sections.iter().flat_map(|section| {
            let sources = section.source.iter().filter_map(|source| source.get_ref().arrivals.as_ref());
            section.arrivals.iter().chain(sources).map(|text| &text.get_ref().0)
        });
        common.into_iter().chain(own)
    }

    /// Refuses what belongs to other methods: all of it.
    fn only_its_own(&self, method: AccessMethod) -> Result<(), PlanError> {
        let (medium, access) = (&self.scenario.medium, &self.scenario.access);
        let medium = MEDIUM.iter().map(|key| (key, medium.place_of(key.field)));
        let access = ACCESS.iter().map(|key| (key, access.place_of(key.field)));
        let keys = access.chain(medium).filter_map(|(key, place)| {
            let place = place?;
            let what = key.of.refusal(method, option_at(&place).is_some())?;
            Some(self.wrong(key.name, Some(place), what))
        });
        // A section [plca] may be in any scenario, for a run that is asked to take turns.
        let plca = PLCA.iter().filter(|_| method != AccessMethod::Plca).filter_map(|key| {
            let place = self.scenario.plca.place_of(key.field).filter(|place| option_at(place).is_some())?;
            let what = format!("{} has no such thing: leave it out, or write `--access plca`", method.title());
            Some(self.wrong(key.name, Some(place), what))
        });
        let wrongs: Vec<_> = keys.chain(plca).flat_map(|PlanError(wrongs)| wrongs.into_vec()).collect();
        if !wrongs.is_empty() {
            return Err(PlanError(Wrongs::new(wrongs)));
        }
        match method {
            AccessMethod::CsmaCd | AccessMethod::Plca => self.one_backoff(),
            _ => Ok(()),
        }
    }

    /// Refuses a limit of 802.3's backoff beside another one.
    fn one_backoff(&self) -> Result<(), PlanError> {
        match &self.scenario.medium.backoff_limit {
            Some(limit) if self.backoff().is_some() => {
                let what = "it belongs to the backoff of 802.3, and another one is chosen: leave one of them out";
                Err(self.at("backoff_limit", limit, what.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }
}
