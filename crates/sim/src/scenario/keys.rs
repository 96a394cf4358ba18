//! Every key of a scenario file: what it takes, and what to write. `file` has the same keys as types; a test compares.

use super::file::{
    ArrivalsText, BackoffText, BitTimesText, DurationText, FaultText, InstantText, LengthText, MacText, MachineText,
    Network, PersistenceText, PhyText, PlaceText, PpmText, RateText, RetryLimitsText, RunTimeText, SizesText,
    TopologyText, UntilText, WindowText,
};
use crate::words::{plca, units};
use std::str::FromStr;

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What to write, after "write".
    pub right: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Text that this reads, or says what would be right.
    Text(fn(&str) -> Result<(), String>),
    /// The same, or a whole number as its text.
    TextOrWhole(fn(&str) -> Result<(), String>),
    /// A list of such texts.
    Texts(fn(&str) -> Result<(), String>),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from the first to the second.
    Number(f64, f64),
    /// `true` or `false`.
    Switch,
    /// `[name]`, with these keys.
    Section(&'static [Key]),
    /// `[[name]]` once for each, with these keys.
    Sections(&'static [Key]),
}

fn text<T: FromStr<Err = String>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop)
}

fn any(_: &str) -> Result<(), String> {
    Ok(())
}

fn id(text: &str) -> Result<(), String> {
    plca::number("more-ids", text, 0, "802.3, 30.16.1.1.4").map(drop)
}

fn speed(text: &str) -> Result<(), String> {
    units::speed(text).map(drop)
}

const fn key(name: &'static str, takes: Takes, right: &'static str) -> Key {
    Key { name, takes, right }
}

/// What TOML can write down.
const LARGEST: i64 = i64::MAX;
/// What 32 bits hold.
const LARGEST_32: i64 = u32::MAX as i64;

use Takes::{Choice, Number, Section, Sections, Switch, Text, TextOrWhole, Texts, Whole};

/// The keys before the first section, and the sections.
pub const SCENARIO: &[Key] = &[
    key("name", Text(any), "the lab's name in quotes, like `name = \"lab\"`"),
    key("seed", Whole(0, LARGEST), "a whole number, 0 or more, like `seed = 7`"),
    key("stations", Whole(1, 1024), "a whole number from 1 to 1024, like `stations = 4`"),
    key("ipv4", Text(text::<Network>), "a network in quotes, like `ipv4 = \"10.77.0.0/16\"`"),
    key("ipv6", Text(text::<Network>), "a network in quotes, like `ipv6 = \"fd77::/64\"`"),
    key("medium", Section(MEDIUM), "`[medium]` on a line of its own, once"),
    key("access", Section(ACCESS), "`[access]` on a line of its own, once"),
    key("plca", Section(PLCA), "`[plca]` on a line of its own, once"),
    key("traffic", Section(TRAFFIC), "`[traffic]` on a line of its own, once"),
    key("run", Section(RUN), "`[run]` on a line of its own, once"),
    key("emulator", Section(EMULATOR), "`[emulator]` on a line of its own, once"),
    key("segment", Sections(SEGMENT), "`[[segment]]`, with two brackets, for each segment"),
    key("repeater", Sections(REPEATER), "`[[repeater]]`, with two brackets, for each repeater"),
    key("cut", Sections(CUT), "`[[cut]]`, with two brackets, for each cut"),
    key("at", Sections(AT), "`[[at]]`, with two brackets, for each change while the medium runs"),
    key("frame", Sections(FRAME), "`[[frame]]`, with two brackets, for each frame"),
    key("station", Sections(STATION), "`[[station]]`, with two brackets, for each station"),
];

const MEDIUM: &[Key] = &[
    key("rate", Text(text::<RateText>), "bits per second in quotes, like `rate = \"10M\"`"),
    key("topology", Text(text::<TopologyText>), "a topology in quotes, like `topology = \"bus:500m\"`"),
    key("propagation_speed", Text(speed), "a speed in quotes, like `propagation_speed = \"0.77c\"`"),
    key("queue", Whole(1, LARGEST_32), "a whole number of frames, 1 or more, like `queue = 100`"),
    key("bursting", Switch, "`bursting = true` or `bursting = false`"),
    key("slot_time", Text(text::<BitTimesText>), "bit times in quotes, like `slot_time = \"512 BT\"`"),
    key("inter_packet_gap", Text(text::<BitTimesText>), "bit times in quotes, like `inter_packet_gap = \"96 BT\"`"),
    key(
        "inter_packet_gap_part_1",
        Text(text::<BitTimesText>),
        "bit times in quotes, like `inter_packet_gap_part_1 = \"64 BT\"`",
    ),
    key("attempt_limit", Whole(1, LARGEST_32), "a whole number, 1 or more, like `attempt_limit = 16`"),
    key("backoff_limit", Whole(0, 31), "a whole number from 0 to 31, like `backoff_limit = 10`"),
    key("jam_size", Text(text::<BitTimesText>), "bit times in quotes, like `jam_size = \"32 BT\"`"),
    key("max_frame_size", Whole(18, 2000), "a whole number of octets from 18 to 2000, like `max_frame_size = 1518`"),
    key("min_frame_size", Whole(18, 2000), "a whole number of octets from 18 to 2000, like `min_frame_size = 64`"),
    key("max_defer_time", Text(text::<BitTimesText>), "bit times in quotes, like `max_defer_time = \"24288 BT\"`"),
];

