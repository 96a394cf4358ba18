//! The settings of a PLCA node under the names of ethtool and of the kernel's netlink, and as ethtool prints them.

use crate::words::units::{self, group};
use medium::{BitRate, BitTimes, HostDelay, PlcaSettings};
use std::fmt::Write;

/// The gap that a MAC keeps between frames, which a burst must outlast.
const GAP: u8 = 96;

/// The settings that [`set`] takes.
pub const SETTINGS: [&str; 9] =
    ["enable", "node-id", "node-cnt", "to-tmr", "burst-cnt", "burst-tmr", "dplca", "coordinator-role", "aging-cycles"];

/// A time on a segment of 10BASE-T1S, 10 Mb/s: with a unit of time, rounded up to a bit time, or in bit times.
///
/// # Errors
/// No number, or no unit.
pub fn span(text: &str) -> Result<BitTimes, String> {
    let plain = text.trim();
    if let Some(number) = plain.strip_suffix("ns") {
        let nanoseconds = number.trim().parse::<u64>().ok().filter(|number| *number <= 1_000_000_000);
        let bits = nanoseconds.map(|number| BitTimes::new(number.div_ceil(100)));
        return bits.ok_or_else(|| format!("`{text}` is no time"));
    }
    match plain.strip_suffix("BT").or(plain.strip_suffix("bt")) {
        // `units` ends at 2^31 BT, 3.6 minutes; periods are up to a day.
        Some(number) => {
            let bits = units::bit_times(plain).or_else(|what| number.trim().parse().map_err(|_| what));
            bits.map(BitTimes::new)
        }
        None if plain.ends_with(char::is_alphabetic) => {
            Ok(BitTimes::within(units::duration_or_zero(plain)?, BitRate::MBIT_10))
        }
        None => Err(format!("`{text}` has no unit")),
    }
}

/// The longest host delay: a second.
const LONGEST_HOST_DELAY: BitTimes = BitTimes::new(10_000_000);

/// A host delay: one time, `40 us`, or a range, `2us..8us`, of which each frame draws its own.
///
/// # Errors
/// No times, a range that ends before it begins, or more than a second.
pub fn host_delay(text: &str) -> Result<HostDelay, String> {
    let delay = match text.split_once("..") {
        Some((least, most)) => HostDelay { least: span(least)?, most: span(most)? },
        None => HostDelay::fixed(span(text)?),
    };
    if delay.least > delay.most {
        return Err(format!("`{text}` ends before it begins: write the shorter time first"));
    }
    let fits = delay.most <= LONGEST_HOST_DELAY;
    fits.then_some(delay).ok_or_else(|| format!("`{text}` is more than a second"))
}

/// A host delay in bit times, as [`host_delay`] reads it.
pub fn host_delay_text(delay: HostDelay) -> String {
    let (least, most) = (delay.least.get(), delay.most.get());
    if least == most { format!("{least} BT") } else { format!("{least} BT..{most} BT") }
}

/// Settings under netlink's names, each with a number; `enabled` is 0 or 1 there, and a truth here.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "the schema of results reads its fields")]
pub struct SettingsText {
    /// PLCA is on.
    enabled: bool,
    /// aPLCALocalNodeID; 255 is none.
    node_id: u8,
    /// aPLCANodeCount.
    node_cnt: u8,
    /// aPLCATransmitOpportunityTimer, in bit times.
    to_tmr: u8,
    /// aPLCAMaxBurstCount.
    burst_cnt: u8,
    /// aPLCABurstTimer, in bit times.
    burst_tmr: u8,
    /// aDPLCAAdminState: it finds its id by D-PLCA.
    #[schemars(default)]
    dplca: bool,
    /// aDPLCACoordinatorRoleAllowed; left out if it is.
    #[schemars(default)]
    coordinator_role: bool,
    /// aging_cycles of D-PLCA; left out if there are 32.
    #[schemars(default)]
    aging_cycles: u16,
}

