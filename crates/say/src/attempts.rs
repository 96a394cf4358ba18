//! How many collisions frames had, as bars.

use super::NOT_MEASURED;
use sim::figures::results::Results;
use sim::words::units::group;

/// Empty bars that are shown between the frames that got through and those that were given up.
const MOST_EMPTY: usize = 16;

/// A bar for each number of collisions that successful frames had, and one for frames that were given up.
pub(super) fn attempts(results: &Results) -> String {
    let medium = &results.medium;
    let logical = if medium.plca.is_some() { ", logical ones included" } else { "" };
    let mut text = format!("  frames after n collisions{logical}\n");
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let none = sum("frames_transmitted_ok") - medium.collision_frames.iter().sum::<u64>();
    let counts: Vec<u64> = [none].into_iter().chain(medium.collision_frames.iter().copied()).collect();
    let discarded = sum("excessive_collisions");
    let most = counts.iter().copied().chain([discarded]).max().unwrap_or(0);
    let last = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    if last == 0 && discarded == 0 {
        return format!("{} {NOT_MEASURED}\n", text.trim_end());
    }
    for (collisions, &count) in counts[..last].iter().enumerate() {
        text += &histogram_line(&collisions.to_string(), count, most);
    }
    if discarded > 0 {
        let attempts = results.config.medium.config().attempt_limit();
        let limit = attempts.map_or(last, |attempts| attempts.get() as usize);
        for collisions in last..limit.min(last + MOST_EMPTY) {
            text += &histogram_line(&collisions.to_string(), 0, most);
        }
        if limit > last + MOST_EMPTY {
            text += &histogram_line("…", 0, most);
        }
        let label = attempts.map_or_else(String::new, |attempts| attempts.to_string());
        text += &format!("{} given up\n", histogram_line(&label, discarded, most).trim_end());
    }
    text
}

fn histogram_line(label: &str, count: u64, most: u64) -> String {
    const WIDTH: u64 = 40;
    let bar = "█".repeat((count * WIDTH).div_ceil(most.max(1)) as usize);
    format!("{}\n", format!("  {label:>4} {:>10} {bar}", group(count)).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bars are as long as the largest, whichever that is: where every frame is discarded it is the last.
    #[test]
    fn no_bar_is_longer_than_the_longest() {
        assert_eq!(histogram_line("16", 7, 1_000).matches('█').count(), 1);
        assert_eq!(histogram_line("16", 1_000, 1_000).matches('█').count(), 40);
        assert_eq!(histogram_line("1", 0, 0).matches('█').count(), 0);
    }
}
