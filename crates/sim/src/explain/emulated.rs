//! What the emulator did to a frame of a live bus: how late it was, and whether the medium's time stood still meanwhile.

use crate::files::event_log::{Container, EmulatorEvent, EmulatorKind, Entry, EventLogReader};
use crate::words::lines::{list, wrap};
use crate::words::sentences::nanos;
use crate::words::units::group;
use medium::{BitInstant, BitTimes, Deed, FrameId};
use std::io::BufRead;
use std::sync::Arc;

/// Events that are kept at most: what an overloaded machine does to one frame and its time.
const MOST: usize = 10_000;

/// What there is to tell of one frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Emulated {
    own: Vec<EmulatorKind>,
    /// That of its sender, if it is one.
    container: Option<Arc<Container>>,
    slips: u64,
    slip_ns: u64,
}

/// Keeps an event that a frame asked for may have to do with.
pub(super) fn keep(events: &mut Vec<EmulatorEvent>, event: EmulatorEvent) {
    if events.len() < MOST {
        events.push(event);
    }
}

/// How much of the medium's time after a frame's end is looked through for what became of its copies, in seconds. Not the
/// whole trace, which may be of days.
const AFTERWARDS: u64 = 60;

/// A delivery can be late by more than the frame's life took, and so can the name of its sender's container: looks for
/// them in the medium's next minute.
///
/// A data plane that was stopped runs the medium through the stop before it tells of deliveries.
pub(super) fn read_on<R: BufRead>(
    log: &mut EventLogReader<R>,
    events: &mut Vec<EmulatorEvent>,
    frame: FrameId,
    now: BitInstant,
) {
    let limit = now + BitTimes::new(AFTERWARDS * log.header().config().rate.get());
    let mut is_there = true;
    loop {
        match log.next_entry() {
            Ok(Some(Entry::Medium(event))) if event.at > limit => return,
            Ok(Some(Entry::Deed { deed: Deed::Remove { station }, .. })) if station == frame.station => {
                is_there = false
            }
            Ok(Some(Entry::Emulator(event))) if is_there && event.kind.container_of() == Some(frame.station) => {
                keep(events, event);
            }
            Ok(Some(Entry::Medium(_) | Entry::Deed { .. })) => {}
            Ok(Some(Entry::Emulator(event))) if event.kind.frame() == Some(frame) => keep(events, event),
            Ok(Some(Entry::Emulator(_))) => {}
            // What is wrong with the trace after the frame's end does not matter to the frame.
            Ok(None) | Err(_) => return,
        }
    }
}

impl Emulated {
    /// Of all `events` those of this frame's life: from when to when that is, as far as it is known.
    pub(super) fn of<'a>(
        frame: FrameId,
        (begin, end): (Option<BitInstant>, Option<BitInstant>),
        events: impl Iterator<Item = &'a EmulatorEvent>,
    ) -> Emulated {
        let lives = |at: BitInstant| begin.is_some_and(|begin| begin <= at) && end.is_none_or(|end| at <= end);
        let mut emulated = Emulated::default();
        for event in events {
            match &event.kind {
                EmulatorKind::Slip { ns } if lives(event.at) => {
                    emulated.slips += 1;
                    emulated.slip_ns = emulated.slip_ns.saturating_add(*ns);
                }
                EmulatorKind::Container { station, container } if *station == frame.station => {
                    emulated.container.get_or_insert_with(|| container.clone());
                }
                kind if kind.frame() == Some(frame) => emulated.own.push(kind.clone()),
                _ => {}
            }
        }
        emulated
    }

    /// Which container the sender is, in words; nothing if it is none that is known.
    pub(super) fn sender(&self, name: &str) -> String {
        let told =
            |Container { name: container, id }: &Container| format!("{name} is the container {container} ({id})\n");
        self.container.as_deref().map_or_else(String::new, told)
    }

    /// In words; nothing if the emulator kept time.
    pub(super) fn tell(&self, names: &[String]) -> String {
        let mut sentences: Vec<String> = self.own.iter().filter_map(one).collect();
        let refused = |absent: bool| {
            let whom = self.own.iter().filter_map(|kind| match kind {
                EmulatorKind::Refused { station, absent: cause, .. } if *cause == absent => {
                    Some(names[station.index()].clone())
                }
                _ => None,
            });
            whom.collect::<Vec<String>>()
        };
        for (whom, why) in [(refused(true), "whose interface was gone or down"), (refused(false), "for another reason")]
        {
            if !whom.is_empty() {
                sentences.push(format!("The kernel refused the copies for {}, {why}.", list(&whom)));
            }
        }
        if self.slips > 0 {
            let times = if self.slips == 1 { "once".to_owned() } else { format!("{} times", group(self.slips)) };
            let for_how_long = nanos(self.slip_ns);
            sentences.push(format!(
                "While the frame was with its MAC the medium's time stood still {times}, for {for_how_long} in all."
            ));
        }
        if sentences.is_empty() {
            return String::new();
        }
        format!("\n{}", wrap("", 0, &format!("The emulator, not the medium: {}", sentences.join(" "))))
    }
}

fn one(kind: &EmulatorKind) -> Option<String> {
    Some(match *kind {
        EmulatorKind::LateArrival { ns, .. } => {
            format!("The frame came to the engine late: it counts as offered {} after its host sent it.", nanos(ns))
        }
        EmulatorKind::LateDelivery { ns, copies, .. } => {
            format!("{} copies were handed over {} after they were due.", group(copies), nanos(ns))
        }
        EmulatorKind::OverloadDrop { ns, copies, .. } => {
            format!("{} copies were dropped, as they were {} late already.", group(copies), nanos(ns))
        }
        _ => return None,
    })
}
