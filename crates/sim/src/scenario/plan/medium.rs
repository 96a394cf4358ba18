//! The medium of a plan: rate, parameters, places.

use super::planner::Planner;
use crate::scenario::file::{
    AccessMethod, LengthText, PlaceText, RepeaterSection, Scenario, StationSection, TopologyText, span, value,
};
use crate::settings::keys::MEDIUM;
use crate::settings::overrides::option_at;
use crate::settings::wrong::PlanError;
use crate::words::units::Length;
use medium::{BitRate, BitTimes, ConfigError, Octets, Parameters, Place, Repeater, Segments, Topology, TopologyError};
use std::ops::Range;
use toml::Spanned;

/// Least propagation velocity on 10BASE5 coaxial cable (802.3, 8.4.1.3), as a part of that of light.
const DEFAULT_SPEED: f64 = 0.77 * SPEED_OF_LIGHT;
/// In metres a second.
const SPEED_OF_LIGHT: f64 = 299_792_458.0;
/// How far a signal gets in a second unless a scenario says otherwise, in metres.
pub fn usual_speed(in_air: bool) -> f64 {
    if in_air { SPEED_OF_LIGHT } else { DEFAULT_SPEED }
}

/// A repeater's start-of-packet propagation delay at 10 Mb/s is at most 7.5 BT, or 8 in whole bit times (802.3, 9.5.5.1).
const DEFAULT_REPEATER_DELAY: u64 = 8;

/// A segment of the scenario.
struct NamedSegment {
    name: String,
    /// Its length in bit times.
    end: f64,
    /// The same as it is written.
    length: Length,
}

/// The place of one of `stations` that are spread over a cable of this length.
pub(super) fn evenly(length: f64, index: usize, stations: usize) -> f64 {
    length * index as f64 / stations.saturating_sub(1).max(1) as f64
}

