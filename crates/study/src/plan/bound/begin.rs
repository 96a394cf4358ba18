//! How a backlog of a node begins, and what is released in it.

use super::{LONGEST_BACKLOG, MOST_BEGINS};
use sim::scenario::messages::Message;

/// How a backlog of a node begins.
pub(super) struct Begin<'a> {
    /// The node's messages, by their place in the table.
    pub own: Vec<(usize, &'a Message)>,
    /// The instant by the node's clock, where all its messages have phases; otherwise all are released at once.
    pub at: Option<u64>,
}

impl Begin<'_> {
    /// The releases up to `span` after the begin, in order: instant and place of the message. Each is as early as the
    /// jitter of its message allows.
    pub fn releases(&self, span: u64) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        for (place, message) in &self.own {
            let phase = message.phase.filter(|_| self.at.is_some()).unwrap_or(0);
            // Of the releases that can be at the begin, the first one is as late as its jitter allows.
            let begin = self.at.unwrap_or(message.jitter);
            let first = begin.saturating_sub(phase + message.jitter).div_ceil(message.period);
            let releases = (first..).map(|number| (phase + number * message.period).saturating_sub(begin));
            for release in releases.take_while(|release| *release <= span) {
                all.extend((0..message.burst).map(|_| (release, *place)));
                if all.len() as u64 > LONGEST_BACKLOG {
                    break;
                }
            }
        }
        all.sort_unstable();
        all
    }

    /// The messages that may be released at `at` after the begin.
    pub fn may_come(&self, at: u64) -> impl Iterator<Item = (usize, &Message)> {
        let may = move |message: &Message| match (self.at, message.phase) {
            (Some(begin), Some(phase)) => {
                (begin + at).checked_sub(phase).is_some_and(|since| since % message.period <= message.jitter)
            }
            _ => true,
        };
        self.own.iter().filter(move |(_, message)| may(message)).map(|(place, message)| (*place, *message))
    }
}

/// When a backlog can begin, if the messages of a node all have a phase: as late as the jitter of one of them allows, in the
/// time after which all repeats. Nothing where a message has no phase, or that time has too many.
pub(super) fn begins(own: &[(usize, &Message)]) -> Option<Vec<u64>> {
    let again = common_period(own).filter(|_| have_phases(own))?;
    let first = own.iter().map(|(_, message)| message.phase.unwrap_or(0) + message.jitter).max()?;
    let mut begins: Vec<u64> = Vec::new();
    for (_, message) in own {
        let phase = message.phase.unwrap_or(0) + message.jitter;
        let numbers = (first - phase).div_ceil(message.period)..;
        let instants = numbers.map(|number| phase + number * message.period);
        begins.extend(instants.take_while(|at| *at <= first + again));
    }
    begins.sort_unstable();
    begins.dedup();
    Some(begins)
}

/// Phases say something: there are several messages, all periodic, and all have one.
pub(super) fn have_phases(own: &[(usize, &Message)]) -> bool {
    own.len() > 1 && own.iter().all(|(_, message)| message.phase.is_some() && message.is_periodic)
}

/// The time after which all repeats, unless too many instants are in it.
pub(super) fn common_period(own: &[(usize, &Message)]) -> Option<u64> {
    let again = own.iter().try_fold(1_u64, |all, (_, message)| lcm(all, message.period))?;
    let count =
        own.iter().fold(0_u64, |sum, (_, message)| sum.saturating_add(again / message.period).saturating_add(1));
    (count <= MOST_BEGINS).then_some(again)
}

fn lcm(one: u64, other: u64) -> Option<u64> {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one / a).checked_mul(other)
}
