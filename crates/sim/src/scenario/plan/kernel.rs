//! The kernels of a virtual lab: the root file system, memory and programs of each station.

use super::planner::Planner;
use crate::scenario::file::{StationSection, span, value};
use crate::settings::wrong::PlanError;
use crate::words::program::Program;
use std::path::PathBuf;
use std::time::Duration;

/// A station's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPlan {
    /// The folder that is its root file system.
    pub root: PathBuf,
    /// The folder whose files it has in `/tmp/in`, if there is one.
    pub files: Option<PathBuf>,
    /// In MiB.
    pub memory: u64,
    /// What it runs.
    pub programs: Vec<Program>,
}

impl Planner<'_> {
    pub(super) fn kernel(&self, section: &StationSection) -> Result<KernelPlan, PlanError> {
        let common = &self.scenario.kernel;
        let root = section.root.as_ref().or(common.root.as_ref());
        let programs = section.run.as_ref().map_or(&[][..], |texts| texts.get_ref().as_slice());
        let read = |text: &String| {
            text.parse().map_err(|what| self.wrong("run", section.run.as_ref().map(toml::Spanned::span), what))
        };
        Ok(KernelPlan {
            root: root.map_or_else(|| "/".into(), |root| root.get_ref().into()),
            files: section.files.as_ref().or(common.files.as_ref()).map(|files| files.get_ref().into()),
            memory: value(&section.memory).or(value(&common.memory)).unwrap_or(48),
            programs: programs.iter().map(read).collect::<Result<_, PlanError>>()?,
        })
    }

    /// How long a read of the clock lasts. With less, a program that polls the clock would not come to the next instant.
    pub(super) fn clock_cost(&self) -> Result<Duration, PlanError> {
        const RANGE: std::ops::RangeInclusive<Duration> = Duration::from_nanos(100)..=Duration::from_millis(1);
        let given = &self.scenario.kernel.clock_cost;
        let cost = value(given).map_or(Duration::from_micros(5), |text| text.0);
        if RANGE.contains(&cost) {
            return Ok(cost);
        }
        Err(self.wrong(
            "clock_cost",
            span(given),
            format!("{cost:?}: write 100 ns to 1 ms, like `clock_cost = \"5us\"`"),
        ))
    }
}
