//! The efficiency that Metcalfe and Boggs worked out in 1976, beside what binary exponential backoff makes of it.
//!
//! Their model: time goes in slots while stations contend, and each of Q stations sends in a slot with the probability
//! 1/Q that is best for Q. A, the probability that exactly one does, is (1 - 1/Q)^(Q - 1); W = (1 - A) / A slots are lost
//! for each packet; a packet takes P/C, a slot T, and E = (P/C) / (P/C + W T). It knows of P and T C only the quotient.

use super::row::Row;
use super::{Check, Topic};

/// Stations, as in their table.
const STATIONS: [usize; 10] = [1, 2, 3, 4, 5, 10, 32, 64, 128, 256];
/// Those of a quick validation.
const QUICK: [usize; 5] = [1, 2, 5, 32, 128];

const GAP: &str = "the engine has a gap of at least 1 BT between packets, where the formula has none";
const CAPTURE: &str = "capture: who has just sent tries again at once while the others back off, so most packets meet no contention, \
                       where the formula has all Q stations contend anew for each";
const SPREAD: &str = "contention that outweighs capture: no station knows Q, each frame begins without a delay and each discard begins anew, timers that end during a \
                      packet all release at its end, and so stations collide more often than with the formula's probability of 1/Q";

/// A kind of packet on a medium, and the documented deviations from the formula, by stations.
struct Packets {
    /// Arguments of `ethbus sim` for the medium and the frame.
    arguments: &'static str,
    name: &'static str,
    /// P, in bits, all that the metric counts.
    bits: f64,
    /// T C, in bits.
    slot: f64,
    metric: Metric,
    deviations: [f64; 10],
    /// How far the documented deviations can be off: they are estimates too, of the whole validation with seed 1.
    within: f64,
}

#[derive(Clone, Copy)]
enum Metric {
    /// Preamble and frame.
    Wire,
    /// With the gap, so that a lone station comes to 1.
    Total,
}

const FIRST_ETHERNET: [Packets; 3] = [
    Packets {
        arguments: "examples/first-ethernet.toml --frame-size 504",
        name: "4096 bit",
        bits: 4096.0,
        slot: 48.0,
        metric: Metric::Wire,
        deviations: [-0.0002, 0.0049, 0.0028, 0.0006, -0.0012, -0.0059, -0.0132, -0.0248, -0.0513, -0.1072],
        within: 0.0015,
    },
    Packets {
        arguments: "examples/first-ethernet.toml --frame-size 120",
        name: "1024 bit",
        bits: 1024.0,
        slot: 48.0,
        metric: Metric::Wire,
        deviations: [-0.0010, 0.0363, 0.0397, 0.0380, 0.0348, 0.0161, -0.0204, -0.0369, -0.0702, -0.1577],
        within: 0.0015,
    },
    Packets {
        arguments: "examples/first-ethernet.toml --frame-size 56",
        name: "512 bit",
        bits: 512.0,
        slot: 48.0,
        metric: Metric::Wire,
        deviations: [-0.0019, 0.0761, 0.0875, 0.0890, 0.0870, 0.0636, -0.0146, -0.0487, -0.0883, -0.1862],
        within: 0.0015,
    },
];

const SLOTTED: [Packets; 1] = [Packets {
    arguments: "examples/slotted.toml --frame-size 56",
    name: "one slot (their 48 bit)",
    bits: 512.0,
    slot: 512.0,
    metric: Metric::Wire,
    deviations: [-0.0019, 0.4917, 0.5407, 0.5566, 0.5620, 0.5471, 0.3249, 0.0872, -0.0062, -0.0880],
    within: 0.005,
}];

const IEEE_802_3: [Packets; 2] = [
    Packets {
        arguments: "--frame-size 64 --topology star:0bt",
        name: "64 octets",
        bits: 672.0,
        slot: 512.0,
        metric: Metric::Total,
        deviations: [0.0, 0.4291, 0.4810, 0.5006, 0.5097, 0.5151, 0.4419, 0.3135, 0.2269, 0.2003],
        within: 0.0015,
    },
    Packets {
        arguments: "--frame-size 1518 --topology star:0bt",
        name: "1518 octets",
        bits: 12304.0,
        slot: 512.0,
        metric: Metric::Total,
        deviations: [0.0, 0.0368, 0.0433, 0.0451, 0.0452, 0.0410, 0.0309, 0.0290, 0.0278, 0.0229],
        within: 0.0015,
    },
];

