//! What others measured on real Ethernets. Only what a source that we have says.

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
