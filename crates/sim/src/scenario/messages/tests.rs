//! Tables that are right, and what is said of those that are not.

use super::{KEYS, MessageTable};
use crate::scenario::file::Scenario;
use crate::scenario::plan::{Overrides, Plan};
use crate::words::configuration::WrittenConfig;
use crate::words::plca::host_delay_text;
use medium::{MacPhy, Method};
use std::path::Path;

fn read(name: &str, text: &str) -> Result<MessageTable, String> {
    let other = |_: &Path| Ok("node,name,octets,period\nb,m2,64,1 ms\n".to_owned());
    MessageTable::from_text(Path::new(name), text, &other).map_err(|error| error.to_string())
}

const HEAD: &str = "[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[message]]\nnode = \"a\"\nname = \"m\"\n";

/// A second message of a node with a MAC-PHY.
const SPI: &str = "octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"c\"\nspi-clock = \"10 MHz\"\nKEY\n\
    [[message]]\nnode = \"c\"\nname = \"m\"\noctets = 1518\nperiod = \"1 s\"\n\
    [[message]]\nnode = \"c\"\nname = \"n\"\noctets = 64\nperiod = \"1 s\"\n";

#[test]
fn toml_and_csv_give_the_same_table() {
    let toml = read(
        "t.toml",
        "[[message]]\nnode = \"a\"\nname = \"m\"\noctets = 64\nperiod = \"1 ms\"\njitter = \"5 BT\"\nburst = 2\n\
         [[message]]\nnode = \"b\"\nname = \"n; o\"\noctets = 1_000\nmin-distance = \"20ms\"\ndeadline = \"3ms\"\n",
    );
    let csv = "# a comment\nnode;name;octets;period;min-distance;jitter;deadline;burst\na;m;64;1 ms;;5 BT;;2\n\
               b;\"n; o\";1000;;20ms;;3ms;\n";
    assert_eq!(toml, read("t.csv", csv));
    let table = toml.expect("a right table");
    assert_eq!((table.node_count, table.to_timer, table.nodes[1].id), (2, 32, 1));
    let [one, other] = &table.messages[..] else { panic!("two messages") };
    assert_eq!((one.period, one.deadline, one.jitter, one.burst, one.is_periodic), (10_000, 10_000, 5, 2, true));
    assert_eq!((other.octets, other.period, other.deadline, other.is_periodic), (1000, 200_000, 30_000, false));
}

#[test]
fn messages_may_be_in_a_file_beside_the_segment() {
    let table = read("t.toml", "[segment]\nmessages = \"m.csv\"\nphy-off = \"1120 ns\"\n[[node]]\nname = \"b\"\n");
    let table = table.expect("a right table");
    assert_eq!((table.messages.len(), table.phy_off), (1, 12));
}

/// 10 minutes are 6,000,000,000 BT. Bit times ended at 2^31 once, where seconds did not.
#[test]
fn bit_times_go_as_far_as_seconds() {
    let period = |text: &str| {
        let table = read("t.csv", &format!("node,name,octets,period\na,m,64,{text}\n"));
        table.expect("a right table").messages[0].period
    };
    assert_eq!((period("600 s"), period("6000000000 BT")), (6_000_000_000, 6_000_000_000));
}

/// A station sends in order of release, so a table with two priorities at one node makes no scenario.
#[test]
fn priorities_of_one_node_make_no_scenario() {
    let table =
        |rows: &str| read("t.csv", &format!("node,name,octets,period,priority\n{rows}")).expect("a right table");
    let two_nodes = table("a,m,64,1 ms,7\nb,n,64,1 ms,0\n");
    assert_eq!((two_nodes.messages[0].priority, two_nodes.no_scenario()), (7, None));
    let one_node = table("b,m,64,1 ms,\na,m,64,1 ms,7\na,n,64,1 ms,\n");
    assert!(!one_node.has_classes(0) && one_node.has_classes(1));
    assert!(one_node.no_scenario().is_some_and(|why| why.contains("messages of a have")));
}

