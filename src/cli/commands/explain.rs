//! `ethbus explain`: the life of one frame from a trace, and the list of frames.

use super::{CommandError, Outcome, print, print_result, result_text};
use crate::cli::args::{ExplainArgs, Format};
use crate::cli::pager;
use say::terminal::{fold_prose, output_columns};
use say::{plain_table, say};
use serde::Serialize;
use sim::explain::choice::{Ended, Pick, ended};
use sim::explain::{ExplainError, Wanted, data, draw, find, plca, tell, tell_segment};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::ReadError;
use sim::files::output::is_stdout_taken;
use sim::scenario::plan::PlanError;
use sim::words::lines::fit;
use sim::words::units::{group, many};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use study::plot::picture::{Kind, ready, write};

/// How many frames `--list` shows to people.
const LISTED: usize = 20;

/// Tells the life of a frame, or lists frames.
///
/// # Errors
/// A trace that is damaged before the frame's end, no such frame or more than one, or a text that cannot be written.
pub fn explain(args: &ExplainArgs) -> Outcome {
    output_columns().into_iter().for_each(fit);
    if args.segment {
        return segment(args);
    }
    let pick = args.pick.as_deref().map(Pick::parse).transpose();
    let pick = pick.map_err(|what| PlanError::option("--pick", what))?;
    prove(&args.input.trace)?;
    pick.as_ref().and_then(Pick::station).map_or(Ok(()), |station| check_station(args, station))?;
    if args.list || (args.frame.is_none() && pick.is_none()) {
        let of_one = [("--svg", args.svg.is_some()), ("--short", args.short)];
        if let Some((option, _)) = of_one.into_iter().find(|(_, given)| *given) {
            let what = "it is of one frame: say which with --frame or --pick, as in `--pick collisions=1`".to_owned();
            return Err(PlanError::option(option, what).into());
        }
        return list(args, &pick.unwrap_or_default());
    }
    args.svg.iter().try_for_each(|path| ready(path, Kind::Svg))?;
    let frame = match (&args.frame, &pick) {
        (Some(frame), _) => frame.clone(),
        (None, pick) => first(args, &pick.clone().unwrap_or_default())?,
    };
    let mut log = open(&args.input.trace)?;
    let wanted = Wanted::parse(&frame, log.header()).map_err(CommandError::Explain)?;
    let story = find(&mut log, wanted).map_err(CommandError::Explain)?;
    if let Some(path) = &args.svg {
        let picture = draw(&story).ok_or(CommandError::Explain(ExplainError::NeverSent { frame }))?;
        write(path, Kind::Svg, picture.as_bytes(), &log.header().configuration.seed().to_string())?;
    }
    show(args, &data(&story), |_| tell(&story))
}

/// Prints a text for people in lines as wide as the terminal, through a pager if it is longer than that; data as it is.
fn show<T: Serialize>(args: &ExplainArgs, data: &T, tell: impl FnOnce(&T) -> String) -> Outcome {
    let text = result_text(args.written.format, data, |data| {
        let text = tell(data);
        let text = if args.short { short(&text) } else { text };
        output_columns().map_or_else(|| text.clone(), |columns| fold_prose(&text, columns))
    });
    if args.written.format == Format::Json || is_stdout_taken() || !pager::shown(&text).map_err(CommandError::Output)? {
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a trace once before any sentence is printed, so that no sentence comes from changed lines. A trace without an end
/// is explained as far as it goes. A pipe can be read only once, so it is not read here.
fn prove(path: &Path) -> Result<(), ReadError> {
    if !path.is_file() {
        return Ok(());
    }
    match open(path)?.prove() {
        // The explanation says so, and where the trace ends.
        Ok(None) | Err(ReadError::CutShort { .. }) => Ok(()),
        Ok(Some(why)) => {
            say(&format!("ethbus: {why}\n"));
            Ok(())
        }
        // A line that cannot be read says more than the proof that some line was changed.
        Err(proof) => Err(unreadable(path).unwrap_or(proof)),
    }
}

fn unreadable(path: &Path) -> Option<ReadError> {
    let mut log = EventLogReader::open(path).ok()?;
    loop {
        match log.next_entry() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

/// Opens a trace that says what happened.
fn open(path: &Path) -> Result<EventLogReader<BufReader<File>>, ReadError> {
    let log = EventLogReader::open(path)?;
    log.needs_events("`ethbus explain`").map(|()| log)
}

/// Refuses a station that a trace does not have. A pipe can be read only once, so its stations are not read here.
fn check_station(args: &ExplainArgs, station: &str) -> Result<(), CommandError> {
    if !args.input.trace.is_file() {
        return Ok(());
    }
    let log = open(&args.input.trace)?;
    let stations = log.header().stations.clone();
    match stations.iter().any(|known| known == station) {
        true => Ok(()),
        false => Err(CommandError::Explain(ExplainError::Station { station: station.to_owned(), stations })),
    }
}

/// Which frame it is, and the last paragraph, which tells its life in short.
fn short(text: &str) -> String {
    let (first, _) = text.split_once('\n').unwrap_or((text, ""));
    let (_, last) = text.trim_end().rsplit_once("\n\n").unwrap_or(("", text));
    format!("{first}\n{}\n", last.trim_end())
}

/// What goes wrong on a segment with PLCA.
fn segment(args: &ExplainArgs) -> Outcome {
    prove(&args.input.trace)?;
    args.svg.iter().try_for_each(|path| ready(path, Kind::Svg))?;
    let diagnosis = plca::diagnose(&mut open(&args.input.trace)?).map_err(CommandError::Explain)?;
    if let Some(path) = &args.svg {
        let mut log = open(&args.input.trace)?;
        let picture = plca::draw(&mut log, &diagnosis).map_err(CommandError::Explain)?;
        write(path, Kind::Svg, picture.as_bytes(), &log.header().configuration.seed().to_string())?;
    }
    show(args, &diagnosis, tell_segment)
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
        if pick.is(&one) {
            frames.push(one);
        }
        true
    })?;
    print_result(args.written.format, &frames, |frames| told(frames))?;
    Ok(ExitCode::SUCCESS)
}

fn look(args: &ExplainArgs, visit: impl FnMut(Ended) -> bool) -> Result<(), ReadError> {
    ended(&mut open(&args.input.trace)?, visit)
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