impl Planner<'_> {
    pub(super) fn rate(&self) -> Result<BitRate, PlanError> {
        let given = &self.scenario.medium.rate;
        let usual = if self.access_method() == AccessMethod::CsmaCa { self.phy().rate() } else { BitRate::MBIT_10 };
        let bits = value(given).map_or(usual.get(), |rate| rate.0);
        let what = match BitRate::per_second(bits).filter(|rate| *rate <= BitRate::MBIT_1000) {
            Some(rate) if self.access_method() == AccessMethod::Plca && rate != BitRate::MBIT_10 => format!(
                "`{rate}`: PLCA is of 10BASE-T1S, which has 10 Mb/s and no other rate (802.3, clauses 147 and 148): write `10M`, or choose another access method, like `csma-cd`"
            ),
            Some(rate) => return Ok(rate),
            None => format!("{bits}bit/s: half-duplex Ethernet ends at 1Gbit/s"),
        };
        Err(self.wrong("rate", span(given), what))
    }

    /// The standard's values at this rate, with what the scenario changes.
    pub(super) fn parameters(&self, rate: BitRate) -> Result<Parameters, PlanError> {
        let mut parameters = Parameters::at(rate);
        self.scenario.medium.set(&mut parameters);
        self.extend(&mut parameters)?;
        self.bursting(&mut parameters)?;
        Ok(parameters)
    }

    /// Where frames are extended it is to slot_time, whatever the scenario makes of that and of min_frame_size.
    fn extend(&self, parameters: &mut Parameters) -> Result<(), PlanError> {
        if parameters.extend_size == Octets::new(0) {
            return Ok(());
        }
        let (slot, least) = (parameters.slot_time.get(), u64::from(parameters.min_frame_size.get()));
        if slot.is_multiple_of(8) && slot / 8 > least {
            parameters.extend_size = Octets::new((slot / 8 - least) as u32);
            return Ok(());
        }
        let section = &self.scenario.medium;
        let span = section.slot_time.as_ref().map(Spanned::span);
        let span = span.or_else(|| section.min_frame_size.as_ref().map(Spanned::span));
        let what = format!(
            "{slot} BT: above 100 Mb/s a frame is extended to slot_time, so it is whole octets and more than min_frame_size of {least} octets"
        );
        Err(self.wrong("slot_time", span, what))
    }

    /// What the engine refuses, at the key that says so.
    pub(super) fn wrong_medium(&self, error: &ConfigError) -> PlanError {
        let Scenario { medium, access, .. } = &self.scenario;
        let name = match error {
            ConfigError::Parameter { parameter, .. } => *parameter,
            _ => "medium",
        };
        let key = if name == "distance" { "topology" } else { name };
        let span = medium.place_of(key).or_else(|| access.place_of(key));
        let unsteady = || self.scenario.repeater.iter().find_map(|section| section.get_ref().jitter.as_ref());
        let span = if key == "jitter" { unsteady().map(Spanned::span) } else { span };
        if let (None, ConfigError::Parameter { allowed, .. }) = (&span, error)
            && let Some((other, place)) = self.named_in(allowed)
        {
            let written = self.source.map(|source| source.text(&place).to_owned()).unwrap_or_default();
            let what = format!(
                "`{}` does not fit the standard's {name}, which must be {allowed}: write another value, or {name} too",
                written.trim_matches(['"', '\''])
            );
            return self.wrong(other, Some(place), what);
        }
        // A value that contradicts another one may be the standard's own: then there is no better place than the file.
        let written = span.as_ref().and_then(|span| Some(self.source?.text(span))).filter(|text| !text.is_empty());
        let what = match (error, written) {
            (ConfigError::Parameter { allowed, .. }, Some(written)) => {
                format!("`{}` is out of range: it must be {allowed}", written.trim_matches(['"', '\'']))
            }
            (error, _) => error.to_string(),
        };
        self.wrong(name, span.or_else(|| self.source.map(|_| 0..0)), what)
    }

    /// The key of [medium] that is given and that `rule` names.
    fn named_in(&self, rule: &str) -> Option<(&'static str, Range<usize>)> {
        let is_word = |c: char| !(c.is_alphanumeric() || c == '_');
        let named = MEDIUM.iter().filter(|key| rule.split(is_word).any(|word| word == key.name));
        named.filter_map(|key| Some((key.name, self.scenario.medium.place_of(key.field)?))).next()
    }

    fn bursting(&self, parameters: &mut Parameters) -> Result<(), PlanError> {
        let given = &self.scenario.medium.bursting;
        match value(given) {
            Some(true) if parameters.burst_limit == BitTimes::ZERO => {
                let place = span(given);
                let (value, rate) = match place.as_ref().and_then(option_at) {
                    Some(_) => ("on", "--rate 1Gbit/s"),
                    None => ("true", "rate = \"1Gbit/s\""),
                };
                let what = format!("`{value}`: bursting is for 1000 Mb/s: write `{rate}`, or leave it off");
                Err(self.wrong("bursting", place, what))
            }
            Some(false) => {
                parameters.burst_limit = BitTimes::ZERO;
                Ok(())
            }
            Some(true) | None => Ok(()),
        }
    }

    /// How far a signal gets in a bit time: in the air as far as light.
    pub(super) fn metres_per_bit(&self, rate: BitRate) -> f64 {
        let usual = usual_speed(self.access_method() == AccessMethod::CsmaCa);
        value(&self.scenario.medium.propagation_speed).map_or(usual, |speed| speed.0) / rate.get() as f64
    }

    fn bits(&self, length: Length, rate: BitRate) -> f64 {
        match length {
            Length::BitTimes(bits) => bits as f64,
            Length::Metres(length) => length / self.metres_per_bit(rate),
        }
    }

    /// The length of a bus's cable, in bit times; zero on other topologies.
    pub(super) fn cable(&self, rate: BitRate) -> f64 {
        match value(&self.scenario.medium.topology) {
            Some(TopologyText::Bus(length)) => self.bits(length, rate),
            Some(TopologyText::Star(_) | TopologyText::Segments) | None => 0.0,
        }
    }

    pub(super) fn topology(&self, sections: &[StationSection], rate: BitRate) -> Result<Topology, PlanError> {
        let bits = |length: Length| self.bits(length, rate);
        let positions: Vec<_> = sections.iter().map(|section| section.position.as_ref()).collect();
        let text = value(&self.scenario.medium.topology).unwrap_or(TopologyText::Star(Length::BitTimes(0)));
        self.check_sections(text, sections)?;
        match text {
            TopologyText::Star(distance) => {
                if let Some(position) = positions.iter().flatten().next() {
                    let what = format!(
                        "`{}` has no meaning on a star, where every pair has the same distance: write `topology = \"bus:500m\"` for a cable",
                        position.get_ref().0
                    );
                    return Err(self.at("position", position, what));
                }
                Ok(Topology::star(sections.len(), bits(distance).round() as u64))
            }
            TopologyText::Bus(length) => {
                let end = bits(length);
                let place = |(index, position): (usize, &Option<&Spanned<LengthText>>)| {
                    let usual = evenly(end, index, sections.len());
                    let place = position.map_or(usual, |position| bits(position.get_ref().0));
                    match position {
                        Some(position) if place > end => {
                            let what = format!(
                                "`{}`: {} is beyond the cable's end at {}: write `0 m` to `{length}`",
                                position.get_ref().0,
                                bits_text(place),
                                bits_text(end)
                            );
                            Err(self.at("position", position, what))
                        }
                        Some(_) | None => Ok(BitTimes::new(place.round() as u64)),
                    }
                };
                let places = Self::all(positions.iter().enumerate().map(place));
                Ok(Topology::Bus { positions: places? })
            }
            TopologyText::Segments => self.segments(sections, &bits),
        }
    }

    /// Sections that only another topology has.
    fn check_sections(&self, topology: TopologyText, sections: &[StationSection]) -> Result<(), PlanError> {
        if topology == TopologyText::Segments {
            return Ok(());
        }
        let what = "segments and repeaters are of another topology: write `topology = \"segments\"` in [medium], or leave them out";
        let section = self.scenario.segment.first().map(|section| ("segment", section.span()));
        let section = section.or_else(|| self.scenario.repeater.first().map(|section| ("repeater", section.span())));
        let station = sections.iter().find_map(|section| section.segment.as_ref());
        let section = section.or_else(|| station.map(|segment| ("segment", segment.span())));
        section.map_or(Ok(()), |(name, span)| Err(self.wrong(name, Some(span), what.to_owned())))
    }

    fn segments(&self, sections: &[StationSection], bits: &dyn Fn(Length) -> f64) -> Result<Topology, PlanError> {
        let segments = self.named_segments(bits)?;
        let here = |place: &Spanned<PlaceText>| {
            let PlaceText { segment, position } = place.get_ref();
            let index = find(&segments, segment).map_err(|what| self.at("ports", place, what))?;
            Self::place_on(&segments, index, bits(*position), Some(*position))
                .map_err(|what| self.at("ports", place, what))
        };
        let repeater = |section: &Spanned<RepeaterSection>| {
            let delay = section.get_ref().delay.as_ref().map_or(DEFAULT_REPEATER_DELAY, |delay| delay.get_ref().0);
            let ports = section.get_ref().ports.iter().map(here).collect::<Result<_, _>>()?;
            let jitter = section.get_ref().jitter.as_ref().map_or(0, |jitter| jitter.get_ref().0);
            Ok(Repeater { delay: BitTimes::new(delay), jitter: BitTimes::new(jitter), ports })
        };
        let repeaters: Vec<Repeater> = self.scenario.repeater.iter().map(repeater).collect::<Result<_, PlanError>>()?;
        let places = self.places_on(&segments, sections, bits)?;
        Segments::new(places, &repeaters)
            .map(Topology::Segments)
            .map_err(|error| self.wrong_segments(&error, &segments))
    }

    /// What the engine refuses, by the names of the scenario and at the section that says so.
    fn wrong_segments(&self, error: &TopologyError, segments: &[NamedSegment]) -> PlanError {
        let name = |segment: &usize| segments[*segment].name.as_str();
        let segment_at = |segment: &usize| self.scenario.segment.get(*segment).map(Spanned::span);
        let repeater_at = |repeater: &usize| self.scenario.repeater.get(*repeater).map(Spanned::span);
        match error {
            TopologyError::NotJoined { segment } => {
                let what = format!(
                    "nothing leads from segment `{}` to segment `{}`: it takes a [[repeater]] with a port on each",
                    name(segment),
                    name(&0)
                );
                self.wrong("segment", segment_at(segment), what)
            }
            TopologyError::Loop { repeater, segment } => {
                let what = format!(
                    "this repeater closes a loop at segment `{}`: between two segments there may be one way only",
                    name(segment)
                );
                self.wrong("repeater", repeater_at(repeater), what)
            }
            TopologyError::Ports { repeater, ports } => {
                let what = format!("a repeater with {ports} of its `ports` joins nothing: it takes two or more");
                self.wrong("repeater", repeater_at(repeater), what)
            }
            other => self.wrong("segment", segment_at(&0), other.to_string()),
        }
    }

    /// Each segment's name, and its length in bit times.
    fn named_segments(&self, bits: &dyn Fn(Length) -> f64) -> Result<Vec<NamedSegment>, PlanError> {
        if self.scenario.segment.is_empty() {
            let what = "topology `segments` needs a [[segment]] section for each segment".to_owned();
            return Err(self.wrong("topology", self.scenario.medium.topology.as_ref().map(Spanned::span), what));
        }
        let mut segments: Vec<NamedSegment> = Vec::new();
        for (index, section) in self.scenario.segment.iter().enumerate() {
            let given = section.get_ref();
            let name = given.name.as_ref().map_or_else(|| (index + 1).to_string(), |name| name.get_ref().clone());
            let span = given.name.as_ref().map_or_else(|| section.span(), Spanned::span);
            if let Some(other) = segments.iter().position(|other| other.name == name) {
                let other = &self.scenario.segment[other];
                let other = other.get_ref().name.as_ref().map_or_else(|| other.span(), Spanned::span);
                let line = self.place(Some(other)).map_or_else(String::new, |place| format!(" in line {}", place.line));
                let what = format!("`{name}` is the name of the segment{line} too: each needs its own");
                return Err(self.wrong("name", Some(span), what));
            }
            let Some(length) = &given.length else {
                let what = format!("segment `{name}` has no length: write it like `length = \"185 m\"`");
                return Err(self.wrong("segment", Some(section.span()), what));
            };
            let length = length.get_ref().0;
            segments.push(NamedSegment { name, end: bits(length), length });
        }
        Ok(segments)
    }

    /// The place `place` bit times from the end of a segment; `written` is how the scenario says it.
    fn place_on(
        segments: &[NamedSegment],
        segment: usize,
        place: f64,
        written: Option<Length>,
    ) -> Result<Place, String> {
        let NamedSegment { name, end, length } = &segments[segment];
        match written.filter(|_| place > *end) {
            Some(written) => Err(format!(
                "`{written}`: {} is beyond the end of segment `{name}` at {}: write `0 m` to `{length}`",
                bits_text(place),
                bits_text(*end)
            )),
            None => Ok(Place { segment, position: BitTimes::new(place.min(*end).round() as u64) }),
        }
    }

    /// Stations without a position are spread evenly along their segment, both ends used.
    fn places_on(
        &self,
        segments: &[NamedSegment],
        sections: &[StationSection],
        bits: &dyn Fn(Length) -> f64,
    ) -> Result<Vec<Place>, PlanError> {
        // Stations without a place are in order, evenly over the segments.
        let on = |(index, section): (usize, &StationSection)| match &section.segment {
            Some(name) => find(segments, name.get_ref()).map_err(|what| self.at("segment", name, what)),
            None => Ok(index * segments.len() / sections.len()),
        };
        let on: Vec<usize> = Self::all(sections.iter().enumerate().map(on))?;
        let mut before = vec![0_usize; segments.len()];
        let place = |(section, &segment): (&StationSection, &usize)| {
            let number = before[segment];
            before[segment] += 1;
            let last = on.iter().filter(|&&other| other == segment).count().saturating_sub(1).max(1);
            let even = segments[segment].end * number as f64 / last as f64;
            let place = section.position.as_ref().map_or(even, |position| bits(position.get_ref().0));
            let refuse = |what| self.wrong("position", section.position.as_ref().map(Spanned::span), what);
            let written = section.position.as_ref().map(|position| position.get_ref().0);
            Self::place_on(segments, segment, place, written).map_err(refuse)
        };
        Self::all(sections.iter().zip(&on).map(place))
    }
}

/// A place in bit times with up to two decimals, so that two places that differ do not look the same.
fn bits_text(bits: f64) -> String {
    let text = format!("{bits:.2}");
    format!("{} BT", text.trim_end_matches('0').trim_end_matches('.'))
}

fn find(segments: &[NamedSegment], name: &str) -> Result<usize, String> {
    segments.iter().position(|known| known.name == name).ok_or_else(|| {
        let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
        format!("`{name}` is no segment: write one of {}", names.join(", "))
    })
}
