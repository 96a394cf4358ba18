//! `ethbus up --background` of a scenario with several buses: a lab for each. The kernel is the bridge between them.

use super::super::down::take_down;
use super::super::{Outcome, draw_seed};
use super::background;
use crate::cli::args::{Format, UpArgs};
use crate::cli::windows::named;
use say::say;
use sim::scenario::plan::bridged::{Bridged, bus_lab_name};
use sim::scenario::plan::{Overrides, PlanError};
use std::process::ExitCode;

/// The buses of the scenario, if it has several and none of them is named. What is wrong with it the supervisor says.
pub fn of(args: &UpArgs) -> Option<Bridged> {
    // What is no file can be read once, by the supervisor.
    let scenario = args.file.scenario.as_deref().filter(|path| path.is_file() && args.bus.is_none())?;
    let overrides = Overrides::of(args.over.given()).ok()?;
    Bridged::read(scenario, &overrides, draw_seed().ok()?).ok()?
}

/// Brings the labs up one after the other. If one does not come up, those that did go down.
///
/// # Errors
/// An option that concerns one lab, or a supervisor that cannot be started.
pub fn start(args: &UpArgs, bridged: &Bridged) -> Outcome {
    refuse_of_one(args)?;
    let mut up: Vec<String> = Vec::new();
    for bus in bridged.coming_up() {
        let lab = bus_lab_name(&bridged.name, bus);
        let code = background::start(&["--bus", bus], (args.written.format == Format::Json).then_some(&*lab))?;
        if code != ExitCode::SUCCESS {
            for lab in up.iter().rev() {
                say(&format!("ethbus: lab {lab} goes down again\n"));
                take_down(lab)?;
            }
            return Ok(code);
        }
        up.push(lab);
    }
    Ok(ExitCode::SUCCESS)
}

/// Options that name a file, a port or an interface of one lab.
fn refuse_of_one(args: &UpArgs) -> Result<(), PlanError> {
    let (option, capture) = named(&args.windows);
    let others = [
        (option, capture.is_some()),
        ("--events", !args.traces.is_empty()),
        ("--keep", args.keep.is_some()),
        ("--metrics", args.metrics.is_some()),
        ("--lend", !args.lend.is_empty()),
    ];
    let Some((option, _)) = others.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let what = "it is for one lab, and the scenario has several buses: bring them up one by one with --bus";
    Err(PlanError::option(option, what.to_owned()))
}
