//! What others published: measured on real Ethernets, and worked out for 802.11. Only what a source that we have says.

use super::row::Row;
use super::{Check, Topic};

pub(super) fn topic() -> Topic {
    let shoch_and_hupp: Check = Box::new(|bench| {
        let duration = bench.choose("100s", "20s");
        let run =
            bench.sim(&format!("examples/first-ethernet.toml --stations 5 --frame-size 504 --duration {duration}"))?;
        let used = run.results.medium.utilization_wire;
        let what = "extremely heavy load on the 3 Mb/s Ethernet (1980): \"approaches 98 percent\"";
        Ok(vec![Row::between(what, 0.975, 0.985, used).from(&run.command)])
    });
    let boggs_mogul_and_kent: Check = Box::new(|bench| {
        let duration = bench.choose("100s", "5s");
        let common = format!("--stations 24 --topology bus:500m --duration {duration}");
        let short = bench.sim(&format!("{common} --frame-size 64"))?;
        let mixed = bench.sim(&format!("{common} --frame-size 64:7,1518:1"))?;
        let (alone, with_long) = (short.results.medium.utilization_total, mixed.results.medium.utilization_total);
        let axis = "24 hosts, shortest frames (1988): 7 to 10 Mb/s, the axis of the figure, utilization_total";
        let higher = "one frame in eight long, seven short: higher, utilization_total";
        Ok(vec![
            Row::between(axis, 0.7, 1.0, alone).from(&short.command),
            Row::between(higher, alone + 0.01, 1.0, with_long).from(&mixed.command),
        ])
    });
    Topic {
        title: "Measured on real Ethernets",
        source: "Shoch and Hupp, CACM 23(12), 1980, abstract; Boggs, Mogul and Kent, SIGCOMM '88, 3.7 and figure 12",
        about: "Both are intervals: the abstract names neither packets nor hosts (taken here: 5 stations, 4096 bit), and the figure is a drawing \
                (it says \"much higher\", not how much). Their 24 hosts stand along a cable; ours along one of 500 m.",
        checks: vec![shoch_and_hupp, boggs_mogul_and_kent],
    }
}

/// What a frame of 802.11b with 6 octets less gets through more, in Mb/s, without and with RTS.
const OF_SIX_OCTETS: [f64; 2] = [0.013, 0.007];
/// Half of the last digit that is printed.
const HALF_A_DIGIT: f64 = 0.005;
const WHY: &str =
    "their frame has 34 octets around the payload, ours 28: a header without the fourth address (802.11, 9.3.2.1)";

/// The most that one sender gets through, worked out by others from the same standard.
pub(super) fn of_one_sender() -> Topic {
    let check = |switch: &'static str, published: f64, more: f64| -> Check {
        Box::new(move |bench| {
            let duration = bench.choose("600s", "60s");
            let run = bench.sim(&format!("examples/one-sender.toml --rts {switch} --duration {duration}"))?;
            let goodput = run.results.medium.slotted.as_ref().expect("it counts frame times").goodput_mbps;
            let row = Row::about(format!("RTS {switch}: Mb/s"), published, run.estimate("goodput_mbps", goodput));
            Ok(vec![row.explained(more, HALF_A_DIGIT, WHY).from(&run.command)])
        })
    };
    let [basic, with_rts] = OF_SIX_OCTETS;
    Topic {
        title: "CSMA/CA, one sender at 11 Mb/s",
        source: "Jun, Peddabachagari and Sichitiu, NCA 2003: the theoretical maximum with 1,500 octets of payload, HR-DSSS at 11 Mb/s",
        about: "They print two digits after the point.",
        checks: vec![check("off", 6.06, basic), check("on", 4.52, with_rts)],
    }
}
