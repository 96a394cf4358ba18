//! `ethbus plan`: bounds of message tables, and what simulations of them give.
//!
//! `ETHBUS_CASES=10000` draws more tables, `ETHBUS_SEED=2` others.

use crate::common::given;
use crate::common::process::{Finished, ethbus, run};
use backoff::Generator;
use medium::{BitTimes, HostDelay, MacPhy};
use sim::scenario::messages::{Message, MessageTable, Node};
use study::plan::bound::Analysis;
use study::plan::simulate::simulate;

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
        // The last draw: the tables of seeds are those without priorities, but for these.
        if self.below(2) == 0 {
            table.messages.iter_mut().for_each(|message| message.priority = self.one_of(&[0, 3, 7]));
        }
        table
    }

    fn node(&mut self, number: u64, burst: bool, slow: bool) -> Node {
        Node {
            name: format!("n{number}"),
            id: number as u8,
            burst_count: if burst { self.one_of(&[0, 1, 3, 7]) } else { 0 },
            burst_timer: self.one_of(&[128, 128, 200, 97]),
            host_delay: HostDelay::fixed(BitTimes::new(if slow { self.one_of(&[0, 30, 400, 5000]) } else { 0 })),
            macphy: None,
            skipped_turns: 0,
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
            priority: 0,
            idle_slope: None,
        }
    }

    /// Gives some of the slow hosts a range of delays, and some of those without classes a MAC-PHY.
    fn hosts(&mut self, table: &mut MessageTable) {
        for number in 0..table.nodes.len() {
            let node = &mut table.nodes[number];
            if node.host_delay.is_none() {
                continue;
            }
            let most = node.host_delay.most.get();
            node.host_delay.least = BitTimes::new(self.one_of(&[0, most / 4, most, most]));
            if self.below(2) == 0 && !table.has_classes(number) {
                table.nodes[number].macphy = Some(self.macphy());
            }
        }
    }

    /// One that holds every frame, and is fast enough.
    fn macphy(&mut self) -> MacPhy {
        let chunk = self.one_of(&[32, 64]);
        let macphy = MacPhy {
            chunk,
            transfer: self.one_of(&[0, 0, 8, 48]),
            credits: self.one_of(&[48, 49, 60, 200]),
            threshold: self.one_of(&[1, 4, 16]),
            ..MacPhy::new(self.one_of(&[1_000_000, 8_000_000, 25_000_000]))
        };
        let cut_through = self.one_of(&[None, Some(1), Some(2), Some(4)]);
        MacPhy { cut_through: cut_through.filter(|_| !macphy.is_slower_than_the_line()), ..macphy }
    }

    /// Makes some nodes of some tables skip turns.
    fn skips(&mut self, table: &mut MessageTable) {
        if self.below(6) == 0 {
            table.nodes.iter_mut().for_each(|node| node.skipped_turns = self.one_of(&[0, 0, 1, 3]));
        }
    }

    /// Gives some classes a shaper that lets through a little more than they offer, or much more, or less.
    fn shape(&mut self, table: &mut MessageTable) {
        for (node, priority) in (0..table.nodes.len()).flat_map(|node| [0, 3, 7].map(|priority| (node, priority))) {
            let factor = self.one_of(&[0.0, 0.0, 0.9, 1.1, 1.3, 2.0, 5.0]);
            let of_class = |message: &&mut Message| (message.node, message.priority) == (node, priority);
            let offered = |message: &mut Message| (message.packet() * message.burst) as f64 / message.period as f64;
            let share: f64 = table.messages.iter_mut().filter(of_class).map(offered).sum();
            let slope = (share * factor * 1e7).min(1e7) as u64;
            let slope = (slope > 0).then_some(slope);
            table.messages.iter_mut().filter(of_class).for_each(|message| message.idle_slope = slope);
        }
    }
}

/// A table with one right message, one that is late, and one without a bound.
const TABLE: &str = "node,name,octets,period,deadline\n\
    a,right,64,10 ms,10 ms\n\
    b,late,1518,10 ms,1 ms\n\
    c,flood,1518,1 ms,1 ms\n";

