//! What a simulation gave of each class: the messages of a node with one priority. It must never know a bound.

use super::{rows, shown, us};
use serde::Serialize;
use sim::figures::messages::Observed;
use sim::scenario::messages::MessageTable;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A class.
#[derive(Debug, Serialize)]
pub(super) struct PlannedClass {
    node: String,
    priority: u8,
    frames: u64,
    response_p50_us: Option<f64>,
    response_p99_us: Option<f64>,
    response_max_us: f64,
}

/// The classes of all nodes, the highest of each first; nothing if every node sends in the order of release.
pub(super) fn classes(table: &MessageTable, seen: &[Observed]) -> Vec<PlannedClass> {
    if (0..table.nodes.len()).all(|node| !table.has_classes(node)) {
        return Vec::new();
    }
    let mut all: BTreeMap<(usize, Reverse<u8>), Observed> = BTreeMap::new();
    for (message, seen) in table.messages.iter().zip(seen) {
        let class = all.entry((message.node, Reverse(message.priority))).or_default();
        class.response.add(&seen.response);
        class.response_max = class.response_max.max(seen.response_max);
    }
    let class = |((node, Reverse(priority)), seen): ((usize, Reverse<u8>), Observed)| {
        let [p50, p99] = response_quantiles(&seen);
        PlannedClass {
            node: table.nodes[node].name.clone(),
            priority,
            frames: seen.response.total(),
            response_p50_us: p50,
            response_p99_us: p99,
            response_max_us: us(seen.response_max),
        }
    };
    all.into_iter().map(class).collect()
}

/// The median of responses and their 99th percentile, in microseconds.
pub(super) fn response_quantiles(seen: &Observed) -> [Option<f64>; 2] {
    seen.response.quantiles([0.5, 0.99], seen.response_max).map(|it| it.map(us))
}

/// A table of them.
pub(super) fn classes_text(classes: &[PlannedClass]) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let row = |class: &PlannedClass| {
        let times = [class.response_p50_us, class.response_p99_us, Some(class.response_max_us)].map(shown);
        let names = [class.node.clone(), class.priority.to_string(), class.frames.to_string()];
        names.into_iter().chain(times).collect()
    };
    let head = ["node", "priority", "frames", "p50 us", "p99 us", "highest us"];
    format!("\nThe same by priority:\n{}", rows(&head, classes.iter().map(row)))
}
