//! The messages of the table that a lab runs, for people: what each took, beside bound and deadline.

use super::{NOT_MEASURED, plain_table};
use sim::figures::messages::{MessageResults, Suspension, Verdict};
use sim::figures::results::Results;
use sim::words::units::{group, many};

/// The part of the table that only a lab with a table of messages has.
pub fn plan(results: &Results) -> String {
    let Some(plan) = &results.plan else { return String::new() };
    let per_us = results.config.rate_bits_per_second as f64 / 1e6;
    let us = |bits: Option<u64>| bits.map_or(NOT_MEASURED.to_owned(), |bits| format!("{:.0}", bits as f64 / per_us));
    let rows = plan.messages.iter().map(|message| {
        [
            format!("{} {}", message.node, message.message),
            group(message.frames),
            us(Some(message.release_jitter_bt)),
            us(message.access_max_bt),
            us(message.response_max_bt),
            us(message.response_bound_bt),
            us(Some(message.deadline_bt)),
            verdict(message),
        ]
    });
    let head = ["message, us", "frames", "jitter", "access", "response", "bound", "deadline", "verdict"];
    let why = match plan.suspended {
        None => String::new(),
        Some(Suspension::Noise) => "  bounds             none: noise was at a node\n".to_owned(),
        Some(Suspension::PlcaStatus) => "  bounds             none: plca_status fell at a node\n".to_owned(),
        Some(Suspension::OtherFrames) => {
            let frames = many(plan.other_frames, "frame");
            format!("  bounds             none: {frames} on the bus that the table does not have\n")
        }
    };
    format!("{}{why}\n", plain_table(head, rows))
}

fn verdict(message: &MessageResults) -> String {
    match message.verdict {
        Verdict::Met => "met".to_owned(),
        Verdict::Missed => "missed".to_owned(),
        Verdict::Lost => format!("{} lost", group(message.lost)),
        Verdict::AboveBound => "above".to_owned(),
        Verdict::Nothing => "none".to_owned(),
    }
}