fn planned(folder: &tempfile::TempDir, text: &str, options: &[&str], code: i32) -> Finished {
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).expect("a table");
    let path = path.display().to_string();
    let answer = run(ethbus([&["plan", &path], options].concat()));
    assert_eq!(answer.code(), Some(code), "{}", answer.stderr);
    answer
}

/// All three forms say the same of each message, and the exit code agrees with the verdicts.
#[test]
fn text_csv_and_json_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |format| planned(&folder, TABLE, &["--duration", "100ms", "--format", format], 1).stdout;
    let json: serde_json::Value = serde_json::from_str(&of("json")).expect("JSON");
    let csv = of("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let text = of("table");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let header = reader.headers().expect("a header").clone();
    assert_eq!(rows.len(), 3);
    for ((row, message), verdict) in
        rows.iter().zip(json["messages"].as_array().expect("three")).zip(["met", "missed", "no bound"])
    {
        let field = |name: &str| &row[header.iter().position(|it| it == name).expect("a column")];
        assert_eq!((field("verdict"), &message["verdict"]), (verdict, &serde_json::json!(verdict)));
        for name in ["period_us", "access_us", "response_us", "deadline_us", "slack_us"] {
            let value = message[name].as_f64().map_or(String::new(), |value| value.to_string());
            assert_eq!(field(name), value, "{name} of {message}");
        }
        assert_eq!(field("simulated_frames"), message["simulated"]["frames"].to_string());
        let shown = message["response_us"].as_f64().map_or("-".to_owned(), |value| format!("{value:.1}"));
        let name = message["message"].as_str().expect("a name");
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(name)).expect("a line");
        assert_eq!(line.split_whitespace().nth(4), Some(&shown[..]), "{line}");
        assert!(line.ends_with(verdict), "{line}");
        let parts: f64 = message["parts"].as_object().map_or(0.0, |parts| {
            parts.iter().filter(|(name, _)| name.ends_with("_us")).map(|(_, part)| part.as_f64().expect("a time")).sum()
        });
        assert!((parts - message["response_us"].as_f64().unwrap_or(0.0)).abs() < 1e-6, "{message}");
    }
    assert!(text.ends_with("\n2 of 3 messages: no guarantee.\n"), "{text}");
    assert_eq!(planned(&folder, &TABLE[..TABLE.find("b,").expect("b")], &[], 0).stderr, "");
}

/// A warning names phases that are not used; a common multiple of 2^62 BT overflowed once.
#[test]
fn phases_that_are_not_used_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    for (periods, is_told, code) in [
        (&["10 ms", "20 ms"][..], false, 0),
        (&["10007 us", "9973 us"], true, 0),
        (&["1 BT", "1 BT", "1 BT", "1 BT", "1 BT", "2147483647 BT", "2147483629 BT"], true, 1),
    ] {
        let row = |(at, period): (usize, &&str)| format!("a,m{at},64,{period},0 ms,1 s\n");
        let rows: String = periods.iter().enumerate().map(row).collect();
        let told = planned(&folder, &format!("node,name,octets,period,phase,deadline\n{rows}"), &[], code).stderr;
        assert_eq!(told.contains("warning: a: its phases are not used"), is_told, "{periods:?}: {told}");
    }
}

/// One node with a short message among long ones, which come three at a time.
const MIXED: &str = "node,name,octets,period,burst,priority\n\
    a,short,64,7 ms,1,7\n\
    a,long,1518,10 ms,3,0\n\
    b,other,1518,10 ms,1,\n";