/// E for `stations` stations, packets of `bits` and a slot of `slot` bits.
fn efficiency(stations: usize, bits: f64, slot: f64) -> f64 {
    let q = stations as f64;
    let acquired = (1.0 - 1.0 / q).powf(q - 1.0);
    let waited = (1.0 - acquired) / acquired;
    bits / (bits + waited * slot)
}

pub(super) fn first_ethernet(quick: bool) -> Topic {
    Topic {
        title: "Efficiency at 3 Mb/s",
        source: "Metcalfe and Boggs, CACM 19(7), 1976: the formula at C = 3 Mb/s, T = 16 us, saturated stations",
        about: "utilization_wire: their packet is all that is on the Ether, preamble included. Distance 0, slot 48 BT = 16 us.",
        checks: checks(&FIRST_ETHERNET, quick, "40s", "6s"),
    }
}

pub(super) fn slotted(quick: bool) -> Topic {
    Topic {
        title: "Efficiency with packets as long as a slot",
        source: "the same formula; it knows P and T C by their quotient only, so 48 bit in slots of 48 bit are 512 in slots of 512",
        about: "A frame of 802.3 has at least 18 octets and a preamble, 208 bit: their 48 bit do not fit. Here a collision takes one slot to \
                the bit, as in the model.",
        checks: checks(&SLOTTED, quick, "20s", "4s"),
    }
}

pub(super) fn ieee_802_3(quick: bool) -> Topic {
    Topic {
        title: "Efficiency at 10 Mb/s",
        source: "the same formula with T = slotTime, 512 BT, and the gap of 802.3 as part of P",
        about: "utilization_total: a lone station comes to 1, as in the formula. At distance 0 a collision takes 96 BT and a gap, not a slot.",
        checks: checks(&IEEE_802_3, quick, "30s", "6s"),
    }
}

fn checks(packets: &'static [Packets], quick: bool, whole: &'static str, short: &'static str) -> Vec<Check> {
    let wanted = move |stations: &usize| !quick || QUICK.contains(stations);
    let each = STATIONS.iter().enumerate().filter(move |(_, stations)| wanted(stations));
    let pair = |packets: &'static Packets| each.clone().map(move |(index, &stations)| (packets, index, stations));
    let check = |(packets, index, stations): (&'static Packets, usize, usize)| -> Check {
        Box::new(move |bench| {
            let duration = bench.choose(whole, short);
            let run = bench.sim(&format!("{} --stations {stations} --duration {duration}", packets.arguments))?;
            Ok(vec![row(packets, index, &run)])
        })
    };
    packets.iter().flat_map(pair).map(check).collect()
}

fn row(packets: &Packets, index: usize, run: &super::bench::Run) -> Row {
    let (stations, deviation, medium) = (STATIONS[index], packets.deviations[index], &run.results.medium);
    let measured = match packets.metric {
        Metric::Wire => run.estimate("utilization_wire", Some(medium.utilization_wire)),
        Metric::Total => run.estimate("utilization_total", Some(medium.utilization_total)),
    };
    let expected = efficiency(stations, packets.bits, packets.slot);
    let what = format!("{}, {stations} station{}", packets.name, if stations == 1 { "" } else { "s" });
    let row = Row::about(what, expected, measured).from(&run.command);
    match deviation {
        0.0 => row,
        _ if stations == 1 => row.explained(deviation, packets.within, GAP),
        above if above > 0.0 => row.explained(deviation, packets.within, CAPTURE),
        _ => row.explained(deviation, packets.within, SPREAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With Q = 2, A is 1/2 and W is 1: a packet of a slot wastes as much as it uses. For many stations A comes to 1/e.
    #[test]
    fn the_formula_has_its_known_values() {
        assert_eq!(efficiency(1, 48.0, 48.0), 1.0);
        assert_eq!(efficiency(2, 48.0, 48.0), 0.5);
        assert!((efficiency(1_000_000, 48.0, 48.0) - (-1.0_f64).exp()).abs() < 1e-6);
    }
}
