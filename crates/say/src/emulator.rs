//! The report of a live bus about itself: lateness, drops, slip, and the time that the machine took.

use super::NOT_MEASURED;
use super::verdict::slipped;
use sim::figures::emulator::{Figure, LINKS, Shown, figures};
use sim::figures::results::{EmulatorResults, LinkResults, Results};
use sim::words::units::{group, many};

/// A median lateness that no medium explains: the machine does not keep up.
const FAR_BEHIND: u64 = 1_000_000;

/// The emulator's part of the table.
pub(super) fn emulator(results: &Results, emulator: &EmulatorResults) -> String {
    let links = kernel_drops(&emulator.links);
    let behind = if emulator.timing.lateness_p50_ns > FAR_BEHIND {
        "  this machine is too slow for so many stations or frames: most deliveries came far too late\n"
    } else {
        ""
    };
    let latency = match emulator.latency.as_str() {
        "" | "normal" => String::new(),
        words => format!(", latency {words}"),
    };
    let fan_out = match emulator.copying.fan_out.as_str() {
        "" => String::new(),
        way if emulator.copying.helped_copies > 0 => format!(", fan-out: {way}, by several processors"),
        way => format!(", fan-out: {way}"),
    };
    format!(
        "emulator ({}{latency}{fan_out})\n  lateness      {}\n  \
         late arrivals {}, the latest by {:.1} us\n  drops         {}\n{links}  \
         taken by      {}\n{}{}{behind}",
        emulator.priority,
        lateness(emulator),
        group(emulator.timing.late_arrivals),
        micros(emulator.timing.late_arrival_max_ns),
        drops(emulator),
        taken(emulator),
        pace(emulator, slipped(results, emulator)),
        oddities(emulator),
    )
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

fn lateness(emulator: &EmulatorResults) -> String {
    match emulator.timing.deliveries {
        0 => NOT_MEASURED.to_owned(),
        deliveries => format!(
            "{:.1} us p50, {:.1} us p99, {:.1} us longest, over {}, {} above 1 ms",
            micros(emulator.timing.lateness_p50_ns),
            micros(emulator.timing.lateness_p99_ns),
            micros(emulator.timing.lateness_max_ns),
            if deliveries == 1 { "1 delivery".to_owned() } else { format!("{} deliveries", group(deliveries)) },
            many(emulator.machine.late_deliveries, "frame")
        ),
    }
}

/// The counts that the table has in one line, each with its words.
fn shown(emulator: &EmulatorResults, words: fn(Shown) -> Option<&'static str>) -> impl Iterator<Item = (&str, u64)> {
    let count = |figure: &Figure| (figure.value)(emulator).unwrap_or(0.0) as u64;
    figures().filter_map(move |figure| Some((words(figure.shown)?, count(figure))))
}

/// Frames that were lost, by cause.
fn drops(emulator: &EmulatorResults) -> String {
    let drops = shown(emulator, |shown| match shown {
        Shown::Drop(words) => Some(words),
        Shown::Also(_) | Shown::Elsewhere => None,
    });
    let windows = emulator.observers.incomplete_files.iter().filter(|file| file.holds != "trace");
    let windows = windows.map(|file| (file.holds.as_str(), file.missing));
    drops.chain(windows).map(|(name, count)| format!("{name} {}", group(count))).collect::<Vec<_>>().join(", ")
}

/// Who else had the processors meanwhile.
fn taken(emulator: &EmulatorResults) -> String {
    let taken = |nanos: u64| format!("{:.1} ms", nanos as f64 / 1e6);
    let others = emulator.machine.cpu_wait_ns.map_or_else(|| "unknown".to_owned(), taken);
    // Zero on a machine that is no virtual one, too.
    let host = emulator.machine.steal_ns.filter(|nanos| *nanos > 0);
    let host = host.map_or_else(String::new, |nanos| format!(", the host of this virtual machine {}", taken(nanos)));
    format!("other programs {others}{host}")
}

/// How the medium's time followed real time, where it did not just do so.
fn pace(emulator: &EmulatorResults, slipped: f64) -> String {
    let pace = if emulator.machine.time_scale == 1.0 || emulator.machine.time_scale == 0.0 {
        String::new()
    } else {
        format!("  time scale    {} of real time\n", emulator.machine.time_scale)
    };
    let slip = if emulator.machine.slips == 0 {
        String::new()
    } else {
        format!(
            "  slip          the medium's time stood still {}, for {:.1} ms in all, {} of real time\n",
            many(emulator.machine.slips, "time"),
            emulator.machine.slip_ns as f64 / 1e6,
            percent(slipped)
        )
    };
    let pause = match emulator.machine.paused_ns {
        0 => String::new(),
        nanos => format!("  pause         a user stopped the medium's time for {:.1} ms in all\n", nanos as f64 / 1e6),
    };
    pace + &slip + &pause
}

/// A part as a percentage, which is not 0 if the part is not.
fn percent(part: f64) -> String {
    if part > 0.0 && part < 5e-5 { "less than 0.01 %".to_owned() } else { format!("{:.2} %", 100.0 * part) }
}

/// What does not happen on most runs, as far as it did.
fn oddities(emulator: &EmulatorResults) -> String {
    let oddities = shown(emulator, |shown| match shown {
        Shown::Also(words) => Some(words),
        Shown::Drop(_) | Shown::Elsewhere => None,
    });
    let oddities: Vec<String> =
        oddities.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {}", group(count))).collect();
    if oddities.is_empty() { String::new() } else { format!("  also          {}\n", oddities.join(", ")) }
}

/// What the kernel dropped between stations and bus, and where.
fn kernel_drops(links: &[LinkResults]) -> String {
    if links.is_empty() {
        return String::new();
    }
    let lost = |link: &LinkResults| {
        let places = LINKS.iter().filter(|counter| !counter.place.is_empty());
        let places = places.map(|counter| (counter.place, (counter.value)(link).unwrap_or(0)));
        let places = places.filter(|(_, count)| *count > 0);
        let places: Vec<String> = places.map(|(place, count)| format!("{} {place}", group(count))).collect();
        (!places.is_empty()).then(|| format!("{} {}", link.station, places.join(", ")))
    };
    let lost: Vec<String> = links.iter().filter_map(lost).collect();
    let offloads = links.iter().filter(|link| !link.offloads.is_empty()).map(|link| {
        format!(
            "  offloads      somebody switched them on in {} ({}): `ethtool -K eth0 tx off sg off tso off gso off` there ends it\n",
            link.station,
            link.offloads.join(", ")
        )
    });
    let offloads: String = offloads.collect();
    let tunnel = |link: &LinkResults| {
        let span = link.tunnel_round_trip_ns? as f64 / 1e6;
        Some(format!("  tunnel        {span:.3} ms to the machine of {} and back, as it was made\n", link.station))
    };
    let tunnels: String = links.iter().filter_map(tunnel).collect();
    format!(
        "  in the kernel {}\n{tunnels}{offloads}",
        if lost.is_empty() { "no drops".to_owned() } else { lost.join("; ") }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::told_results;

    /// Ten milliseconds are little of ten seconds and much of fifty milliseconds: the share says which. A pause is no slip.
    #[test]
    fn slip_comes_with_its_share_of_real_time() {
        let mut results = told_results();
        let mut live = EmulatorResults::default();
        (live.machine.slips, live.machine.slip_ns, live.machine.time_scale) = (31, 10_000_000, 1.0);
        live.machine.paused_ns = 2_500_000_000;
        results.measured_bit_times = results.config.rate_bits_per_second;
        let told = emulator(&results, &live);
        let right = "the medium's time stood still 31 times, for 10.0 ms in all, 0.99 % of real time\n";
        assert!(told.contains(right) && told.contains("a user stopped the medium's time for 2500.0 ms"), "{told}");
        live.machine.slip_ns = 100_000_000_000;
        assert!(emulator(&results, &live).contains("99.01 % of real time"), "never above 100 %");
        assert_eq!([percent(0.0), percent(1e-6)], ["0.00 %", "less than 0.01 %"]);
    }
}