/// What `ethtool --get-plca-cfg` prints for the interface `name`.
pub fn as_ethtool_prints(name: &str, settings: &PlcaSettings) -> String {
    let role = match settings.node_id {
        0 => "coordinator",
        PlcaSettings::UNCONFIGURED => "unconfigured",
        _ => "follower",
    };
    let mut text = format!("PLCA settings for {name}:\n");
    let mut line = |what: std::fmt::Arguments<'_>| writeln!(text, "\t{what}").expect("a string takes any text");
    line(format_args!("Enabled: {}", if settings.enabled { "Yes" } else { "No" }));
    line(format_args!("local node ID: {} ({role})", settings.node_id));
    let ignored = if settings.node_id == 0 { "" } else { " (ignored)" };
    line(format_args!("Node count: {}{ignored}", settings.node_count));
    line(format_args!("TO timer: {} BT", settings.to_timer));
    let burst = if settings.burst_count == 0 { " (disabled)" } else { "" };
    line(format_args!("Burst count: {}{burst}", settings.burst_count));
    line(format_args!("Burst timer: {} BT", settings.burst_timer));
    text
}

/// What `ethtool --get-plca-status` prints for the interface `name`.
pub fn status_as_ethtool_prints(name: &str, ok: bool) -> String {
    format!("PLCA status of {name}:\n\tStatus: {}\n", if ok { "on" } else { "off" })
}

/// What `--set-plca-cfg` takes, changed in `settings`: pairs of a name and a value. D-PLCA, which ethtool does not have, is
/// switched by three more.
///
/// # Errors
/// A name that ethtool does not know, a value that is missing or out of its range, with what would be right.
pub fn set(mut settings: PlcaSettings, words: &[String]) -> Result<PlcaSettings, String> {
    let seeks = settings.dplca;
    for pair in words.chunks(2) {
        let [name, value] = pair else {
            return Err(format!("`{}` has no value: write `{} VALUE`", pair[0], pair[0]));
        };
        match name.as_str() {
            "enable" => settings.enabled = truth(name, value)?,
            "node-id" => settings.node_id = number(name, value, 0, "802.3, 30.16.1.1.4")?,
            "node-cnt" => settings.node_count = number(name, value, 1, "802.3, 30.16.1.1.3")?,
            "to-tmr" => settings.to_timer = number(name, value, 1, "802.3, 30.16.1.1.5")?,
            "burst-cnt" => settings.burst_count = number(name, value, 0, "802.3, 30.16.1.1.6")?,
            "burst-tmr" => settings.burst_timer = number(name, value, 0, "802.3, 30.16.1.1.7")?,
            "dplca" => settings.dplca = truth(name, value)?,
            "coordinator-role" => settings.coordinator_role = truth(name, value)?,
            "aging-cycles" => {
                let cycles = value.parse().ok().filter(|cycles| *cycles > 0);
                settings.aging_cycles =
                    cycles.ok_or_else(|| format!("{name} is `{value}`: it goes from 1 to 65535"))?;
            }
            _ => {
                return Err(format!("`{name}` is no setting of PLCA: write one of {}", SETTINGS.join(", ")));
            }
        }
    }
    let own = words.iter().step_by(2).find(|name| settings.dplca && matches!(name.as_str(), "node-id" | "node-cnt"));
    if let Some(name) = own {
        return Err(format!("`{name}` beside D-PLCA: the node finds it itself, so leave it out"));
    }
    if seeks && !settings.dplca && settings.node_id == PlcaSettings::SEEKING {
        return Err("the node has found no id yet, which it could keep: write `node-id ID`".to_owned());
    }
    Ok(settings.told())
}

fn truth(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{name} is `{value}`: write `on` or `off`")),
    }
}

/// Reads a decimal number or one in hexadecimal, with `0x`, from `least` to 255.
///
/// # Errors
/// Anything else, with the range and the clause.
pub fn number(name: &str, value: &str, least: u8, clause: &str) -> Result<u8, String> {
    let read = match value.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => value.parse(),
    };
    read.ok()
        .filter(|&number| number >= least && !value.starts_with('+'))
        .ok_or_else(|| format!("{name} is `{value}`: it goes from {least} to 255 ({clause})"))
}

