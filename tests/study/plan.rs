//! `ethbus plan`: bounds of message tables, and what simulations of them give.
//!
//! `ETHBUS_CASES=10000` draws more tables, `ETHBUS_SEED=2` others.

use backoff::Generator;
use ethbus::study::plan::bound::Analysis;
use ethbus::study::plan::simulate::simulate;
use medium::BitTimes;
use sim::scenario::messages::{Message, MessageTable, Node};

/// A number of the environment, or the usual one.
fn given(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Draws tables of all kinds.
struct Drawn(Generator);

impl Drawn {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn table(&mut self) -> MessageTable {
        let count = self.one_of(&[1, 2, 3, 4, 5, 6, 8, 12, 17, 24]);
        let (burst, slow) = (self.below(4) == 0, self.below(4) == 0);
        let nodes: Vec<Node> = (0..count).map(|number| self.node(number, burst, slow)).collect();
        let (phy_on, cable) = (self.one_of(&[0, 0, 4]), self.one_of(&[0.0, 0.0, 25.0]));
        let mut table = MessageTable {
            node_count: count as u8 + self.one_of(&[0, 0, 0, 1, 5]),
            to_timer: self.one_of(&[32, 32, 32, 24, 28, 60, 100, 255]),
            cable,
            phy_on,
            phy_off: if phy_on > 0 { self.one_of(&[4, 11]) } else { 0 },
            nodes,
            messages: Vec::new(),
        };
        let (load, most) = (self.one_of(&[0.1, 0.3, 0.5, 0.7, 0.9]), self.one_of(&[1, 2, 4]));
        let offered = 1 + self.below(count * most);
        let phases = self.below(3) == 0;
        for number in 0..offered {
            let message = self.message(number, count, load / offered as f64, phases);
            table.messages.push(message);
        }
        table
    }

    fn node(&mut self, number: u64, burst: bool, slow: bool) -> Node {
        Node {
            name: format!("n{number}"),
            id: number as u8,
            burst_count: if burst { self.one_of(&[0, 1, 3, 7]) } else { 0 },
            burst_timer: self.one_of(&[128, 128, 200, 97]),
            host_delay: if slow { self.one_of(&[0, 30, 400, 5000]) } else { 0 },
        }
    }

    fn message(&mut self, number: u64, nodes: u64, load: f64, phases: bool) -> Message {
        let octets = self.one_of(&[64, 64, 64, 100, 256, 800, 1518]);
        let burst = self.one_of(&[1, 1, 1, 1, 2, 5]);
        let period = (f64::from(8 * octets) * burst as f64 / load) as u64 / 10 * 10 + 10;
        Message {
            node: self.below(nodes) as usize,
            name: format!("m{number}"),
            octets,
            period,
            is_periodic: true,
            jitter: if self.below(2) == 0 { 0 } else { self.below(period * 2) },
            deadline: period,
            burst,
            phase: phases.then(|| self.below(period)),
        }
    }
}

/// No simulated wait or response is above its bound, whatever the table (docs/plan.md).
#[test]
fn no_simulated_value_is_above_its_bound() {
    let (seed, cases) = (given("ETHBUS_SEED", 1), given("ETHBUS_CASES", 300));
    println!("ETHBUS_SEED={seed} ETHBUS_CASES={cases}");
    let (mut closest, mut bounded, mut unbounded) = (0.0_f64, 0, 0);
    let mut parts = Vec::new();
    for case in 0..cases {
        let table = Drawn(Generator::stream(seed, case)).table();
        let bounds = Analysis::new(&table).bounds();
        let queue = bounds.iter().flatten().map(|bound| bound.backlog).max().unwrap_or(0);
        let observed = simulate(&table, queue, BitTimes::new(2_000_000), case).expect("a right table");
        for (at, (bound, seen)) in bounds.iter().zip(&observed).enumerate() {
            let Some(bound) = bound else {
                unbounded += 1;
                continue;
            };
            let response = bound.parts.response();
            let place = || format!("case {case} of ETHBUS_SEED={seed}, m{at} of {table:#?}\n{bound:?}");
            assert!(seen.response_max <= response, "{} BT is above {response} BT: {}", seen.response_max, place());
            assert!(
                seen.access_max <= bound.access,
                "{} BT is above {} BT: {}",
                seen.access_max,
                bound.access,
                place()
            );
            assert_eq!(seen.lost, 0, "{}", place());
            let part = seen.response_max as f64 / response as f64;
            parts.push(part);
            (closest, bounded) = (closest.max(part), bounded + 1);
        }
    }
    parts.sort_by(f64::total_cmp);
    let median = parts[parts.len() / 2];
    println!("{bounded} bounds, {unbounded} messages without; of the bound: median {median:.3}, most {closest:.3}");
}
