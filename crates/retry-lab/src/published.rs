//! Tables of retry delays as the literature prints them, beside what the policies give, and where the print is wrong.

use super::wrapped;
use backoff::{Jitter, Policy};
use serde::Serialize;
use std::time::Duration;

/// Version of the JSON form.
const VERSION: u32 = 1;

/// All tables.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    version: u32,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A table that was printed.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The policy.
    pub name: &'static str,
    /// Who printed it.
    pub source: &'static str,
    /// What its rows say.
    pub columns: &'static str,
    /// Its rows.
    pub rows: Vec<Row>,
    /// What is wrong in print.
    pub misprints: Vec<&'static str>,
}

/// A row as it was printed and as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Attempt or request, from 1.
    pub request: u64,
    /// In print.
    pub printed: &'static str,
    /// From the policy, in the same form.
    pub computed: String,
}

impl Published {
    /// Every table.
    pub fn new() -> Published {
        Published {
            version: VERSION,
            tables: vec![google_http(), google_drive(), simpledb(), sip(), polling(), ethernet()],
        }
    }

    /// For people.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text += &format!("{}\n", table.name);
            text += &wrapped("  from: ", table.source);
            text += &wrapped("  ", table.columns);
            for row in &table.rows {
                let mark = if row.printed == row.computed { "" } else { "  differs" };
                let line = format!("  {:>7}  {:<22}  {:<22}{mark}", row.request, row.printed, row.computed);
                text += line.trim_end();
                text.push('\n');
            }
            for misprint in &table.misprints {
                text += &wrapped("  misprint: ", misprint);
            }
            text.push('\n');
        }
        text
    }
}

impl Default for Published {
    fn default() -> Published {
        Published::new()
    }
}