/// What a segment consists of, as far as it may be unwise.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The settings of each node, and its further ids; 255 is none.
    pub nodes: &'a [(PlcaSettings, &'a [u8])],
    /// The stations' names.
    pub names: &'a [&'a str],
    /// From a bit on the line until the farthest node's answer could be heard, PHYs included.
    pub round_trip: BitTimes,
}

/// What is legal on a segment but unwise, and what it costs in bit times: one line for nodes with the same fault.
pub fn unwise(segment: Segment<'_>) -> Vec<String> {
    let Segment { nodes, names, round_trip } = segment;
    let ids = |(settings, more): &(PlcaSettings, &[u8])| -> Vec<u8> {
        let all = std::iter::once(settings.node_id).chain(more.iter().copied());
        all.filter(|id| settings.enabled && *id != PlcaSettings::UNCONFIGURED).collect()
    };
    let all: Vec<(usize, u8)> =
        nodes.iter().map(ids).enumerate().flat_map(|(at, ids)| ids.into_iter().map(move |id| (at, id))).collect();
    let mut warnings = Grouped::default();
    for ((settings, _), name) in nodes.iter().zip(names) {
        if settings.enabled && settings.node_id == PlcaSettings::UNCONFIGURED {
            warnings.of(name, "no node-id (255), so PLCA stays off there, and it meets others on the line".to_owned());
        }
    }
    let Some((coordinator, _)) = all.iter().find(|(_, id)| *id == 0).map(|(at, _)| nodes[*at]) else {
        let none = "no node has id 0, so no node sends BEACONs: the bus stays one of plain CSMA/CD (802.3, 148.4.4)";
        return if all.is_empty() { Vec::new() } else { vec![none.to_owned()] };
    };
    let count = usize::from(coordinator.node_count);
    let used = all.len();
    if count > used {
        let empty = group((count - used) as u64 * u64::from(coordinator.to_timer));
        warnings.of_all(format!("node count {count} with {used} ids: {empty} BT of every idle cycle are empty"));
    }
    if round_trip >= BitTimes::new(coordinator.to_timer.into()) {
        warnings.of_all(format!(
            "a signal and its answer take up to {round_trip}, and a turn {} BT: nodes do not hear in time that a turn is used, and collide; write to-tmr = {} or more",
            coordinator.to_timer,
            (round_trip.get() / 4 + 1) * 4
        ));
    }
    for (place, &(station, id)) in all.iter().enumerate() {
        if usize::from(id) >= count && id != 0 {
            warnings.of(
                names[station],
                format!("its turn comes after the last, since its id {id} is not below the node count of {count}: it never sends while BEACONs come"),
            );
        }
        match all[..place].iter().find(|(_, other)| *other == id) {
            None => {}
            Some((twin, _)) if *twin == station => warnings.of(names[station], format!("id {id} twice: write it once")),
            Some((twin, _)) => {
                let what = if id == 0 { "both send BEACONs" } else { "both send in one turn, and collide" };
                warnings.of(names[station], format!("{} has the same id {id}: {what}", names[*twin]));
            }
        }
    }
    for ((settings, _), name) in nodes.iter().zip(names).filter(|(node, _)| !ids(node).is_empty()) {
        settings_unwise(settings, &coordinator).into_iter().for_each(|what| warnings.of(name, what));
    }
    warnings.texts()
}