const ACCESS: &[Key] = &[
    key(
        "method",
        Choice(&["csma-cd", "plca", "csma", "csma-ca", "aloha", "slotted-aloha"]),
        "an access method in quotes: `method = \"csma-cd\"`, `\"plca\"`, `\"csma\"`, `\"csma-ca\"`, `\"aloha\"` or `\"slotted-aloha\"`",
    ),
    key("backoff", Text(text::<BackoffText>), "a backoff in quotes, like `backoff = \"uniform:20\"`"),
    key("ack_delay", Whole(0, 1 << 24), "a whole number of slots from 0 up, like `ack_delay = 12`"),
    key(
        "persistence",
        Text(text::<PersistenceText>),
        "a persistence in quotes: `persistence = \"1\"`, `\"non\"`, or a probability like `\"0.1\"`",
    ),
    key("population", Choice(&["stations", "infinite"]), "`population = \"stations\"` or `\"infinite\"`"),
    key("phy", Text(text::<PhyText>), "a physical layer in quotes, like `phy = \"dsss-11\"` or `\"ofdm-54\"`"),
    key("control_rate", Text(text::<RateText>), "a rate with its unit in quotes, like `control_rate = \"11Mbit/s\"`"),
    key("rts", Switch, "`rts = true` or `rts = false`"),
    key("window", Text(text::<WindowText>), "two numbers of slots in quotes, like `window = \"32:1024\"`"),
    key("retry_limits", Text(text::<RetryLimitsText>), "two numbers in quotes, like `retry_limits = \"7:4\"`"),
    key("range", Text(text::<LengthText>), "a length with its unit in quotes, like `range = \"100 m\"`"),
];

const PLCA: &[Key] = &[
    key("enable", Switch, "`enable = true` or `enable = false`"),
    key("node-id", Whole(0, 255), "an id from 0 to 255, like `plca.node-id = 3` (802.3, 30.16.1.1.4)"),
    key("more-ids", Texts(id), "ids in quotes, like `plca.more-ids = [\"5\", \"6\"]`"),
    key("node-cnt", Whole(1, 255), "a whole number from 1 to 255, like `node-cnt = 8` (802.3, 30.16.1.1.3)"),
    key("to-tmr", Whole(1, 255), "bit times from 1 to 255, like `to-tmr = 32` (802.3, 30.16.1.1.5)"),
    key("burst-cnt", Whole(0, 255), "a whole number from 0 to 255, like `burst-cnt = 2` (802.3, 30.16.1.1.6)"),
    key("burst-tmr", Whole(0, 255), "bit times from 0 to 255, like `burst-tmr = 128` (802.3, 30.16.1.1.7)"),
    key("collision-detection", Switch, "`collision-detection = false`"),
    key("logical-collisions", Switch, "`logical-collisions = false`"),
    key("host-delay", Text(text::<BitTimesText>), "bit times in quotes, like `host-delay = \"400 BT\"`"),
    key("clock", Text(text::<PpmText>), "parts per million in quotes, like `clock = \"-100 ppm\"`"),
    key("delay-line", Text(text::<BitTimesText>), "bit times in quotes, like `delay-line = \"396 BT\"`"),
    key("status-timer", Text(text::<BitTimesText>), "bit times in quotes, like `status-timer = \"130090 BT\"`"),
    key(
        "invalid-beacon-timer",
        Text(text::<BitTimesText>),
        "bit times in quotes, like `invalid-beacon-timer = \"40 BT\"`",
    ),
    key("phy-on", Text(text::<BitTimesText>), "bit times in quotes, like `phy-on = \"4 BT\"`"),
    key("phy-off", Text(text::<BitTimesText>), "bit times in quotes, like `phy-off = \"11 BT\"`"),
];

