//! `ethbus explain`: the life of one frame, told from an event log; and which frames there are to tell of.

use super::{CommandError, Outcome, print, print_result};
use crate::cli::args::{ExplainArgs, Format};
use crate::show::plain_table;
use crate::study::explain::choice::{Ended, Pick, ended};
use crate::study::explain::diagram::draw;
use crate::study::explain::{ExplainError, Wanted, find, plca, tell};
use crate::study::plot::PlotError;
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::{LineReader, ReadError};
use sim::files::output::{SVG, replace};
use sim::scenario::plan::PlanError;
use sim::words::units::group;
use std::process::ExitCode;

/// How many frames `--list` shows to people.
const LISTED: usize = 20;

/// Tells the life of a frame, or lists frames.
///
/// # Errors
/// A log that is damaged before the frame's end, no such frame or more than one, or a text that cannot be written.
pub fn explain(args: &ExplainArgs) -> Outcome {
    if args.segment {
        return segment(args);
    }
    let pick = args.pick.as_deref().map(Pick::parse).transpose();
    let pick = pick.map_err(|what| PlanError::option("--pick", what))?;
    if args.list || (args.frame.is_none() && pick.is_none()) {
        if args.svg.is_some() {
            let what = "it draws one frame: say which with --frame or --pick, as in `--pick collisions=1`".to_owned();
            return Err(PlanError::option("--svg", what).into());
        }
        return list(args, &pick.unwrap_or_default());
    }
    if args.format == Format::Json {
        let what = "`json` goes with --list: the life of a frame is told in words".to_owned();
        return Err(PlanError::option("--format", what).into());
    }
    let frame = match (&args.frame, &pick) {
        (Some(frame), _) => frame.clone(),
        (None, pick) => first(args, &pick.clone().unwrap_or_default())?,
    };
    let mut log = EventLogReader::new(LineReader::open(&args.events)?)?;
    let wanted = Wanted::parse(&frame, args.station.as_deref(), log.header()).map_err(CommandError::Explain)?;
    if plca::of(log.header()).is_some() {
        let story = plca::find(&args.events, wanted).map_err(CommandError::Explain)?;
        if let Some(path) = &args.svg {
            replace(path, SVG, plca::draw_life(&story).as_bytes()).map_err(PlotError::from)?;
        }
        print(&plca::tell(&story, log.header()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let story = find(&mut log, wanted).map_err(CommandError::Explain)?;
    if let Some(path) = &args.svg {
        let picture = draw(&story, log.header()).ok_or(CommandError::Explain(ExplainError::NeverSent { frame }))?;
        replace(path, SVG, picture.as_bytes()).map_err(PlotError::from)?;
    }
    print(&tell(&story, log.header()))?;
    Ok(ExitCode::SUCCESS)
}

/// What goes wrong on a segment with PLCA.
fn segment(args: &ExplainArgs) -> Outcome {
    let diagnosis = plca::diagnose(&args.events).map_err(CommandError::Explain)?;
    if let Some(path) = &args.svg {
        let picture = plca::draw(&args.events, &diagnosis).map_err(CommandError::Explain)?;
        replace(path, SVG, picture.as_bytes()).map_err(PlotError::from)?;
    }
    print_result(args.format, &diagnosis, plca::told)?;
    Ok(ExitCode::SUCCESS)
}

/// The first frame that is looked for.
fn first(args: &ExplainArgs, pick: &Pick) -> Result<String, CommandError> {
    let mut found = None;
    let mut most: Option<Ended> = None;
    look(args, |one| {
        if pick.is(&one) {
            found = Some(one.frame);
            return false;
        }
        if most.as_ref().is_none_or(|most| most.collisions < one.collisions) {
            most = Some(one);
        }
        true
    })?;
    found.ok_or_else(|| {
        let there = most.map_or("no frame in it has ended".to_owned(), |most| {
            format!("the most that a frame has is {} collisions, {}", most.collisions, most.frame)
        });
        let frame = format!("with {}", args.pick.as_deref().unwrap_or_default());
        CommandError::Explain(ExplainError::Absent { frame, there })
    })
}

/// The frames with most collisions; as data, all.
fn list(args: &ExplainArgs, pick: &Pick) -> Outcome {
    let mut frames = Vec::new();
    look(args, |one| {
        let is_wanted = pick.is(&one) && args.station.as_ref().is_none_or(|station| *station == one.station);
        if is_wanted {
            frames.push(one);
        }
        true
    })?;
    print_result(args.format, &frames, |frames| told(frames))?;
    Ok(ExitCode::SUCCESS)
}

fn look(args: &ExplainArgs, visit: impl FnMut(Ended) -> bool) -> Result<(), ReadError> {
    ended(&mut EventLogReader::new(LineReader::open(&args.events)?)?, visit)
}

fn told(frames: &[Ended]) -> String {
    let mut shown: Vec<&Ended> = frames.iter().collect();
    shown.sort_by_key(|one| (std::cmp::Reverse(one.collisions), one.at_bt));
    let rows = shown.iter().take(LISTED).map(|one| {
        [
            one.frame.clone(),
            one.collisions.to_string(),
            one.end.to_owned(),
            group(one.at_bt),
            one.mac_delay_bt.map_or("–".to_owned(), group),
        ]
    });
    let table = plain_table(["frame", "collisions", "end", "at BT", "MAC delay BT"], rows);
    let count = frames.len();
    format!("{table}  {} of {} frames, those with most collisions first\n", count.min(LISTED), group(count as u64))
}
