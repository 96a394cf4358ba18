//! Results on a terminal with few lines: the most important rows, and a count of the rows that have no room.

use super::{
    attempts, connections, emulator, heading, medium, sentence, station_notes, station_rows, station_table, turns,
    verdict_line,
};
use crate::terminal::{cut, fold};
use sim::figures::results::Results;
use sim::words::units::many;

/// A part of the page.
struct Part {
    lines: Vec<String>,
    /// The part with the highest number is left out first where there is no room; one with 0 stays.
    spare: u8,
}

/// Of `all` stations, those that are worth more than a part.
fn dearer(spare: u8, all: usize) -> usize {
    match spare {
        0 | 1 => all.min(4),
        2 | 3 => all.min(8),
        _ => all,
    }
}

/// The results under `title`, in at most `lines` lines of `columns` columns.
pub fn fitted(title: &str, results: &Results, columns: usize, lines: usize) -> String {
    let part = |spare, text: &str| Part { lines: folded(text, columns), spare };
    let live = results.emulator.as_ref().map_or_else(String::new, |live| format!("\n{}", emulator(results, live)));
    let mut before = vec![part(0, title), part(3, &heading(results))];
    let mut after = vec![
        part(if results.stations.iter().all(|station| station.adds_up()) { 3 } else { 0 }, &station_notes(results)),
        part(0, &format!("\n{}", medium(results))),
        part(4, &attempts(results)),
        part(2, &after_a_gap(turns::turns(results).trim_end())),
        part(2, &after_a_gap(connections::connections(results).trim_end())),
        part(1, &live),
        part(0, &verdict_line(results)),
        part(5, &after_a_gap(&sentence::sentence(results))),
    ];
    let rows = station_rows(results);
    let head = station_table(&rows).lines().count() - rows.len();
    let all = results.stations.len();
    // One line is kept for what is said of stations that are not shown.
    let needed = |shown: usize| 1 + head + shown + usize::from(shown < all) + 1;
    let taken = |parts: &[Part]| parts.iter().map(|part| part.lines.len()).sum::<usize>();
    loop {
        let most = before.iter().chain(&after).map(|part| part.spare).max().unwrap_or(0);
        if most == 0 || taken(&before) + taken(&after) + needed(dearer(most, all)) <= lines {
            break;
        }
        before.retain(|part| part.spare != most);
        after.retain(|part| part.spare != most);
    }
    let room = lines.saturating_sub(taken(&before) + taken(&after));
    let shown = if needed(all) <= room { all } else { (0..all).rev().find(|&n| needed(n) <= room).unwrap_or(0) };
    let table = stations_table(&rows, shown).into_iter().map(|line| cut(&line, columns));
    let table = Part { lines: [String::new()].into_iter().chain(table).collect(), spare: 0 };
    let page: Vec<String> = before.into_iter().chain([table]).chain(after).flat_map(|part| part.lines).collect();
    page[..page.len().min(lines)].join("\n")
}

/// The first stations, how many there is no room for, and the row of all.
fn stations_table(rows: &[[String; 11]], shown: usize) -> Vec<String> {
    // Made whole, so that columns do not move when stations come and go.
    let table = station_table(rows);
    let lines: Vec<&str> = table.lines().collect();
    let (head, body) = lines.split_at(lines.len() - rows.len());
    let stations = rows.len() - 1;
    let mut text: Vec<String> = head.iter().chain(&body[..shown]).map(|line| (*line).to_owned()).collect();
    if stations > shown {
        text.push(format!("… and {} that this terminal has no line for", many((stations - shown) as u64, "station")));
    }
    text.push(body[stations].to_owned());
    text
}

fn after_a_gap(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}") }
}

/// Lines that are too long are folded, and cut where that does not help. An empty one stays.
fn folded(text: &str, columns: usize) -> Vec<String> {
    fold(text, columns).lines().map(|line| cut(line, columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::told_results;

    /// The results of a lab with this number of stations.
    fn results(stations: usize) -> Results {
        let mut results = told_results();
        let one = results.stations[0].clone();
        results.stations = (1..=stations)
            .map(|number| {
                let mut station = one.clone();
                station.name = format!("st{number}");
                station
            })
            .collect();
        results
    }

    #[test]
    fn a_page_is_no_longer_and_no_wider_than_the_terminal() {
        for stations in [1, 3, 8, 16, 1_024] {
            for (columns, lines) in [(80, 24), (120, 40), (60, 20), (40, 10), (200, 100)] {
                let page = fitted("lab ethbus; q ends", &results(stations), columns, lines);
                let is = (page.lines().count(), page.lines().map(|line| line.chars().count()).max().unwrap_or(0));
                assert!(is.0 <= lines && is.1 <= columns, "{stations} on {columns}x{lines}: {is:?}\n{page}");
                assert!(page.starts_with("lab ethbus; q ends"), "{page}");
            }
        }
    }

    /// Stations without a row are counted, and the row of all stations is there.
    #[test]
    fn stations_without_a_line_are_counted() {
        let page = fitted("lab ethbus", &results(100), 80, 24);
        let shown = page.lines().filter(|line| line.starts_with("st") && !line.starts_with("station")).count();
        let hidden = format!("… and {} stations that this terminal has no line for\nall ", 100 - shown);
        assert!(shown >= 4 && page.contains(&hidden), "{page}");
        assert!(page.contains("utilization"), "{page}");
        let page = fitted("lab ethbus", &results(4), 80, 24);
        assert!(page.contains("\nst4 ") && !page.contains('…'), "{page}");
    }

    /// A terminal that is large enough has all that `ethbus stats` prints.
    #[test]
    fn a_large_terminal_has_everything() {
        let page = fitted("lab ethbus", &results(16), 100, 100);
        for words in ["16 stations, star", "st16", "it adds up", "medium", "frames after n", "shared the bus"] {
            assert!(page.contains(words), "no `{words}` in\n{page}");
        }
    }
}