/// A slope is one of a class, so one message may say it for all; it is a part of the line, or bits per second.
#[test]
fn a_slope_is_that_of_a_class() {
    let table = |rows: &str| read("t.csv", &format!("node,name,octets,period,priority,idle-slope\n{rows}"));
    let shaped =
        table("a,m,64,1 ms,3,\na,n,64,1 ms,3,25 %\na,o,64,1 ms,2,\nb,p,64,1 ms,3,1.5 Mbit/s\n").expect("right");
    let slopes: Vec<Option<u64>> = shaped.messages.iter().map(|message| message.idle_slope).collect();
    assert_eq!(slopes, [Some(2_500_000), Some(2_500_000), None, Some(1_500_000)]);
    assert!(shaped.no_scenario().is_some() && shaped.has_classes(1));
    for (rows, told) in [
        ("a,m,64,1 ms,3,25 %\na,n,64,1 ms,3,26 %\n", "idle-slope: a message of a with this priority has 2500000 bit/s"),
        ("a,m,64,1 ms,3,50 %\na,n,64,1 ms,2,51 %\n", "idle-slope: the slopes of a are 10100000 bit/s in all"),
        ("a,m,64,1 ms,3,0 %\n", "idle-slope: `0 %`: write a part of the line"),
        ("a,m,64,1 ms,3,11 Mbit/s\n", "idle-slope: `11 Mbit/s`: write a part of the line"),
    ] {
        let error = table(rows).expect_err(rows);
        assert!(error.contains(told), "{error}");
    }
}