/// The short message waits for one long frame of its node at most; without priorities for all three. A long frame takes
/// 12,208 BT.
#[test]
fn a_frame_of_high_priority_waits_for_one_lower_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |text: &str| -> serde_json::Value {
        let answer = planned(&folder, text, &["--duration", "2s", "--format", "json"], 0);
        serde_json::from_str(&answer.stdout).expect("JSON")
    };
    let (first, equal) = (of(MIXED), of(&MIXED.replace("1,7\n", "1,0\n")));
    let [short, long] = [0, 1].map(|message| &first["messages"][message]);
    assert_eq!((short["priority"].as_u64(), long["priority"].as_u64()), (Some(7), Some(0)));
    assert!(equal["messages"][0]["priority"].is_null() && first["messages"][2]["priority"].is_null());
    let long_frame = 1220.8;
    let response = |message: &serde_json::Value| message["response_us"].as_f64().expect("a bound");
    assert_eq!(short["parts"]["backlog"], 2);
    let lines = |format| planned(&folder, MIXED, &["--format", format], 0).stdout;
    let (text, csv) = (lines("table"), lines("csv"));
    let of_short = |line: &&str| line.contains("short");
    let row = text.lines().find(of_short).expect("a line").split_whitespace().take(4).collect::<Vec<_>>();
    assert_eq!(row, ["a", "short", "64", "7"], "{text}");
    assert!(csv.lines().find(of_short).is_some_and(|line| line.ends_with(",7")), "{csv}");
    assert!(response(&equal["messages"][0]) - response(short) > 2.0 * long_frame, "{equal}{first}");
    // What comes before: the long frame under way, and one of the other node before each of both.
    let seen = |plan: &serde_json::Value| plan["messages"][0]["simulated"]["response_max_us"].as_f64().expect("frames");
    assert!(seen(&first) < 3.5 * long_frame, "{}", seen(&first));
    assert!(seen(&first) <= response(short) && seen(&first) < seen(&equal), "{first}{equal}");
}

/// The bound of a high priority needs no bound of a lower one.
#[test]
fn a_lower_priority_without_a_bound_leaves_the_higher_one_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let flood = MIXED.replace("10 ms,3", "1 ms,3");
    let json: serde_json::Value =
        serde_json::from_str(&planned(&folder, &flood, &["--format", "json"], 1).stdout).expect("JSON");
    let verdict = |message: usize| json["messages"][message]["verdict"].clone();
    assert_eq!((verdict(0), verdict(1)), ("met".into(), "no bound".into()), "{json}");
}

/// Credit is zero again after the time in which the slope gives as many bits as the first frame had, 4 * 12,208 BT. Then
/// the second one follows.
#[test]
fn a_shaped_class_sends_no_faster_than_its_slope() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "node,name,octets,period,burst,phase,idle-slope\na,camera,1518,100 ms,2,0 ms,25 %\n";
    let answer = planned(&folder, text, &["--duration", "2s", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let message = &json["messages"][0];
    let seen = message["simulated"]["response_max_us"].as_f64().expect("frames");
    let long_frame = 1220.8;
    assert!((5.0 * long_frame..5.1 * long_frame).contains(&seen), "{seen}");
    // The bound knows no phase: credit may be as low as after a long frame.
    let shaper = message["parts"]["shaper_us"].as_f64().expect("a part");
    assert!((shaper - 7.0 * long_frame).abs() < 0.2, "{shaper}");
    assert_eq!(message["idle_slope"], 2_500_000);
    assert_eq!(json["classes"][0]["response_max_us"].as_f64(), Some(seen));
}

/// A shaper at a burst of long frames lets a lower frame through between them.
#[test]
fn a_shaper_lets_lower_frames_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let highest = |slope: &str| -> f64 {
        let text = format!(
            "node,name,octets,period,burst,phase,priority,idle-slope\n\
             a,camera,1518,50 ms,5,0 ms,3,{slope}\na,door,64,11 ms,1,,0,\n"
        );
        let answer = planned(&folder, &text, &["--duration", "5s", "--format", "json"], 0);
        let json: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
        assert_eq!(json["classes"].as_array().map(Vec::len), Some(2), "{json}");
        json["messages"][1]["simulated"]["response_max_us"].as_f64().expect("frames")
    };
    let (shaped, plain) = (highest("40 %"), highest(""));
    assert!(shaped < 2.2 * 1220.8 && plain > 3.0 * 1220.8, "{shaped} {plain}");
}

/// A node with a MAC-PHY behind SPI sends a long frame that is transferred first, and another node a short one.
const MAC_PHY: &str = r#"
[[node]]
name = "a"
host-delay = "2us..8us"
spi-clock = "25 MHz"
spi-transfer = 2
[[node]]
name = "b"
[[message]]
node = "a"
name = "long"
octets = 1518
period = "10 ms"
[[message]]
node = "b"
name = "short"
octets = 64
period = "3 ms"
"#;

