//! What a run showed, in one sentence or two, from its figures.

use medium::Method;
use sim::figures::plca::PlcaResults;
use sim::figures::results::RanAway;
use sim::figures::results::{Results, StationResults};
use sim::words::units::group;

/// A sentence for a user who does not read tables.
pub fn sentence(results: &Results) -> String {
    let medium = &results.medium;
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let (sent, lost) = (sum("frames_transmitted_ok"), sum("excessive_collisions"));
    let stations = stations(results.stations.len());
    if results.measured_bit_times == 0 {
        return "The run was stopped in its warm-up, before anything was measured.".to_owned();
    }
    if sent + lost == 0 {
        let queued: u64 = results.stations.iter().map(|station| station.queued_at_start).sum();
        return match sum("offered") + queued {
            0 => format!("{stations} shared the bus, and none had a frame to send while it was measured."),
            frames => {
                format!(
                    "{stations} shared the bus; of {} to send none got through.",
                    self::frames(frames).to_lowercase()
                ) + &backlog(results)
            }
        };
    }
    let collided: u64 = medium.collision_frames.iter().sum();
    let first = (sent - collided.min(sent)) as f64 / (sent + lost) as f64;
    // As the table has it: above 100 % on a cable in two halves, or, by little, with gaps below 96 bit.
    let used = 100.0 * medium.utilization_total;
    let halves = if used > 105.0 { ", both halves of its cable together" } else { "" };
    let config = results.config.medium.config();
    // Acknowledgements and spaces of 802.11 are no part of utilization.
    let mut text = match config.method {
        Method::CsmaCa(_) => {
            format!("{stations} shared the channel; their frames took {used:.2} % of its time; ")
        }
        _ => format!("{stations} shared the bus and filled {used:.2} % of its time{halves}; "),
    };
    text += &match &medium.plca {
        Some(plca) => turns(plca, medium.collision_episodes),
        None => attempts(part(first), &medium.collision_frames),
    };
    text += ".";
    if lost > 0 {
        let verb = if lost == 1 { "was" } else { "were" };
        let after = match config.detects_collisions() {
            true => format!("{} collisions", config.parameters.attempt_limit),
            false => "as many attempts as a frame may have".to_owned(),
        };
        text += &format!(" {} {verb} given up after {after}.", frames(lost));
    }
    text += &backlog(results);
    if medium.plca.is_none() && collided > 0 {
        text += &capture(results, medium.same_winner.unwrap_or(0.0));
    }
    let rate = results.config.rate_bits_per_second as f64;
    let longest = medium.access_delay.max_bt.unwrap_or(0) as f64 / rate;
    if longest > 0.0 {
        text += &format!(" The longest that a frame had to wait for the bus was {}.", time(longest));
    }
    text
}

/// The capture effect, if the last winner wins again far more often than by chance: 1/N with N equal shares of the medium. A
/// station with a large share follows itself often, without any capture.
fn capture(results: &Results, winner: f64) -> String {
    let sent = |station: &StationResults| station.counter("frames_transmitted_ok") as f64;
    let all: f64 = results.stations.iter().map(sent).sum();
    let chance: f64 = results.stations.iter().map(|station| (sent(station) / all).powi(2)).sum();
    if winner <= 1.5 * chance || winner <= 0.3 {
        return String::new();
    }
    format!(
        " The station that had just sent won again in {:.2} % of cases, where chance alone gives {:.0} %: that is the capture effect.",
        100.0 * winner,
        100.0 * chance
    )
}

/// Says how many frames wait, if these are more than half of all: then the bus did not keep up. Saturated stations
/// never have more than one frame each, so a saturated run never prints this.
fn backlog(results: &Results) -> String {
    let sum = |of: fn(&StationResults) -> u64| results.stations.iter().map(of).sum::<u64>();
    let (waiting, before) = (sum(|station| station.queued), sum(|station| station.queued_at_start));
    let asked = before + sum(|station| station.counter("offered"));
    let ran_away = ran_away(results);
    if 2 * waiting <= asked || waiting <= results.stations.len() as u64 {
        return ran_away;
    }
    let rate = results.config.rate_bits_per_second as f64;
    let longest = results.medium.slotted.as_ref().and_then(|slotted| slotted.longest_waiting_bt);
    let longest = longest.map_or(String::new(), |bits| format!(", the longest for {}", time(bits as f64 / rate)));
    // Which of both it was, load or collisions, only users who run away tell.
    format!(
        " {} still waited at the end, more than half of all{longest}: more came than got through.{ran_away}",
        frames(waiting)
    )
}

/// When infinitely many users ran away, if they did in the only run.
fn ran_away(results: &Results) -> String {
    match results.medium.slotted.as_ref().and_then(|slotted| slotted.ran_away.as_ref()) {
        Some(RanAway { unstable_backlog: 0, slots }) if slots.len() == 1 => {
            format!(
                " The users ran away at slot {}: more came than got through from the first one on.",
                group(slots[0])
            )
        }
        Some(RanAway { unstable_backlog, slots }) if slots.len() == 1 => format!(
            " The users ran away at slot {}: with more than {} to be sent again, more meet than get through.",
            group(slots[0]),
            frames(*unstable_backlog).to_lowercase()
        ),
        Some(_) | None => String::new(),
    }
}