/// What a table becomes is a scenario that can be run.
#[test]
fn a_table_becomes_a_scenario() {
    let table = read(
        "t.toml",
        &format!(
            "[segment]\ncable = \"25 m\"\n{HEAD}octets = 1600\nperiod = \"7 ms\"\nburst = 3\nphase = \"1 ms\"\n\
             [[node]]\nname = \"c\"\nhost-delay = \"2us..8us\"\n"
        ),
    );
    let text = table.expect("a right table").scenario(150);
    let (scenario, _) = Scenario::from_text(Path::new("s.toml"), text).expect("a scenario");
    let plan = Plan::new(&scenario, None, &Overrides::default(), 1).expect("a plan");
    assert_eq!((plan.medium.queue_limit, plan.stations.len(), plan.further.sources.len()), (150, 3, 0));
    assert_eq!(plan.traffic[0].arrivals.to_string(), "periodic:every=7ms,phase=1ms,frames=3");
    let Method::Plca(plca) = &plan.medium.method else { panic!("a bus with PLCA") };
    let delays: Vec<String> = plca.nodes.iter().map(|node| host_delay_text(node.host_delay)).collect();
    assert_eq!(delays, ["0 BT", "0 BT", "20 BT..80 BT"]);
    // A record has the range too.
    let written = serde_json::to_string(&WrittenConfig::from(&plan.medium)).expect("JSON");
    assert!(written.contains("\"host_delay_bt\":0}") && written.contains("\"host_delay_bt\":[20,80]"), "{written}");
    let read: WrittenConfig = serde_json::from_str(&written).expect("a configuration");
    assert_eq!(read.config().method, plan.medium.method);
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

/// A MAC-PHY of a table is that of the scenario, in the engine and in a record. A small buffer has room for the longest frame.
#[test]
fn a_mac_phy_becomes_one_of_a_station() {
    let keys = "spi-clock = \"12.5 MHz\"\nspi-chunk = 32\nspi-transfer = 2\ntx-credits = 9\ntx-threshold = 3\n";
    let node = format!("[[node]]\nname = \"c\"\nhost-delay = \"2us..8us\"\nskip-turns = 2\n{keys}cut-through = 4\n");
    let table = read("t.toml", &format!("{HEAD}octets = 100\nperiod = \"5 ms\"\n{node}")).expect("a right table");
    let (scenario, _) = Scenario::from_text(Path::new("s.toml"), table.scenario(100)).expect("a scenario");
    let plan = Plan::new(&scenario, None, &Overrides::default(), 1).expect("a plan");
    let Method::Plca(plca) = &plan.medium.method else { panic!("a bus with PLCA") };
    assert_eq!(plca.nodes, table.plca().nodes);
    let macphy =
        MacPhy { chunk: 32, transfer: 2, credits: 9, threshold: 3, cut_through: Some(4), ..MacPhy::new(12_500_000) };
    assert_eq!((plca.nodes[1].macphy, plca.nodes[2].macphy, plca.nodes[2].skipped_turns), (None, Some(macphy), 2));
    plan.medium.check().expect("the engine takes it");
    let written = serde_json::to_string(&WrittenConfig::from(&plan.medium)).expect("JSON");
    assert_eq!(written.matches("spi_clock_hz").count(), 1, "{written}");
    let read: WrittenConfig = serde_json::from_str(&written).expect("a configuration");
    assert_eq!(read.config().method, plan.medium.method);
}

/// A station's keys are checked by the rule of a table.
#[test]
fn wrong_mac_phys_of_stations_are_named() {
    for (keys, wrong) in [
        ("plca.tx-credits = 9", "tx-credits: only a MAC-PHY behind SPI has it: write its `spi-clock` too"),
        ("plca.spi-clock = \"25\"", "spi-clock: `25`"),
        ("plca.spi-clock = \"25 MHz\"\nplca.spi-chunk = 63", "spi-chunk: 63: write 8, 16, 32 or 64 octets"),
        (
            "plca.spi-clock = \"25 MHz\"\nplca.tx-credits = 23",
            "tx-credits: 23: a frame of 1518 octets has 24 chunks: write 24 or more",
        ),
        ("plca.spi-clock = \"25 MHz\"\nplca.tx-threshold = 49", "tx-threshold: 49: there are 48 credits at most"),
        ("plca.spi-clock = \"10 MHz\"\nplca.cut-through = 2", "cut-through: a chunk takes 544 BT on SPI and 512 BT"),
    ] {
        let text = format!("[access]\nmethod = \"plca\"\n[[station]]\n[[station]]\n{keys}\n");
        let made = Scenario::from_text(Path::new("s.toml"), text).map_err(|error| error.to_string());
        let made = made.and_then(|(scenario, _)| {
            Plan::new(&scenario, None, &Overrides::default(), 1).map_err(|error| error.to_string())
        });
        let error = made.err().unwrap_or_default();
        assert!(error.contains(wrong), "{keys}: {error}");
    }
}

/// The chunks of a frame without its FCS, each of 544 clocks, which are 217.6 BT at 25 MHz.
#[test]
fn a_mac_phy_takes_its_chunks() {
    let node = |keys: &str| {
        let table = format!("{HEAD}octets = 1518\nperiod = \"5 ms\"\n[[node]]\nname = \"c\"\n{keys}");
        read("t.toml", &table).expect("a right table").nodes[2].clone()
    };
    let whole = node("host-delay = \"2us..8us\"\nspi-clock = \"25 MHz\"\nspi-transfer = 2\n");
    let delays = [60, 68, 69, 1518].map(|octets| whole.longest_host_delay(octets));
    assert_eq!(delays, [1, 1, 2, 24].map(|chunks| 80 + (2 + chunks) * 218));
    let early = node("spi-clock = \"12.5MHz\"\nspi-chunk = 32\ncut-through = 2\n");
    assert_eq!([36, 1518].map(|octets| early.longest_host_delay(octets)), [1, 2].map(|chunks| chunks * 231));
    let plain = node("host-delay = \"2us..8us\"\n");
    assert_eq!((plain.longest_host_delay(1518), plain.is_late(), early.is_late()), (80, true, true));
}

/// What a table says of hosts, and what a MAC-PHY cannot do.
#[test]
fn wrong_hosts_are_named_with_place_key_and_what_would_be_right() {
    for (further, wrong) in [
        (
            "octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"c\"\nhost-delay = \"8us..2us\"\n",
            "host-delay: `8us..2us`: write a time up to 1 s or a range",
        ),
        (
            "octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"c\"\nspi-clock = \"25\"\n",
            "t.toml:12:13: spi-clock: `25`: write a clock from 0.1 to 100 MHz",
        ),
        (
            "octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"c\"\ntx-credits = 9\n",
            "t.toml:12:14: tx-credits: only a MAC-PHY behind SPI has it: write its `spi-clock` too",
        ),
        (SPI.replace("KEY", "spi-chunk = 63").as_str(), "spi-chunk: `63`: write 8, 16, 32 or 64 octets"),
        (
            SPI.replace("KEY", "tx-credits = 23").as_str(),
            "tx-credits: 23: a frame of 1518 octets has 24 chunks: write 24 or more",
        ),
        (
            SPI.replace("KEY", "tx-threshold = 49").as_str(),
            "tx-threshold: 49: there are 48 credits at most: write fewer",
        ),
        (
            SPI.replace("KEY", "cut-through = 2").as_str(),
            "cut-through: a chunk takes 544 BT on SPI and 512 BT on the line",
        ),
        (
            SPI.replace("KEY", "").replace("1518", "64\npriority = 1").as_str(),
            "spi-clock: the transmit buffer of a MAC-PHY is one queue",
        ),
    ] {
        let error = read("t.toml", &format!("{HEAD}{further}")).expect_err(further);
        assert!(error.contains(wrong), "{further}: {error}");
    }
}

#[test]
fn wrong_tables_are_named_with_place_key_and_what_would_be_right() {
    for (further, wrong) in [
        ("octets = 64\n", "t.toml:5:1: period: missing: write `period`, or `min-distance`"),
        ("octets = 64\nperiod = \"1 ms\"\nmin-distance = \"1 ms\"\n", "min-distance: it has a `period` too"),
        ("octets = 64\nperiod = 5\n", "t.toml:9:10: period: `5`: write a time above 0"),
        ("octets = 17\nperiod = \"1 ms\"\n", "octets: `17`: write a whole number from 18 to 2000 (802.3, 3.2.7)"),
        ("octets = -3\nperiod = \"1 ms\"\n", "octets: `-3`: write"),
        ("octets = 64\nperoid = \"1 ms\"\n", "peroid: no such key of a message: did you mean `period`?"),
        ("octets = 64\nmin-distance = \"1 ms\"\nphase = \"1 ms\"\n", "only a message with a `period` has a phase"),
        ("octets = [64]\n", "octets: it has one value"),
        ("octets = 64\nperiod = \"1 ms\"\npriority = 8\n", "priority: `8`: write a whole number from 0 to 7 (802.1Q"),
        (
            "octets = 64\nperiod = \"864000000001 BT\"\n",
            "period: `864000000001 BT`: write a time above 0 and up to a day",
        ),
        ("octets = 64\nperiod = \"1 ms\"\n[[message]]\nnode = \"c\"\n", "no node is called `c`"),
        ("octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"a\"\n", "name: `a` is there twice"),
        ("octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"c\"\nnode-id = 1\n", "node-id: b has the id 1 too"),
        ("octets = 64\nperiod = \"1 ms\"\n[segment]\nnode-cnt = 1\n", "not below the node count of 1"),
        ("octets = 64\nperiod = \"1 ms\"\n[segment]\nphy-on = \"20 BT\"\nphy-off = \"10 BT\"\n", "ends no sooner"),
        ("octets = 64\nperiod = \"1 ms\"\n[segment]\nphy-off = \"4 us\"\n", "take 40 BT: with 32 BT or more"),
        ("octets = 64\nperiod = \"1 ms\"\n[segment]\nto-tmr = 256\n", "(802.3, 30.16.1.1.5)"),
        ("octets = 64\nperiod = \"1 ms\"\n[[node]]\nname = \"bus\"\n", "bus"),
        ("octets = 64\nperiod = \"1 ms\"\n[nodes]\nname = 3\n", "t.toml:10:2: nodes: a table has `[segment]`"),
        ("octets = 64x\n", "t.toml:8:10: octets: `64x` is no TOML"),
    ] {
        let error = read("t.toml", &format!("{HEAD}{further}")).expect_err(further);
        assert!(error.contains(wrong), "{further}: {error}");
    }
    for (csv, wrong) in [
        ("", "t.csv:1:1: it is empty"),
        ("node,name,octets,period\n", "0 messages: write 1 to 4096"),
        ("node,name,octets,period\na,m,64\n", "t.csv:2:1: period: missing"),
        ("node,name,octets,period\na,m,sixty,1ms\n", "t.csv:2:5: octets: `sixty`"),
        ("node,name,octets,period\na,m,64,1ms,2\n", "5 values under 4 keys"),
        ("nodes,name,octets,period\na,m,64,1ms\n", "did you mean `node`?"),
    ] {
        let error = read("t.csv", csv).expect_err(csv);
        assert!(error.contains(wrong), "{csv}: {error}");
    }
    let no_coordinator =
        "[[node]]\nname = \"a\"\nnode-id = 3\n[[message]]\nnode=\"a\"\nname=\"m\"\noctets=64\nperiod=\"1s\"\n";
    let error = read("t.toml", no_coordinator).expect_err("no coordinator");
    assert!(error.contains("t.toml:3:11: node-id: no node has id 0"), "{error}");
}

/// The page has every key, with its default.
#[test]
fn docs_have_every_key() {
    let page = include_str!("../../../../../docs/plan.md");
    for key in KEYS {
        let default = if key.default.is_empty() { "none: write one" } else { key.default };
        let row = format!("| `{}` | {} | {} |", key.name, key.about, default);
        assert!(page.contains(&row), "docs/plan.md lacks `{row}`");
    }
}
