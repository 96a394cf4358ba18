//! Attempts drawn on an axis of bit times; and the same for the diagram over place and time.
//!
//! ```text
//!             0       128     256     384
//!             |       |       |       |
//!   st1#4     ==============##########            as st2 hears it
//!   st3#1                   ##########==============
//! ```

use super::super::timeline::Axis;
use super::super::{Collision, Each, Meeting, Story, Transmission};
use super::air::{self, Signal};
use super::{Life, Try};
use medium::{BitInstant, BitTimes, FrameId, Kind, Method};
use sim::words::sentences::TIED;
use sim::words::units::group;

/// Attempts that are drawn: the last ones.
const DRAWN: usize = 6;
/// Signals of others that are drawn beside one attempt.
const OTHERS: usize = 8;

/// The last attempts, each as the place hears it that it is for.
pub fn rows(life: &Life) -> String {
    let first = life.tries.len().saturating_sub(DRAWN);
    let drawn: Vec<String> = life.tries[first..].iter().filter_map(|one| attempt(life, one)).collect();
    if drawn.is_empty() {
        return String::new();
    }
    let which = match first {
        0 => "Each attempt".to_owned(),
        _ => format!("The last {DRAWN} attempts"),
    };
    let letters = match life.air.config.method {
        Method::CsmaCa(_) => "= frame, r RTS, c CTS, a ACK, # where two overlap",
        _ => "= frame, # where two overlap",
    };
    format!("\n{which}, as the station hears it that it is for: {letters}\n{}", drawn.join("\n"))
}

fn attempt(life: &Life, one: &Try) -> Option<String> {
    let sent = one.parts.first()?;
    let place = sent.to.or_else(|| one.others.first().map(|other| other.place)).unwrap_or(sent.source);
    let others: Vec<&Signal> = one.others.iter().take(OTHERS).map(|other| &other.signal).collect();
    // A part may be heard elsewhere only: it is drawn where it was sent.
    let there = |signal: &Signal| life.air.there(signal, place).unwrap_or((signal.begin, signal.end));
    let all = || one.parts.iter().chain(others.iter().copied());
    let from = all().map(|signal| there(signal).0).min()?;
    let to = all().map(|signal| there(signal).1).max()?;
    let zero = there(sent).0;
    let axis = Axis::new(from, zero, BitInstant::new(to.get().saturating_sub(1)).max(zero));
    let mut rows: Vec<(String, Vec<&Signal>)> = vec![(life.name(life.frame), one.parts.iter().collect())];
    for &signal in &others {
        let name = life.name(signal.frame);
        match rows[1..].iter_mut().find(|(own, _)| *own == name) {
            Some((_, signals)) if signals.contains(&signal) => {}
            Some((_, signals)) => signals.push(signal),
            None => rows.push((name, vec![signal])),
        }
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "  attempt {}: 0 is t = {} BT at the place of {}, a column is {} BT\n",
        one.attempt,
        group(zero.get()),
        life.station(place),
        axis.unit()
    );
    text += &axis.ruler(zero, width);
    for (name, signals) in &rows {
        let mut cells = vec![' '; axis.columns()];
        for signal in signals {
            let (begin, end) = there(signal);
            let letter = match signal.what {
                air::What::Frame => '=',
                air::What::Rts => 'r',
                air::What::Cts => 'c',
                air::What::Ack => 'a',
            };
            paint(&mut cells, &axis, (begin, end), letter);
            for other in all().filter(|other| *other != *signal && life.air.meet_at(signal, other, place)) {
                let (since, until) = there(other);
                paint(&mut cells, &axis, (begin.max(since), end.min(until)), '#');
            }
        }
        let row: String = cells.into_iter().collect();
        text += &format!("  {name:width$}  {}\n", row.trim_end());
    }
    Some(text)
}

fn paint(cells: &mut [char], axis: &Axis, (from, to): (BitInstant, BitInstant), letter: char) {
    if to > from {
        cells[axis.column(from)..=axis.column(BitInstant::new(to.get() - 1))].fill(letter);
    }
}

/// The life as the diagram takes it: attempts that met others, or the last one.
pub fn story(life: &Life) -> Story {
    let collided: Vec<(u32, BitInstant, u64)> = life
        .steps
        .iter()
        .filter_map(|step| match step.kind() {
            Some(&Kind::Collision { attempt, episode, .. }) => Some((attempt, step.at, episode)),
            _ => None,
        })
        .collect();
    let meeting = |one: &Try| {
        let mut parts = one.parts.iter().map(|part| transmission(life, part, one.attempt));
        let mut own = parts.next()?;
        let collision = collided.iter().find(|(attempt, ..)| *attempt == one.attempt);
        own.collision = collision.map(|&(_, at, episode)| Collision { at, episode });
        let mut others: Vec<Transmission> = parts.collect();
        for other in &one.others {
            let other = transmission(life, &other.signal, other.signal.attempt);
            if !others.contains(&other) {
                others.push(other);
            }
        }
        Some(Meeting { own, others })
    };
    Story {
        frame: life.frame,
        destination: life.destination,
        fault: None,
        cut: None,
        steps: Vec::new(),
        meetings: life.tries.iter().filter_map(meeting).collect(),
        emulated: super::Emulated::default(),
        end: life.end,
        read_to: life.read_to,
        cut_short: None,
    }
}

fn transmission(life: &Life, signal: &Signal, attempt: u32) -> Transmission {
    let reached: Each = life.air.reached(signal);
    let everywhere = reached.iter().all(|reached| *reached);
    Transmission {
        frame: FrameId { station: signal.source, serial: signal.frame.serial },
        called: Some(life.signal(signal).replace(TIED, " ")),
        bare: matches!(life.air.config.method, Method::CsmaCa(_)),
        attempt,
        begin: signal.begin,
        burst: false,
        preamble: signal.begin,
        collision: None,
        end: Some(signal.end),
        extension: BitTimes::ZERO,
        fault: None,
        parted: (!everywhere).then_some(reached),
        deaf: None,
    }
}