/// How frames got through by attempts.
fn attempts(first: String, collision_frames: &[u64]) -> String {
    let most = collision_frames.iter().rposition(|&count| count > 0).map(|last| last + 2);
    let most = most.map_or(String::new(), |most| format!(", the unluckiest of those sent at attempt {most}"));
    format!("{first} at the first attempt{most}")
}

/// How frames got through in turns. What PLCA tells a MAC to have it wait is no collision on the line.
fn turns(plca: &PlcaResults, episodes: u64) -> String {
    let met = match episodes {
        0 => "no frame met another on the line".to_owned(),
        1 => "frames met on the line once".to_owned(),
        episodes => format!("frames met on the line {} times", group(episodes)),
    };
    let cycle = plca.cycle_mean_bt.map_or(String::new(), |mean| {
        format!(". Its turns came round every {} BT on average", group(mean.round() as u64))
    });
    met + &cycle
}

fn stations(count: usize) -> String {
    const WORDS: [&str; 12] =
        ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];
    match count {
        1 => "One station".to_owned(),
        count => format!(
            "{} stations",
            WORDS.get(count.wrapping_sub(1)).map_or(group(count as u64), |word| (*word).to_owned())
        ),
    }
}

fn frames(count: u64) -> String {
    if count == 1 { "One frame".to_owned() } else { format!("{} frames", group(count)) }
}

/// `nine frames in ten got through`
fn part(part: f64) -> String {
    const WORDS: [&str; 9] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    match (part * 10.0).round() as usize {
        _ if part >= 0.995 => "nearly every frame got through".to_owned(),
        0 => format!("{:.0} % of the frames got through", 100.0 * part),
        10 => "more than nine frames in ten got through".to_owned(),
        1 => "one frame in ten got through".to_owned(),
        tenths => format!("{} frames in ten got through", WORDS[tenths - 1]),
    }
}

/// A time in seconds, to two digits.
fn time(seconds: f64) -> String {
    match seconds {
        long if long >= 1.0 => format!("{long:.1} s"),
        middle if middle >= 1e-3 => format!("{:.1} ms", middle * 1e3),
        short => format!("{:.0} us", short * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::told_results;

    /// With PLCA an attempt more is normal: the sentence speaks of turns, and of what met on the line.
    #[test]
    fn with_plca_the_sentence_is_of_turns() {
        let plca = PlcaResults { cycle_mean_bt: Some(475.6), ..PlcaResults::default() };
        let right = turns(&plca, 0);
        assert_eq!(right, "no frame met another on the line. Its turns came round every 476 BT on average");
        assert!(turns(&plca, 41).starts_with("frames met on the line 41 times. "));
        assert_eq!(
            attempts(part(0.91), &[3, 0, 1, 0]),
            "nine frames in ten got through at the first attempt, the unluckiest of those sent at attempt 4"
        );
    }

    /// 41 % are the capture effect among ten stations and chance between two; nor is it capture where one station sends nearly all.
    #[test]
    fn capture_is_told_beside_chance() {
        let mut results = told_results();
        let shared = |results: &mut Results, counts: &[u64]| {
            let station = results.stations[0].clone();
            results.stations = counts.iter().map(|_| station.clone()).collect();
            for (station, count) in results.stations.iter_mut().zip(counts) {
                *station.counters.get_mut("frames_transmitted_ok").expect("a counter") = *count;
            }
        };
        shared(&mut results, &[100; 4]);
        let right = " won again in 41.00 % of cases, where chance alone gives 25 %: that is the capture effect.";
        assert!(capture(&results, 0.41).ends_with(right), "{}", capture(&results, 0.41));
        shared(&mut results, &[100, 100]);
        assert_eq!(capture(&results, 0.41), "");
        shared(&mut results, &[900, 50, 50]);
        assert_eq!(capture(&results, 0.82), "");
    }

    /// More than half of the frames wait at the end: said, in either branch of the sentence. Half of them is not.
    #[test]
    fn a_backlog_is_said() {
        let mut results = told_results();
        let stations = results.stations.len() as u64;
        let offered: u64 = results.stations.iter().map(|station| station.counter("offered")).sum();
        let words = " still waited at the end, more than half of all";
        assert!(!sentence(&results).contains(words), "{}", sentence(&results));
        results.stations.iter_mut().for_each(|station| (station.queued_at_start, station.queued) = (0, 0));
        results.stations[0].queued = offered / 2;
        assert!(!sentence(&results).contains(words), "{}", sentence(&results));
        results.stations[0].queued = offered + stations;
        let said = sentence(&results);
        assert!(said.contains(words) && said.contains("got through"), "{said}");
        for counter in ["frames_transmitted_ok", "excessive_collisions"] {
            results.stations.iter_mut().for_each(|station| *station.counters.get_mut(counter).expect("a counter") = 0);
        }
        let said = sentence(&results);
        assert!(said.contains("none got through.") && said.contains(words), "{said}");
    }

    #[test]
    fn parts_and_times_are_words() {
        assert_eq!(part(0.91), "nine frames in ten got through");
        assert_eq!(part(1.0), "nearly every frame got through");
        assert_eq!(part(0.03), "3 % of the frames got through");
        assert_eq!([time(2.04), time(0.0312), time(0.000_051_2)], ["2.0 s", "31.2 ms", "51 us"]);
        assert_eq!([stations(1), stations(4), stations(50)], ["One station", "Four stations", "50 stations"]);
    }
}
