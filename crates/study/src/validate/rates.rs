//! Frame rates of one saturated station: the most that a medium can carry.

use super::row::Row;
use super::{Check, Topic};

pub(super) fn topic() -> Topic {
    // Frame, rate, options, time for a whole number of frames (a quick one too), and bit times for this number of
    // frames.
    let rates: [(u32, &str, &str, &str, &str, f64, f64); 9] = [
        (64, "10M", "", "67.2s", "672ms", 672.0, 1.0),
        (128, "10M", "", "118.4s", "1184ms", 1184.0, 1.0),
        (1518, "10M", "", "123.04s", "24.608s", 12304.0, 1.0),
        (64, "100M", "", "6.72s", "67.2ms", 672.0, 1.0),
        (128, "100M", "", "11.84s", "118.4ms", 1184.0, 1.0),
        (1518, "100M", "", "12.304s", "2460.8ms", 12304.0, 1.0),
        (64, "1G", " --bursting off", "4.256s", "42.56ms", 4256.0, 1.0),
        (1518, "1G", " --bursting off", "1230.4ms", "246.08ms", 12304.0, 1.0),
        (64, "1G", " --bursting on", "660.8ms", "66.08ms", 66_080.0, 93.0),
    ];
    let check =
        |(size, rate, options, whole, quick, bits, frames): (u32, &'static str, &'static str, _, _, f64, f64)| {
            let check: Check = Box::new(move |bench| {
                let duration = bench.choose(whole, quick);
                let run = bench.sim(&format!(
                    "--stations 1 --frame-size {size} --rate {rate}{options} --duration {duration} --warmup 0s"
                ))?;
                let expected = run.results.config.rate_bits_per_second as f64 / bits * frames;
                let measured = run.per_second("frames_transmitted_ok");
                let what = format!("{size} octets at {rate}{}: frames/s", options.replace(" --", ", "));
                let mut rows = vec![Row::exactly(what, expected, measured).from(&run.command)];
                if (size, rate) == (64, "10M") {
                    let all = run.results.medium.utilization_total;
                    rows.push(Row::exactly("64 octets at 10M: utilization_total", 1.0, all).from(&run.command));
                    let what = "64 octets at 10M: collisions of a lone station";
                    rows.push(Row::exactly(what, 0.0, run.counter("collisions")).from(&run.command));
                }
                Ok(rows)
            });
            check
        };
    Topic {
        title: "Frame rates of one saturated station",
        source: "802.3, 4.4.2: preamble and SFD 64 BT, the frame, interPacketGap 96 BT; at 1000 Mb/s 4.2.3.4 and 4.2.3.2.7",
        about: "At 1000 Mb/s a lone frame of 64 octets keeps carrier up for 64 + 4096 BT; without bursts that is 4,256 BT a frame. \
                With bursts the first is extended, and others follow while less than burstLimit has passed as one ends: 93 frames in 66,080 BT.",
        checks: rates.into_iter().map(check).collect(),
    }
}