/// Its bound has the host's delay, the transfer under way, and 24 chunks of 218 BT; a simulated frame has the chunks.
#[test]
fn a_mac_phy_is_a_part_of_the_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table.toml");
    std::fs::write(&path, MAC_PHY).expect("a table");
    let path = path.display().to_string();
    let answer = run(ethbus(["plan", &path, "--duration", "1s", "--format", "json"]));
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let long = &json["messages"][0];
    assert_eq!(long["parts"]["host_us"].as_f64(), Some(f64::from(80 + (2 + 24) * 218) / 10.0), "{long}");
    assert_eq!(json["messages"][1]["parts"]["host_us"].as_f64(), Some(0.0));
    let seen = long["simulated"]["response_max_us"].as_f64().expect("frames");
    let bound = long["response_us"].as_f64().expect("a bound");
    assert!(seen <= bound && seen > f64::from(20 + 24 * 218 + 12_208) / 10.0, "{seen} of {bound}");
    let scenario = run(ethbus(["plan", &path, "--scenario"]));
    assert!(scenario.succeeded().stdout.contains("plca.spi-clock = \"25 MHz\""));
}

/// The frames of a burst arrive together, also where the table has no phase. They had phases of their own once: then none
/// of four short frames a second waited for another.
#[test]
fn the_frames_of_a_burst_arrive_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "node,name,octets,period,burst\na,m,1518,250 ms,4\n";
    let answer = planned(&folder, text, &["--duration", "10s", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let simulated = &json["messages"][0]["simulated"];
    let long_frame = 1220.8;
    let highest = simulated["response_max_us"].as_f64().expect("frames");
    assert!((4.0 * long_frame..4.1 * long_frame).contains(&highest), "{json}");
    assert!(simulated["frames"].as_u64().is_some_and(|frames| frames > 150), "{json}");
}

/// What a station cannot do is no scenario, and phases that are not used are named.
#[test]
fn a_table_with_priorities_makes_no_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = planned(&folder, MIXED, &["--scenario"], 2).stderr;
    assert!(refused.contains("--scenario: the messages of a have more than one `priority`"), "{refused}");
    let phases = "node,name,octets,period,phase,priority\na,m,64,10 ms,0 ms,7\na,n,64,10 ms,5 ms,0\n";
    let told = planned(&folder, phases, &[], 0).stderr;
    assert!(
        told.contains("a: its phases are not used, since its messages have more than one priority, or an `idle-slope`"),
        "{told}"
    );
}

/// No simulated wait or response is above its bound, whatever the table (docs/plan.md).
#[test]
fn no_simulated_value_is_above_its_bound() {
    let (seed, cases) = (given("ETHBUS_SEED", 1), given("ETHBUS_CASES", 300));
    println!("ETHBUS_SEED={seed} ETHBUS_CASES={cases}");
    let (mut unbounded, mut parts, mut shaped) = (0, Vec::new(), Vec::new());
    // Long turns of seed 1 that were above their bounds once: a delay line was full, and then a whole cycle passed.
    for case in (0..cases).chain([1_759, 2_906, 5_751, 7_196, 9_308]) {
        let mut drawn = Drawn(Generator::stream(seed, case));
        let mut table = drawn.table();
        if case < cases && case % 8 == 0 {
            drawn.shape(&mut table);
        }
        drawn.hosts(&mut table);
        drawn.skips(&mut table);
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
            let is_shaped = table.messages[at].idle_slope.is_some();
            if is_shaped { &mut shaped } else { &mut parts }.push(part);
        }
    }
    println!("{unbounded} messages without a bound");
    for (of, parts) in [("a shaped class", &mut shaped), ("others", &mut parts)] {
        parts.sort_by(f64::total_cmp);
        let (count, median, most) = (parts.len(), parts[parts.len() / 2], parts[parts.len() - 1]);
        println!("{count} bounds of {of}; seen, as a part of them: median {median:.3}, most {most:.3}");
    }
}