const TRAFFIC: &[Key] = &[
    key("arrivals", Text(text::<ArrivalsText>), "traffic in quotes, like `arrivals = \"poisson:0.4\"`"),
    key("phase", Text(text::<DurationText>), "a time with its unit in quotes, like `phase = \"1ms\"`"),
    key("frame_size", TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`"),
    key("destination", Text(any), "a destination in quotes, like `destination = \"next\"`"),
];

const RUN: &[Key] = &[
    key("duration", Text(text::<RunTimeText>), "a time with its unit in quotes, like `duration = \"10s\"`"),
    key("warmup", Text(text::<RunTimeText>), "a time with its unit in quotes, like `warmup = \"2s\"`"),
    key("replications", Whole(1, 10_000), "a whole number from 1 to 10000, like `replications = 5`"),
    key("until", Text(text::<UntilText>), "a half-width in quotes, like `until = \"1%\"`"),
];

const EMULATOR: &[Key] = &[
    key("time_scale", Number(1e-6, 1.0), "a part of real time from 0.000001 to 1, like `time_scale = 0.1`"),
    key("on_overload", Choice(&["slip", "drop"]), "`on_overload = \"slip\"` or `\"drop\"`"),
    key("latency", Choice(&["normal", "low"]), "`latency = \"normal\"` or `\"low\"`"),
    key("read_on", Text(text::<DurationText>), "a time with its unit in quotes, like `read_on = \"50us\"`"),
    key("processor", Whole(0, 8191), "a processor's number, 0 or more, like `processor = 1`"),
    key("fan_out", Choice(&["auto", "kernel", "batch"]), "`fan_out = \"auto\"`, `\"kernel\"` or `\"batch\"`"),
    key("filter", Choice(&["none", "address"]), "`filter = \"none\"` or `\"address\"`"),
];

const SEGMENT: &[Key] = &[
    key("name", Text(any), "the segment's name in quotes, like `name = \"a\"`"),
    key("length", Text(text::<LengthText>), "a length with its unit in quotes, like `length = \"185 m\"`"),
];

const REPEATER: &[Key] = &[
    key("delay", Text(text::<BitTimesText>), "bit times in quotes, like `delay = \"8 BT\"`"),
    key("ports", Texts(text::<PlaceText>), "places on segments, like `ports = [\"a:185m\", \"b:0m\"]`"),
];

const CUT: &[Key] = &[
    key("between", Texts(any), "two stations, like `between = [\"st1\", \"st2\"]`"),
    key("from", Text(text::<DurationText>), "a time with its unit in quotes, like `from = \"1s\"`"),
    key("until", Text(text::<DurationText>), "a time with its unit in quotes, like `until = \"2s\"`"),
];

const AT: &[Key] = &[
    key("time", Text(text::<InstantText>), "an instant with its unit in quotes, like `time = \"1s\"` or `\"512 BT\"`"),
    key("station", Text(any), "the station whose fault it is, like `station = \"st1\"`"),
    key("fault", Text(text::<FaultText>), "a fault in quotes, like `fault = \"deaf\"`"),
    key("cut", Texts(any), "two stations, like `cut = [\"st1\", \"st2\"]`"),
    key("mend", Switch, "`mend = true`"),
    key("plug", Text(any), "a station in quotes, like `plug = \"st1\"`"),
    key("unplug", Text(any), "a station in quotes, like `unplug = \"st1\"`"),
    key("plca", Section(PLCA), "settings of PLCA, like `plca.enable = false`"),
];

