//! What the rows tell of the cycles of PLCA.

use medium::{Config, Method};
use std::collections::{HashMap, HashSet};

/// The cycle under way.
#[derive(Debug)]
pub struct Cycle {
    /// Nothing has disturbed the turns, and nothing can.
    pub is_steady: bool,
    /// The latest turn that was taken.
    pub turn: Option<(u32, usize)>,
    /// When the frame of that turn is out.
    pub busy_until: u64,
    /// The latest frame that each station received of each other one.
    pub latest: HashMap<(usize, usize), u64>,
}

impl Cycle {
    pub fn new(config: &Config) -> Cycle {
        Cycle { is_steady: is_steady(config), turn: None, busy_until: 0, latest: HashMap::new() }
    }
}

/// Turns of this medium never meet.
fn is_steady(config: &Config) -> bool {
    let Method::Plca(own) = &config.method else { return false };
    let settings = || own.nodes.iter().map(|node| node.settings);
    let ids: HashSet<u8> = own.nodes.iter().flat_map(|node| node.ids()).collect();
    let all: usize = own.nodes.iter().map(|node| node.ids().count()).sum();
    let timer = settings().map(|it| it.to_timer).min().unwrap_or(0);
    let is_alike = settings().all(|it| it.to_timer == timer && it.enabled && it.node_id != 255);
    let count = settings().find(|it| it.node_id == 0).map_or(0, |it| it.node_count);
    let farthest = config.topology.longest_distance().get();
    let has_dynamic = own.nodes.iter().any(|node| node.dynamic.is_some());
    is_alike
        && all == ids.len()
        && ids.iter().all(|id| *id < count)
        && farthest * 2 < u64::from(timer)
        && !config.has_wrong_clocks()
        && !has_dynamic
        && config.seats == 0
}