/// The same of one node's timers and bursts.
fn settings_unwise(settings: &PlcaSettings, coordinator: &PlcaSettings) -> Vec<String> {
    let mut all = Vec::new();
    if settings.to_timer != coordinator.to_timer {
        all.push(format!(
            "to-tmr is {} BT and the coordinator's {} BT: its turns drift against those of others, and collide with some",
            settings.to_timer, coordinator.to_timer
        ));
    }
    if settings.burst_count > 0 && settings.burst_timer <= GAP {
        all.push(format!(
            "burst-tmr of {} BT is over before the gap of {GAP} BT is: no burst goes on, and each turn is {} BT longer",
            settings.burst_timer, settings.burst_timer
        ));
    }
    if !settings.to_timer.is_multiple_of(4) {
        all.push(format!("to-tmr {} is no multiple of 4 BT, a nibble", settings.to_timer));
    }
    all
}

/// Warnings with the names of those that they are about.
#[derive(Default)]
struct Grouped<'a>(Vec<(Vec<&'a str>, String)>);

impl<'a> Grouped<'a> {
    fn of_all(&mut self, what: String) {
        self.0.push((Vec::new(), what));
    }

    fn of(&mut self, name: &'a str, what: String) {
        match self.0.iter_mut().find(|(_, known)| *known == what) {
            Some((names, _)) => names.push(name),
            None => self.0.push((vec![name], what)),
        }
    }