const STATION: &[Key] = &[
    key("name", Text(any), "the station's name in quotes, like `name = \"st1\"`"),
    key("position", Text(text::<LengthText>), "a length with its unit in quotes, like `position = \"120 m\"`"),
    key("mac", Text(text::<MacText>), "an address in quotes, like `mac = \"02:eb:00:00:00:01\"`"),
    key(
        "kind",
        Choice(&["veth", "tap", "interface", "bridge", "vxlan"]),
        "`kind = \"veth\"`, `\"tap\"`, `\"interface\"`, `\"bridge\"` or `\"vxlan\"`",
    ),
    key("interface", Text(any), "an interface in quotes, like `interface = \"eth1\"`"),
    key("netns", Text(any), "a namespace in quotes, like `netns = \"web\"` or `netns = \"pid:4711\"`"),
    key("bridge", Text(any), "a bridge in quotes, like `bridge = \"br-lan\"`"),
    key("remote", Text(text::<MachineText>), "an address in quotes, like `remote = \"192.0.2.7\"`"),
    key("local", Text(text::<MachineText>), "an address in quotes, like `local = \"192.0.2.1\"`"),
    key("vni", Whole(0, 16_777_215), "a whole number from 0 to 16777215, like `vni = 1`"),
    key("port", Whole(1, 65_535), "a UDP port from 1 to 65535, like `port = 4789`"),
    key("fault", Text(text::<FaultText>), "a fault in quotes, like `fault = \"deaf\"`"),
    key("ipv4", Text(text::<Network>), "an address with prefix length in quotes, like `ipv4 = \"10.77.0.1/16\"`"),
    key("ipv6", Text(text::<Network>), "an address with prefix length in quotes, like `ipv6 = \"fd77::1/64\"`"),
    key("segment", Text(any), "the segment's name in quotes, like `segment = \"a\"`"),
    key("arrivals", Text(text::<ArrivalsText>), "traffic in quotes, like `arrivals = \"poisson:0.4\"`"),
    key("phase", Text(text::<DurationText>), "a time with its unit in quotes, like `phase = \"1ms\"`"),
    key("frame_size", TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`"),
    key("destination", Text(any), "a destination in quotes, like `destination = \"st2\"`"),
    key("plca", Section(PLCA), "settings of PLCA, like `plca.node-id = 3`"),
    key("source", Sections(SOURCE), "`[[station.source]]`, with two brackets, for each source"),
];

const SOURCE: &[Key] = &[
    key("arrivals", Text(text::<ArrivalsText>), "traffic in quotes, like `arrivals = \"poisson:0.4\"`"),
    key("phase", Text(text::<DurationText>), "a time with its unit in quotes, like `phase = \"1ms\"`"),
    key("frame_size", TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`"),
    key("destination", Text(any), "a destination in quotes, like `destination = \"st2\"`"),
];

const FRAME: &[Key] = &[
    key("station", Text(any), "a station in quotes, like `station = \"st1\"`"),
    key("at", Text(text::<InstantText>), "an instant with its unit in quotes, like `at = \"1ms\"` or `\"512 BT\"`"),
    key("destination", Text(any), "a destination in quotes, like `destination = \"st2\"`"),
    key("size", Whole(18, 65_535), "a whole number of octets from 18 to 65535, like `size = 64`"),
];

/// Words of other programs, and ours for them: a key, or a line where the key alone does not say what to write.
pub const HABITS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("bitrate", "rate"),
    ("speed", "rate"),
    ("nodes", "stations"),
    ("hosts", "stations"),
    ("n", "stations"),
    ("node", "station"),
    ("host", "station"),
    ("ip", "ipv4"),
    ("address", "ipv4"),
    ("ip6", "ipv6"),
    ("hwaddr", "mac"),
    ("ether", "mac"),
    ("time", "duration"),
    ("runtime", "duration"),
    ("warm_up", "warmup"),
    ("load", "arrivals = \"poisson:0.4\""),
    ("traffic", "arrivals"),
    ("size", "frame_size"),
    ("length", "frame_size"),
    ("mtu", "max_frame_size"),
    ("dst", "destination"),
    ("to", "destination"),
    ("place", "position"),
    ("distance", "position"),
    ("type", "kind"),
    ("slot", "slot_time"),
    ("ifg", "inter_packet_gap"),
    ("ipg", "inter_packet_gap"),
    ("jam", "jam_size"),
    ("runs", "replications"),
    ("queue_limit", "queue"),
    ("at", "from"),
    ("when", "time"),
    ("attach", "plug"),
    ("detach", "unplug"),
    ("event", "at"),
    ("events", "at"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file::Scenario;

    /// What serde knows in a section, from what it says of a key that it does not know.
    fn known(text: &str) -> Vec<String> {
        let error = toml::from_str::<Scenario>(text).expect_err(text);
        let list = error.message().split("expected").nth(1).expect("a list").to_owned();
        let mut names: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn the_table_has_the_keys_that_the_types_have() {
        let mut sections = vec![("no_key = 1".to_owned(), SCENARIO)];
        for key in SCENARIO {
            match key.takes {
                Takes::Section(keys) => sections.push((format!("[{}]\nno_key = 1", key.name), keys)),
                Takes::Sections(keys) => sections.push((format!("[[{}]]\nno_key = 1", key.name), keys)),
                Text(_) | TextOrWhole(_) | Texts(_) | Choice(_) | Whole(..) | Number(..) | Switch => {}
            }
        }
        for (text, keys) in sections {
            let mut names: Vec<&str> = keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            assert_eq!(names, known(&text), "{text}");
        }
    }
}
