//! What a scenario does to stations and cable while the medium runs: `[[at]]`, and the cuts of `[[cut]]` among them.

use super::cuts::some_names;
use super::{CutPlan, PlanError, Planner};
use crate::scenario::file::AtSection;
use crate::settings::values::FaultText;
use crate::words::cable::Cut;
use crate::words::fault::FaultName;
use medium::{BitInstant, Config, Input, Place, StationId};
use toml::Spanned;

/// The place of a change in the file, so that an error can name a change that contradicts those before it.
type Written<'a> = (BitInstant, Input, Option<&'a Spanned<AtSection>>);

impl Planner<'_> {
    /// All changes in order of time, `cuts` among them; at one instant in the order in which they are written, cuts first.
    pub(super) fn changes(
        &self,
        names: &[&str],
        medium: &Config,
        cuts: &[CutPlan],
    ) -> Result<Vec<(BitInstant, Input)>, PlanError> {
        let own = Self::all(self.scenario.at.iter().map(|section| self.change(section, names, medium)))?;
        let mut all: Vec<Written> = cable(cuts).map(|(at, cut)| (at, Input::SetCut { cut }, None)).collect();
        all.extend(own.into_iter().flatten());
        all.sort_by_key(|(at, ..)| *at);
        let mut is_cut = false;
        for (_, input, section) in &all {
            let Input::SetCut { cut } = input else { continue };
            if let Some(section) = section.filter(|_| is_cut == cut.is_some()) {
                let what = if is_cut {
                    "a cable has one cut at a time, and it is cut already then: mend it before, with `mend = true`"
                } else {
                    "the cable is whole then: leave this section out, or cut the cable before"
                };
                return Err(self.at("at", section, what.to_owned()));
            }
            is_cut = cut.is_some();
        }
        Ok(all.into_iter().map(|(at, input, _)| (at, input)).collect())
    }

    fn change<'a>(
        &self,
        section: &'a Spanned<AtSection>,
        names: &[&str],
        medium: &Config,
    ) -> Result<Vec<Written<'a>>, PlanError> {
        let AtSection { time, station, fault, cut, mend, plug, unplug, plca } = section.get_ref();
        let missing = "`time` is missing: write when it happens, like `time = \"1s\"`";
        let time = time.as_ref().ok_or_else(|| self.at("at", section, missing.to_owned()))?;
        let at = time.get_ref().on_medium(medium.rate);
        let mend = mend.as_ref().filter(|mend| *mend.get_ref());
        let given = [fault.is_some(), cut.is_some(), mend.is_some(), plug.is_some(), unplug.is_some(), plca.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            let what = "one thing happens in each section: write one of `fault`, `plca`, `cut`, `mend = true`, `plug` and `unplug`";
            return Err(self.at("at", section, what.to_owned()));
        }
        if let Some(station) = station.as_ref().filter(|_| fault.is_none() && plca.is_none()) {
            let what =
                "it belongs to `fault` and `plca`: leave it out, or write `plug` or `unplug` with the station's name"
                    .to_owned();
            return Err(self.at("station", station, what));
        }
        if let Some(plca) = plca {
            let missing = "`station` is missing: write whose PLCA it is, like `station = \"st1\"`".to_owned();
            let station = station.as_ref().ok_or_else(|| self.at("at", section, missing))?;
            let station = self.number("station", station, names)?;
            return Ok(vec![(at, self.set_plca(plca, station, medium)?, Some(section))]);
        }
        if let Some(fault) = fault {
            let faults = self.set_fault(section, fault, station.as_ref(), names)?;
            return Ok(faults.into_iter().map(|input| (at, input, Some(section))).collect());
        }
        let input = match (cut, plug, unplug) {
            (Some(between), ..) => {
                Input::SetCut { cut: Some(self.place_between("cut", section, between.get_ref(), names, medium)?) }
            }
            (_, Some(station), _) => Input::Attach { station: self.number("plug", station, names)? },
            (_, _, Some(station)) => Input::Detach { station: self.number("unplug", station, names)? },
            (None, None, None) => Input::SetCut { cut: None },
        };
        Ok(vec![(at, input, Some(section))])
    }

    /// A fault of one station, or of all.
    fn set_fault(
        &self,
        section: &Spanned<AtSection>,
        fault: &Spanned<FaultText>,
        station: Option<&Spanned<String>>,
        names: &[&str],
    ) -> Result<Vec<Input>, PlanError> {
        let fault = fault.get_ref().0;
        if let Some(station) = station {
            return Ok(vec![Input::SetFault { station: self.number("station", station, names)?, fault }]);
        }
        let of_all = fault.map(|fault| FaultName(fault).of_all()).transpose();
        let missing = |what| format!("`station` is missing, and {what}: write whose it is, like `station = \"st1\"`");
        let fault = of_all.map_err(|what| self.at("at", section, missing(what)))?.map(|FaultName(fault)| fault);
        let all = (0..names.len() as u16).map(StationId::new);
        Ok(all.map(|station| Input::SetFault { station, fault }).collect())
    }

    /// The station that `key` names.
    pub(super) fn number(&self, key: &str, name: &Spanned<String>, names: &[&str]) -> Result<StationId, PlanError> {
        let found = names.iter().position(|known| known == name.get_ref());
        let unknown = || format!("`{}` is no station: write {}", name.get_ref(), some_names(names));
        found.map(|number| StationId::new(number as u16)).ok_or_else(|| self.at(key, name, unknown()))
    }

    /// Halfway between two stations that `key` of `section` names.
    pub(super) fn place_between<T>(
        &self,
        key: &str,
        section: &Spanned<T>,
        between: &[Spanned<String>],
        names: &[&str],
        medium: &Config,
    ) -> Result<Place, PlanError> {
        let [one, other] = between else {
            let what = format!("a cut is between two stations: write `{key} = [\"st1\", \"st2\"]`");
            return Err(self.at(key, section, what));
        };
        let stations = [self.number(key, one, names)?.index(), self.number(key, other, names)?.index()];
        let cut = Cut::between(&medium.topology, [one.get_ref(), other.get_ref()], stations);
        cut.map(Place::from).map_err(|what| self.at(key, one, what))
    }
}

/// What `[[cut]]` sections do to the cable: cut at a place, or mended.
fn cable(cuts: &[CutPlan]) -> impl Iterator<Item = (BitInstant, Option<Place>)> {
    cuts.iter().flat_map(|cut| {
        let mended = cut.until.map(|until| (until, None));
        [Some((cut.from, Some(cut.place))), mended].into_iter().flatten()
    })
}
