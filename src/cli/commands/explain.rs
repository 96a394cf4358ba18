//! `ethbus explain`: the life of one frame, told from an event log; and which frames there are to tell of.

use super::{CommandError, Outcome, print_result};
use crate::cli::args::ExplainArgs;
use crate::show::{plain_table, say};
use crate::study::explain::choice::{Ended, Pick, ended};
use crate::study::explain::diagram::draw;
use crate::study::explain::{ExplainError, Story, Wanted, contention, data, find, plca, tell};
use crate::study::plot::PlotError;
use sim::files::event_log::{EventLogReader, Header};
use sim::files::json_lines::ReadError;
use sim::files::output::{SVG, ready, replace};
use sim::scenario::plan::PlanError;
use sim::words::units::{group, many};
use std::path::Path;
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
    prove(&args.events)?;
    if args.list || (args.frame.is_none() && pick.is_none()) {
        if args.svg.is_some() {
            let what = "it draws one frame: say which with --frame or --pick, as in `--pick collisions=1`".to_owned();
            return Err(PlanError::option("--svg", what).into());
        }
        return list(args, &pick.unwrap_or_default());
    }
    args.svg.iter().try_for_each(|path| ready(path, SVG)).map_err(PlotError::from)?;
    let frame = match (&args.frame, &pick) {
        (Some(frame), _) => frame.clone(),
        (None, pick) => first(args, &pick.clone().unwrap_or_default())?,
    };
    let mut log = EventLogReader::open(&args.events)?;
    let wanted = Wanted::parse(&frame, args.station.as_deref(), log.header()).map_err(CommandError::Explain)?;
    if plca::of(log.header()).is_some() {
        let story = plca::find(&args.events, wanted).map_err(CommandError::Explain)?;
        if let Some(path) = &args.svg {
            replace(path, SVG, plca::draw_life(&story).as_bytes()).map_err(PlotError::from)?;
        }
        print_result(args.format, &plca::data(&story), |_| plca::tell(&story, log.header()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if contention::is_of(log.header()) {
        let life = contention::find(&mut log, wanted).map_err(CommandError::Explain)?;
        draw_to(args, &contention::story(&life), log.header(), frame)?;
        print_result(args.format, &contention::data(&life), |_| contention::tell(&life, log.header()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let story = find(&mut log, wanted).map_err(CommandError::Explain)?;
    draw_to(args, &story, log.header(), frame)?;
    print_result(args.format, &data(&story, log.header()), |_| tell(&story, log.header()))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a log once before it is told of, so that no sentence comes from lines that are not those that were written. One
/// that has no end yet is told of as far as it goes. A pipe can be read only once.
fn prove(path: &Path) -> Result<(), ReadError> {
    if !path.is_file() {
        return Ok(());
    }
    match EventLogReader::open(path)?.prove() {
        // What is told of the log says so, and where.
        Ok(None) | Err(ReadError::CutShort { .. }) => Ok(()),
        Ok(Some(why)) => {
            say(&format!("ethbus: {why}\n"));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Draws the frame's collisions to the file of `--svg`, if one is given.
fn draw_to(args: &ExplainArgs, story: &Story, header: &Header, frame: String) -> Result<(), CommandError> {
    let Some(path) = &args.svg else { return Ok(()) };
    let picture = draw(story, header).ok_or(CommandError::Explain(ExplainError::NeverSent { frame }))?;
    replace(path, SVG, picture.as_bytes()).map_err(PlotError::from)?;
    Ok(())
}

/// What goes wrong on a segment with PLCA.
fn segment(args: &ExplainArgs) -> Outcome {
    prove(&args.events)?;
    args.svg.iter().try_for_each(|path| ready(path, SVG)).map_err(PlotError::from)?;
    let diagnosis = plca::diagnose(&args.events).map_err(CommandError::Explain)?;
    if let Some(path) = &args.svg {
        let picture = plca::draw(&args.events, &diagnosis).map_err(CommandError::Explain)?;
        replace(path, SVG, picture.as_bytes()).map_err(PlotError::from)?;
    }
    print_result(args.format, &diagnosis, plca::told)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a frame is as --pick says, and of the station that --station names.
fn is_asked_for(args: &ExplainArgs, pick: &Pick, one: &Ended) -> bool {
    pick.is(one) && args.station.as_ref().is_none_or(|station| *station == one.station)
}

/// The first frame that is looked for.
fn first(args: &ExplainArgs, pick: &Pick) -> Result<String, CommandError> {
    let mut found = None;
    let mut most: Option<Ended> = None;
    look(args, |one| {
        if is_asked_for(args, pick, &one) {
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
            format!("the most that a frame has is {}, {}", many(most.collisions.into(), "collision"), most.frame)
        });
        let frame = format!("with {}", args.pick.as_deref().unwrap_or_default());
        CommandError::Explain(ExplainError::Absent { frame, there })
    })
}

/// The frames with most collisions; as data, all.
fn list(args: &ExplainArgs, pick: &Pick) -> Outcome {
    let mut frames = Vec::new();
    look(args, |one| {
        if is_asked_for(args, pick, &one) {
            frames.push(one);
        }
        true
    })?;
    print_result(args.format, &frames, |frames| told(frames))?;
    Ok(ExitCode::SUCCESS)
}

fn look(args: &ExplainArgs, visit: impl FnMut(Ended) -> bool) -> Result<(), ReadError> {
    ended(&mut EventLogReader::open(&args.events)?, visit)
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
    format!("{table}  {} of {}, those with most collisions first\n", count.min(LISTED), many(count as u64, "frame"))
}
