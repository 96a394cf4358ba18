//! Frames whose instants a scenario writes down.

use super::cuts::some_names;
use super::planner::Planner;
use crate::scenario::file::{FrameSection, StationSection};
use crate::settings::wrong::PlanError;
use crate::traffic::{ScriptedFrame, To};
use medium::{Config, Destination, Fault, Frame, Octets, StationId};
use toml::Spanned;

/// The shortest frame that can be written: addresses, type and FCS (802.3, 3.2). The medium pads it.
const SHORTEST: u32 = 18;
/// Unless said otherwise: the shortest frame of the standard.
const DEFAULT_SIZE: u32 = 64;

impl Planner<'_> {
    /// The frames of all `[[frame]]` sections.
    pub(super) fn script(
        &self,
        sections: &[StationSection],
        names: &[&str],
        medium: &Config,
    ) -> Result<Vec<ScriptedFrame>, PlanError> {
        Self::all(self.scenario.frame.iter().map(|section| self.scripted(section, sections, names, medium)))
    }

    fn scripted(
        &self,
        section: &Spanned<FrameSection>,
        sections: &[StationSection],
        names: &[&str],
        medium: &Config,
    ) -> Result<ScriptedFrame, PlanError> {
        let FrameSection { station, at, destination, size } = section.get_ref();
        let missing = |key: &str, what: &str| self.at("frame", section, format!("`{key}` is missing: {what}"));
        let name = station.as_ref().ok_or_else(|| missing("station", "write which station offers the frame"))?;
        let station = self.number("station", name, names)?.index();
        let at = at.as_ref().ok_or_else(|| missing("at", "write when it is offered, like `at = \"1ms\"`"))?;
        let at = at.get_ref().on_medium(medium.rate);
        let babbles = sections[station].fault.as_ref().is_some_and(|it| it.get_ref().0 == Some(Fault::Babble));
        let longest = if babbles { u32::from(u16::MAX) } else { medium.parameters.max_frame_size.get() };
        let octets = size.as_ref().map_or(DEFAULT_SIZE, |size| *size.get_ref());
        if let Some(size) = size.as_ref().filter(|_| !(SHORTEST..=longest).contains(&octets)) {
            let what = format!("{octets} octets are no frame here: write {SHORTEST} to {longest}");
            return Err(self.at("size", size, what));
        }
        let destination = self.destination(destination.as_ref(), station, names)?;
        let frame = Frame::new(Octets::new(octets), destination);
        Ok(ScriptedFrame { station, at, frame })
    }

    fn destination(
        &self,
        text: Option<&Spanned<String>>,
        own: usize,
        names: &[&str],
    ) -> Result<Destination, PlanError> {
        let number = |number: usize| Ok(Destination::Station(StationId::new(number as u16)));
        let Some(text) = text else {
            return if names.len() < 2 { Ok(Destination::Nobody) } else { number((own + 1) % names.len()) };
        };
        let read = self.whom(text.get_ref(), names);
        let read = read.map_err(|what| self.at("destination", text, format!("{what}: {}", some_names(names))));
        match read? {
            To::Next if names.len() < 2 => Ok(Destination::Nobody),
            To::Next => number((own + 1) % names.len()),
            To::All => Ok(Destination::All),
            To::Beyond(to) => Ok(Destination::Beyond(to)),
            To::Station(to) if to == own => {
                let what = format!("`{}` is the station itself: name another one", text.get_ref());
                Err(self.at("destination", text, what))
            }
            To::Station(to) => number(to),
            To::Random => {
                let what = "`random`: the destination of a frame that is written down is not drawn: write `next`, `broadcast` or a station's name";
                Err(self.at("destination", text, what.to_owned()))
            }
        }
    }
}
