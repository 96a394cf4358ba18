//! The settings of a PLCA node under the names of ethtool and of the kernel's netlink, and as ethtool prints them.

use crate::words::units::group;
use medium::PlcaSettings;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Write};

/// The gap that a MAC keeps between frames, which a burst must outlast.
const GAP: u8 = 96;

/// Settings under netlink's names, each with a number; `enabled` is 0 or 1 there, and a truth here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SettingsText {
    /// PLCA is on.
    pub enabled: bool,
    /// aPLCALocalNodeID; 255 is none.
    pub node_id: u8,
    /// aPLCANodeCount.
    pub node_cnt: u8,
    /// aPLCATransmitOpportunityTimer, in bit times.
    pub to_tmr: u8,
    /// aPLCAMaxBurstCount.
    pub burst_cnt: u8,
    /// aPLCABurstTimer, in bit times.
    pub burst_tmr: u8,
}

impl From<PlcaSettings> for SettingsText {
    fn from(settings: PlcaSettings) -> SettingsText {
        let PlcaSettings { enabled, node_id, node_count, to_timer, burst_count, burst_timer } = settings;
        SettingsText {
            enabled,
            node_id,
            node_cnt: node_count,
            to_tmr: to_timer,
            burst_cnt: burst_count,
            burst_tmr: burst_timer,
        }
    }
}

impl From<SettingsText> for PlcaSettings {
    fn from(text: SettingsText) -> PlcaSettings {
        let SettingsText { enabled, node_id, node_cnt, to_tmr, burst_cnt, burst_tmr } = text;
        PlcaSettings {
            enabled,
            node_id,
            node_count: node_cnt,
            to_timer: to_tmr,
            burst_count: burst_cnt,
            burst_timer: burst_tmr,
        }
    }
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

/// What `--set-plca-cfg` takes, changed in `settings`: pairs of a name and a value.
///
/// # Errors
/// A name that ethtool does not know, a value that is missing or out of its range, with what would be right.
pub fn set(mut settings: PlcaSettings, words: &[String]) -> Result<PlcaSettings, String> {
    for pair in words.chunks(2) {
        let [name, value] = pair else {
            return Err(format!("`{}` has no value: write `{} VALUE`", pair[0], pair[0]));
        };
        match name.as_str() {
            "enable" => settings.enabled = truth(value)?,
            "node-id" => settings.node_id = number(name, value, 0, "802.3, 30.16.1.1.4")?,
            "node-cnt" => settings.node_count = number(name, value, 1, "802.3, 30.16.1.1.3")?,
            "to-tmr" => settings.to_timer = number(name, value, 1, "802.3, 30.16.1.1.5")?,
            "burst-cnt" => settings.burst_count = number(name, value, 0, "802.3, 30.16.1.1.6")?,
            "burst-tmr" => settings.burst_timer = number(name, value, 0, "802.3, 30.16.1.1.7")?,
            _ => {
                return Err(format!(
                    "`{name}` is no setting of PLCA: write enable, node-id, node-cnt, to-tmr, burst-cnt or burst-tmr"
                ));
            }
        }
    }
    Ok(settings)
}

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("enable is `{value}`: write `on` or `off`")),
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

/// What is legal in the settings of all nodes but unwise, and what it costs in bit times. `names` are the stations'.
pub fn unwise(all: &[PlcaSettings], names: &[impl Display]) -> Vec<String> {
    let on: Vec<(usize, &PlcaSettings)> = (all.iter().enumerate())
        .filter(|(_, settings)| settings.enabled && settings.node_id != PlcaSettings::UNCONFIGURED)
        .collect();
    let Some((_, coordinator)) = on.iter().find(|(_, settings)| settings.node_id == 0) else {
        let none = "no node has id 0, so nobody sends BEACONs: the bus stays one of plain CSMA/CD (802.3, 148.4.4)";
        return if on.is_empty() { Vec::new() } else { vec![none.to_owned()] };
    };
    let mut warnings = Vec::new();
    let count = usize::from(coordinator.node_count);
    if count > on.len() {
        let empty = (count - on.len()) as u64 * u64::from(coordinator.to_timer);
        let (nodes, empty) = (on.len(), group(empty));
        warnings.push(format!("node count {count} with {nodes} nodes: {empty} BT of every idle cycle are empty"));
    }
    for (station, settings) in &on {
        let (name, id) = (&names[*station], settings.node_id);
        let mut warn = |what: String| warnings.push(format!("{name}: {what}"));
        if usize::from(id) >= count && id != 0 {
            warn(format!(
                "its turn comes after the last, since its id {id} is not below the node count of {count}: it never sends while BEACONs come"
            ));
        }
        if settings.to_timer != coordinator.to_timer {
            warn(format!(
                "to-tmr is {} BT and the coordinator's {} BT: its turns drift against those of others, and collide with some",
                settings.to_timer, coordinator.to_timer
            ));
        }
        if settings.burst_count > 0 && settings.burst_timer <= GAP {
            warn(format!(
                "burst-tmr of {} BT is over before the gap of {GAP} BT is: no burst goes on, and each turn is {} BT longer",
                settings.burst_timer, settings.burst_timer
            ));
        }
        if !settings.to_timer.is_multiple_of(4) {
            warn(format!("to-tmr {} is no multiple of 4 BT, a nibble", settings.to_timer));
        }
        let twin = on.iter().find(|(other, twin)| other < station && twin.node_id == id);
        if let Some((twin, _)) = twin {
            let what = if id == 0 { "both send BEACONs" } else { "both send in one turn, and collide" };
            warn(format!("{} has the same id {id}: {what}", names[*twin]));
        }
    }
    warnings
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
        assert_eq!(SettingsText::from(settings).to_tmr, 24);
        for (text, part) in [
            ("node-id 256", "0 to 255 (802.3, 30.16.1.1.4)"),
            ("to-tmr 0", "1 to 255"),
            ("node-cnt -1", "1 to 255"),
            ("enable yes", "`on` or `off`"),
            ("id 3", "`id` is no setting"),
            ("node-id", "has no value"),
        ] {
            let error = set(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_unwise_is_told_with_its_cost() {
        let unwise = |change: fn(&mut [PlcaSettings])| {
            let mut all: Vec<PlcaSettings> = (0..8).map(|id| PlcaSettings::new(id, 8)).collect();
            change(&mut all);
            let names: Vec<String> = (1..=8).map(|number| format!("st{number}")).collect();
            super::unwise(&all, &names)
        };
        assert!(unwise(|_| {}).is_empty());
        assert_eq!(
            unwise(|all| all[0].node_count = 40),
            ["node count 40 with 8 nodes: 1,024 BT of every idle cycle are empty"]
        );
        assert!(unwise(|all| all[0].enabled = false)[0].starts_with("no node has id 0"));
        assert!(unwise(|all| all[2].node_id = 9)[0].starts_with("st3: its turn comes after the last"));
        let twins = unwise(|all| all[2].node_id = 1);
        assert_eq!(twins, ["st3: st2 has the same id 1: both send in one turn, and collide"]);
    }
}