fn rows(printed: &[&'static str], computed: impl Fn(u64) -> String) -> Vec<Row> {
    let row = |(request, &printed): (u64, &&'static str)| Row { request, printed, computed: computed(request) };
    (1..).zip(printed).map(row).collect()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn google_http() -> Table {
    let printed = [
        "00.50 [0.25, 0.75]",
        "00.75 [0.38, 1.12]",
        "01.12 [0.56, 1.69]",
        "01.69 [0.84, 2.53]",
        "02.53 [1.27, 3.80]",
        "03.80 [1.90, 5.70]",
        "05.70 [2.85, 8.54]",
        "08.54 [4.27, 12.81]",
        "12.81 [6.41, 19.22]",
        "19.22 STOP",
    ];
    let computed = |request| {
        let (Some(law), Some(interval)) =
            (Policy::GOOGLE_HTTP.law(request), Policy::GOOGLE_HTTP.with_jitter(Jitter::None).law(request))
        else {
            return String::new();
        };
        let interval = seconds(interval.longest_ns());
        // The table's rule: an interval above 15 s stops.
        if interval > 15.0 {
            return format!("{interval:05.2} STOP");
        }
        format!("{interval:05.2} [{:.2}, {:.2}]", seconds(law.shortest_ns()), seconds(law.longest_ns()))
    };
    Table {
        name: "google-http",
        source: "a note on exponential backoff of 2013, after ExponentialBackOffPolicy of google-http-java-client 1.15",
        columns: "request, retry_interval and randomized_interval in seconds: printed, computed",
        rows: rows(&printed, computed),
        misprints: vec![
            "max_elapsed_time is 15 minutes in the source, not 15 seconds",
            "the source stops when the time elapsed passes max_elapsed_time, not when an interval does",
        ],
    }
}

fn google_drive() -> Table {
    let printed = ["[1, 1002]", "[2, 1003]", "[4, 1005]", "[8, 1009]", "[16, 1017]", "STOP"];
    let policy = Policy::exponential(Duration::from_millis(1))
        .with_jitter(Jitter::AddedMillis { most: 1000 })
        .with_attempt_limit(6);
    let computed = |request| match policy.law(request) {
        Some(law) => format!("[{}, {}]", law.shortest_ns() / 1_000_000, law.longest_ns() / 1_000_000),
        None => "STOP".to_owned(),
    };
    Table {
        name: "google-drive",
        source: "the same note, after the Google Drive SDK, guide to errors",
        columns: "request, 2^N + [0, 1000] in milliseconds: printed, computed",
        rows: rows(&printed, computed),
        misprints: vec![
            "every upper bound is 1 ms too high: 2^N + 1000 is 1001, 1002, 1004, 1008, 1016",
            "2^N counts seconds in the guide's sample, (2 ** n) + random.randint(0, 1000) / 1000; the preset does so too",
        ],
    }
}

fn simpledb() -> Table {
    let printed = ["[0, 400)", "[0, 1600)", "[0, 6400)", "[0, 25600)", "[0, 102400)"];
    let computed = |request| {
        let law = Policy::AMAZON_SIMPLEDB.law(request);
        law.map_or(String::new(), |law| format!("[0, {})", (law.longest_ns() + 1) / 1_000_000))
    };
    Table {
        name: "simpledb",
        source: "the same note, after AWS article 1394",
        columns: "request, [0, 1) * 100 * 4^N in milliseconds: printed, computed",
        rows: rows(&printed, computed),
        misprints: Vec::new(),
    }
}

fn sip() -> Table {
    let printed = ["0.5", "1", "2", "4", "4", "4"];
    let computed =
        |request| Policy::SIP_TIMER_E.law(request).map_or(String::new(), |law| seconds(law.longest_ns()).to_string());
    Table {
        name: "sip-e",
        source: "Wikipedia, Exponential backoff: T1 = 500 ms, T2 = 4 s, after RFC 3261",
        columns: "retransmission, interval in seconds: printed, computed",
        rows: rows(&printed, computed),
        misprints: vec!["only non-INVITE requests have T2; the interval of an INVITE doubles until 64 T1 (17.1.1.2)"],
    }
}

fn polling() -> Table {
    let printed = ["100", "200", "400", "800", "1600"];
    let computed =
        |request| Policy::POLLING.law(request).map_or(String::new(), |law| (law.longest_ns() / 1_000_000).to_string());
    Table {
        name: "polling",
        source: "a post on exponential backoff of 2017: 2^retries * 100, no longer than MAX_WAIT_INTERVAL",
        columns: "wait, in milliseconds: as its code computes, computed",
        rows: rows(&printed, computed),
        misprints: vec![
            "its pseudocode waits MAX_RETRIES times, its Java code once more: `retries++ < MAX_RETRIES` tests first",
            "its pseudocode stops at a server error, its Java code retries it",
            "the pseudocode has no MAX_WAIT_INTERVAL; write polling/cap=10s/attempts=8 for both limits",
            "its text discards an Ethernet frame after 16 retransmissions; the 16th attempt is the last, the 15th retransmission",
        ],
    }
}

fn ethernet() -> Table {
    let printed = ["0.5", "1.5", "3.5"];
    let computed = |request| {
        let law = Policy::IEEE_802_3.law(request);
        law.map_or(String::new(), |law| (law.mean_ns() / 51_200.0).to_string())
    };
    Table {
        name: "ieee-802.3",
        source: "Wikipedia, Exponential backoff: E(c) = (2^c - 1)/2",
        columns: "collision, expected backoff in slots: from the formula, computed",
        rows: rows(&printed, computed),
        misprints: vec![
            "copies of the text lose the exponents: 2c - 1 for 2^c - 1, 23 - 1 for 2^3 - 1, 210 - 1 for 2^10 - 1",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To the digit, but for the one table whose upper bounds are 1 ms too high.
    #[test]
    fn tables_are_reproduced_to_the_digit() {
        for table in Published::new().tables {
            for row in &table.rows {
                if table.name == "google-drive" && row.printed != "STOP" {
                    let high =
                        |text: &str| text.trim_end_matches(']').rsplit(' ').next().and_then(|n| n.parse::<u64>().ok());
                    assert_eq!(high(row.printed), high(&row.computed).map(|high| high + 1), "{row:?}");
                } else {
                    assert_eq!(row.printed, row.computed, "{}", table.name);
                }
            }
        }
    }

    #[test]
    fn the_text_is_at_most_80_characters_wide_and_names_every_misprint() {
        let text = Published::new().table();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches("misprint").count(), 10);
        assert_eq!(text.matches("differs").count(), 5);
    }
}