    fn texts(self) -> Vec<String> {
        let text = |(names, what): (Vec<&str>, String)| match &names[..] {
            [] => what,
            [one] => format!("{one}: {what}"),
            [one, other] => format!("{one} and {other}: {what}"),
            [first, second, others @ ..] => format!("{first}, {second} and {} more: {what}", others.len()),
        };
        self.0.into_iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ethtool(8), --get-plca-cfg.
    #[test]
    fn settings_are_printed_as_ethtool_prints_them() {
        let coordinator = as_ethtool_prints("st1", &PlcaSettings::new(0, 8));
        assert_eq!(
            coordinator,
            "PLCA settings for st1:\n\tEnabled: Yes\n\tlocal node ID: 0 (coordinator)\n\tNode count: 8\n\tTO timer: \
             32 BT\n\tBurst count: 0 (disabled)\n\tBurst timer: 128 BT\n"
        );
        let follower = as_ethtool_prints("st2", &PlcaSettings { burst_count: 3, ..PlcaSettings::new(1, 8) });
        assert!(follower.contains("1 (follower)\n\tNode count: 8 (ignored)\n"), "{follower}");
        assert!(follower.contains("Burst count: 3\n"), "{follower}");
        assert!(as_ethtool_prints("st3", &PlcaSettings::off()).contains("255 (unconfigured)"));
        assert_eq!(status_as_ethtool_prints("st1", true), "PLCA status of st1:\n\tStatus: on\n");
    }

    #[test]
    fn settings_are_taken_as_ethtool_takes_them() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let set = |text: &str| super::set(PlcaSettings::off(), &words(text));
        let settings =
            set("enable on node-id 0x3 node-cnt 5 to-tmr 24 burst-cnt 2 burst-tmr 200").expect("all of them");
        assert_eq!(settings.node_id, 3);
        assert_eq!(settings.to_timer, 24);
        for (text, part) in [
            ("node-id 256", "0 to 255 (802.3, 30.16.1.1.4)"),
            ("to-tmr 0", "1 to 255"),
            ("node-cnt -1", "1 to 255"),
            ("enable yes", "`on` or `off`"),
            ("id 3", "`id` is no setting"),
            ("node-id", "has no value"),
            ("dplca 1", "`on` or `off`"),
            ("aging-cycles 0", "1 to 65535"),
            ("dplca on node-id 3", "finds it itself"),
        ] {
            let error = set(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        let dynamic = set("dplca on aging-cycles 5 coordinator-role off").expect("D-PLCA");
        assert_eq!((dynamic.node_id, dynamic.aging_cycles, dynamic.coordinator_role), (254, 5, false));
        let off = |settings| super::set(settings, &words("dplca off"));
        assert!(off(dynamic).is_err_and(|error| error.contains("write `node-id ID`")));
        assert!(off(dynamic.assigned(3, 8)).is_ok_and(|fixed| (fixed.node_id, fixed.dplca) == (3, false)));
    }

    #[test]
    fn what_is_unwise_is_told_with_its_cost() {
        let unwise = |change: fn(&mut [PlcaSettings])| {
            let mut all: Vec<PlcaSettings> = (0..8).map(|id| PlcaSettings::new(id, 8)).collect();
            change(&mut all);
            let nodes: Vec<(PlcaSettings, &[u8])> = all.iter().map(|settings| (*settings, &[][..])).collect();
            super::unwise(Segment { nodes: &nodes, names: &NAMES, round_trip: BitTimes::ZERO })
        };
        assert!(unwise(|_| {}).is_empty());
        assert_eq!(
            unwise(|all| all[0].node_count = 40),
            ["node count 40 with 8 ids: 1,024 BT of every idle cycle are empty"]
        );
        assert!(unwise(|all| all[0].enabled = false)[0].starts_with("no node has id 0"));
        assert!(unwise(|all| all[2].node_id = 9)[0].starts_with("st3: its turn comes after the last"));
        let twins = unwise(|all| all[2].node_id = 1);
        assert_eq!(twins, ["st3: st2 has the same id 1: both send in one turn, and collide"]);
        let bursts = unwise(|all| all[2..].iter_mut().for_each(|node| (node.burst_count, node.burst_timer) = (1, 64)));
        assert_eq!(bursts.len(), 1, "{bursts:?}");
        assert!(bursts[0].starts_with("st3, st4 and 4 more: burst-tmr of 64 BT"), "{bursts:?}");
        let without = unwise(|all| all[7].node_id = PlcaSettings::UNCONFIGURED);
        assert!(without[0].starts_with("st8: no node-id (255)"), "{without:?}");
    }

    /// A host delay is one time or a range of two, and reads as it is written.
    #[test]
    fn a_host_delay_may_be_a_range() {
        let of = |text: &str| super::host_delay(text).map(|delay| (delay.least.get(), delay.most.get()));
        assert_eq!(of("40 us"), Ok((400, 400)));
        assert_eq!(of("2us..8us"), Ok((20, 80)));
        assert_eq!(of("0 BT .. 150 ns"), Ok((0, 2)));
        for text in ["20 BT", "20 BT..80 BT"] {
            let delay = super::host_delay(text).expect("a delay");
            assert_eq!(super::host_delay_text(delay), text);
        }
        for (text, why) in
            [("8us..2us", "ends before"), ("2..8us", "no unit"), ("2us..", "no unit"), ("2s", "a second")]
        {
            assert!(of(text).is_err_and(|what| what.contains(why)), "{text}: {:?}", of(text));
        }
    }

    const NAMES: [&str; 8] = ["st1", "st2", "st3", "st4", "st5", "st6", "st7", "st8"];

    /// One id twice through further ids, one above the count, and a turn that is over before its first bit is heard.
    #[test]
    fn further_ids_and_distances_are_looked_at() {
        let told = |more: &[u8], round_trip: u64| {
            let settings: Vec<PlcaSettings> = (0..3).map(|id| PlcaSettings::new(id, 3 + more.len() as u8)).collect();
            let nodes = [(settings[0], &[][..]), (settings[1], more), (settings[2], &[][..])];
            super::unwise(Segment { nodes: &nodes, names: &NAMES[..3], round_trip: BitTimes::new(round_trip) })
        };
        assert!(told(&[3, 4], 31).is_empty());
        let wrong = told(&[2, 7], 0);
        assert!(
            wrong.iter().any(|one| one.starts_with("st2: its turn comes after the last, since its id 7")),
            "{wrong:?}"
        );
        assert!(
            wrong.iter().any(|one| one.starts_with("st3: st2 has the same id 2: both send in one turn")),
            "{wrong:?}"
        );
        let far = told(&[], 70);
        assert!(far[0].starts_with("a signal and its answer take up to 70 BT, and a turn 32 BT"), "{far:?}");
        assert!(far[0].ends_with("write to-tmr = 72 or more"), "{far:?}");
    }
}
