//! The search for the assignment with the largest slack: node ids, burst counts up to those of the table, and phases of the
//! messages of one node. It must never know what a bound consists of.

use super::bound::Analysis;
use backoff::Generator;
use serde::Serialize;
use sim::scenario::messages::MessageTable;

/// Phases of a message that are compared: parts of its period.
const PHASES: u64 = 8;

/// How far a search went, and what it found.
#[derive(Clone, Debug, Serialize)]
pub struct Searched {
    /// Assignments that were compared.
    pub tried: u64,
    /// Assignments that there are; more than 2^53 are rounded.
    pub of: f64,
    /// Every assignment was compared.
    pub exhaustive: bool,
    /// The seed of the draws, where not all were compared.
    pub seed: u64,
    /// The smallest slack of the table as it is, as a part of its deadline; none without a bound.
    pub before: Option<f64>,
    /// The same of the assignment that was found.
    pub after: Option<f64>,
}

/// What is changed: digits of an assignment's number.
struct Space {
    /// Messages that can have a phase: those of nodes that have several, all of them periodic.
    phased: Vec<usize>,
    /// Node numbers whose burst count can be lower.
    bursting: Vec<usize>,
    nodes: usize,
}

impl Space {
    fn of(table: &MessageTable) -> Space {
        let own = |node: usize| table.messages.iter().filter(move |message| message.node == node);
        let can = |node: usize| own(node).count() > 1 && own(node).all(|message| message.is_periodic);
        let phased = (0..table.messages.len()).filter(|&at| can(table.messages[at].node)).collect();
        let bursting = (0..table.nodes.len()).filter(|&node| table.nodes[node].burst_count > 0).collect();
        Space { phased, bursting, nodes: table.nodes.len() }
    }

    fn size(&self, table: &MessageTable) -> f64 {
        let ids: f64 = (1..=self.nodes).map(|number| number as f64).product();
        let bursts: f64 = self.bursting.iter().map(|&node| f64::from(table.nodes[node].burst_count) + 1.0).product();
        ids * bursts * (PHASES as f64).powi(self.phased.len() as i32)
    }

    /// Assignment `number` of all.
    fn assigned(&self, table: &MessageTable, mut number: u64) -> MessageTable {
        let mut digit = |of: u64| {
            let digit = number % of;
            number /= of;
            digit
        };
        let mut changed = table.clone();
        let mut ids: Vec<u8> = table.nodes.iter().map(|node| node.id).collect();
        ids.sort_unstable();
        for node in &mut changed.nodes {
            let place = digit(ids.len() as u64) as usize;
            node.id = ids.remove(place);
        }
        for &node in &self.bursting {
            changed.nodes[node].burst_count = digit(u64::from(table.nodes[node].burst_count) + 1) as u8;
        }
        for &at in &self.phased {
            set_phase(&mut changed, at, digit(PHASES));
        }
        changed
    }

    /// `table` with one thing changed at random; burst counts are no higher than in `given`.
    fn neighbour(&self, table: &MessageTable, given: &MessageTable, draws: &mut Generator) -> MessageTable {
        let mut below = |limit: usize| (draws.next_u64() % limit.max(1) as u64) as usize;
        let mut changed = table.clone();
        match below(3) {
            1 if !self.bursting.is_empty() => {
                let node = self.bursting[below(self.bursting.len())];
                changed.nodes[node].burst_count = below(usize::from(given.nodes[node].burst_count) + 1) as u8;
            }
            2 if !self.phased.is_empty() => {
                // All messages of a node have a phase, or none counts.
                self.phased.iter().for_each(|&at| {
                    changed.messages[at].phase.get_or_insert(0);
                });
                let at = self.phased[below(self.phased.len())];
                set_phase(&mut changed, at, below(PHASES as usize) as u64);
            }
            _ => {
                let (one, other) = (below(self.nodes), below(self.nodes));
                let ids = (changed.nodes[one].id, changed.nodes[other].id);
                (changed.nodes[other].id, changed.nodes[one].id) = ids;
            }
        }
        changed
    }
}

fn set_phase(table: &mut MessageTable, at: usize, part: u64) {
    let message = &mut table.messages[at];
    message.phase = Some(message.period / PHASES * part);
}

/// Compares up to `most` assignments of `table`: all, if there are no more; otherwise a walk that goes to a random neighbour
/// where that is no worse, and begins anew from the table in each quarter.
pub fn search(table: &MessageTable, most: u64, seed: u64) -> (MessageTable, Searched) {
    let space = Space::of(table);
    let size = space.size(table);
    let exhaustive = size <= most as f64;
    let before = slack(table);
    let (mut best, mut after) = (table.clone(), before);
    let mut draws = Generator::new(seed);
    let (mut here, mut here_slack) = (table.clone(), before);
    let tried = if exhaustive { size as u64 } else { most };
    for number in 0..tried {
        let next = if exhaustive { space.assigned(table, number) } else { space.neighbour(&here, table, &mut draws) };
        let found = slack(&next);
        if found > after {
            (best, after) = (next.clone(), found);
        }
        if found >= here_slack {
            (here, here_slack) = (next, found);
        }
        if number > 0 && number % (most / 4).max(1) == 0 {
            (here, here_slack) = (table.clone(), before);
        }
    }
    (best, Searched { tried, of: size, exhaustive, seed, before, after })
}

/// The smallest slack of a table, as a part of its deadline; nothing if a message has no bound, which is less than any.
fn slack(table: &MessageTable) -> Option<f64> {
    let bounds = Analysis::new(table).bounds();
    let parts = table.messages.iter().zip(bounds).map(|(message, bound)| {
        let deadline = message.deadline as f64;
        Some((deadline - bound?.parts.response() as f64) / deadline)
    });
    parts.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
}
