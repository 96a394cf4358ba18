//! The registers of a PLCA node as chips have them, so that a bench's register dump can be laid beside a station.
//!
//! Addresses and fields: OPEN Alliance TC14, 10BASE-T1S PLCA Management Registers, in MMD 31; PLCA_DIAG as in the
//! data sheet of LAN8670/1/2, revision D. Attributes: 802.3, 30.16.

use super::plca::PlcaStation;
use serde::Serialize;
use std::fmt::Write;

/// The map's id, 0x0A, and its version, 1.0.
const MAP: u16 = 0x0A10;

/// One register of 16 bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Its address in MMD 31.
    pub address: u16,
    /// Its name.
    pub name: &'static str,
    /// What it reads.
    pub value: u16,
    /// What it consists of, from the highest bit on; bits that are reserved are left out.
    pub fields: Vec<Field>,
}

/// Some bits of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The highest bit.
    pub high: u8,
    /// The lowest bit.
    pub low: u8,
    /// What it reads.
    pub value: u16,
    /// The attribute of clause 30 with the same value, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<&'static str>,
    /// The counter of results behind a bit that says whether something was ever seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<&'static str>,
}

/// A field of bits `high` to `low` with a value.
fn field(name: &'static str, (high, low): (u8, u8), value: impl Into<u16>) -> Field {
    Field { name, high, low, value: value.into(), attribute: None, counter: None }
}

impl Field {
    fn of(self, attribute: &'static str) -> Field {
        Field { attribute: Some(attribute), ..self }
    }
}

fn register(address: u16, name: &'static str, fields: Vec<Field>) -> Register {
    let value = fields.iter().fold(0, |value, field| value | field.value << field.low);
    Register { address, name, value, fields }
}

/// The registers of a node, in order of address.
pub fn registers(node: &PlcaStation) -> Vec<Register> {
    let settings = node.settings;
    // A bit that chips keep until a driver clears it; here it is never cleared.
    let seen = |name, bit, counter: &'static str| {
        let is_seen = node.counters.get(counter).is_some_and(|count| *count > 0);
        Field { counter: Some(counter), ..field(name, (bit, bit), is_seen) }
    };
    vec![
        register(0xCA00, "IDVER", vec![field("IDM", (15, 8), MAP >> 8), field("VER", (7, 0), MAP & 0xFF)]),
        register(
            0xCA01,
            "CTRL0",
            vec![
                field("EN", (15, 15), settings.enabled).of("aPLCAAdminState"),
                field("RST", (14, 14), false).of("acPLCAReset"),
            ],
        ),
        register(
            0xCA02,
            "CTRL1",
            vec![
                field("NCNT", (15, 8), settings.node_count).of("aPLCANodeCount"),
                field("ID", (7, 0), settings.node_id).of("aPLCALocalNodeID"),
            ],
        ),
        register(0xCA03, "STATUS", vec![field("PST", (15, 15), node.status).of("aPLCAStatus")]),
        register(0xCA04, "TOTMR", vec![field("TOTMR", (7, 0), settings.to_timer).of("aPLCATransmitOpportunityTimer")]),
        register(
            0xCA05,
            "BURST",
            vec![
                field("MAXBC", (15, 8), settings.burst_count).of("aPLCAMaxBurstCount"),
                field("BTMR", (7, 0), settings.burst_timer).of("aPLCABurstTimer"),
            ],
        ),
        register(
            0xCA06,
            "DIAG",
            vec![
                seen("RXINTO", 2, "received_in_own_turn"),
                seen("UNEXPB", 1, "unexpected_beacons"),
                seen("BCNBFTO", 0, "beacons_before_turn"),
            ],
        ),
    ]
}

/// One line a field, for people.
pub fn table(name: &str, registers: &[Register]) -> String {
    let mut text = format!("PLCA registers of {name}, MMD 31:\n");
    for register in registers {
        let mut head = format!("{:04X}  {:<7} {:04X}", register.address, register.name, register.value);
        for field in &register.fields {
            let bits =
                if field.high == field.low { field.high.to_string() } else { format!("{}:{}", field.high, field.low) };
            let is = field.attribute.or(field.counter).unwrap_or_default();
            let line = format!("{head:<18}  {:<8} {bits:<5} {:>5}  {is}", field.name, field.value);
            writeln!(text, "{}", line.trim_end()).expect("a string takes any text");
            head.clear();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::PlcaSettings;

    /// The value of each register, worked out by hand from the data sheet's bits.
    #[test]
    fn a_node_reads_as_a_chip_does() {
        let settings = PlcaSettings { burst_count: 3, node_count: 8, ..PlcaSettings::off() };
        let settings = PlcaSettings { enabled: true, node_id: 5, ..settings };
        let counters = [("received_in_own_turn", 7), ("unexpected_beacons", 0), ("beacons_before_turn", 1)];
        let counters = counters.map(|(name, count)| (name.to_owned(), count)).into();
        let node = PlcaStation { status: true, settings, counters, noise_until_bt: None };
        let all = registers(&node);
        let values: Vec<(u16, u16)> = all.iter().map(|register| (register.address, register.value)).collect();
        let read = [0x0A10, 0x8000, 0x0805, 0x8000, 0x0020, 0x0380, 0x0005];
        let right: Vec<(u16, u16)> = (0xCA00..).zip(read).collect();
        assert_eq!(values, right);
        let text = table("st1", &all);
        assert!(text.contains("CA02  CTRL1   0805  NCNT     15:8      8  aPLCANodeCount\n"), "{text}");
        assert!(text.contains("                    BCNBFTO  0         1  beacons_before_turn\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    /// Each bit of DIAG has a counter that results have.
    #[test]
    fn each_counter_is_one_of_results() {
        let counters = medium::PlcaCounters::default();
        let names: Vec<&str> = counters.named().map(|(name, _)| name).collect();
        let node = PlcaStation {
            status: false,
            settings: PlcaSettings::off(),
            counters: names.iter().map(|name| ((*name).to_owned(), 1)).collect(),
            noise_until_bt: None,
        };
        let all = registers(&node);
        let named = all.iter().flat_map(|register| &register.fields).filter_map(|field| field.counter);
        assert!(named.clone().all(|name| names.contains(&name)));
        assert_eq!(named.count(), 3);
    }
}
