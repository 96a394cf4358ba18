//! The page: the bus in a browser, with runs in it.

use super::facts::what;
use super::gather::{GatherError, Run};
use super::tables::tables;
use super::theory::{Beside, theory};
use page::tiles::{DIGITS, digits, with_interval};
use page::whole::{Report, engine_of};
use sim::files::event_log::{EventLog, EventLogReader, Header, Level};
use sim::files::json_lines::ReadError;
use sim::files::replay::{ReplayError, replay};
use sim::words::prose::escape;
use std::fmt::Write;
use std::fs::read_to_string;
use std::path::Path;
use std::sync::{Arc, Mutex};

const ANY: &str = "a string takes any text";

/// Where a page with an engine is, from the program's folder: in a source tree, and installed.
const PAGES: [&str; 2] = ["../page.html", "../share/ethbus/page.html"];
/// What a page without an engine says.
const MISSING: &str = "This page has the first events around its opening, and neither the life of a frame nor What if: the ethbus \
    that made it found no engine for pages beside it. `rustup target add wasm32-unknown-unknown` and `packaging/page.sh` make \
    one in its source tree, and packages have it. `ethbus explain TRACE --frame st1#1` tells the life of a frame.";

/// The engine of the page that belongs to this program, gzip in base64; nothing if there is none of this version.
fn engine() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let pages = PAGES.iter().filter_map(|place| read_to_string(program.parent()?.join(place)).ok());
    pages.filter_map(|page| engine_of(&page).map(str::to_owned)).next()
}

/// Makes the page; it opens at `at`, in bit times, or where the access method is seen best.
///
/// # Errors
/// A trace that was another one a moment ago.
pub fn page(runs: Vec<Run>, at: Option<u64>, command: &str) -> Result<String, GatherError> {
    let title = runs.iter().map(title).collect::<Vec<_>>().join(" and ");
    let engine = engine();
    let mut after = String::new();
    for run in runs.iter().filter(|run| run.is_empty()) {
        writeln!(after, "<p><strong>Nothing happened</strong> in {}.</p>", escape(&run.label())).expect(ANY);
    }
    after += &beside(&runs);
    after += &what(&runs, command);
    after.extend(runs.iter().map(tables));
    writeln!(
        after,
        "<p class=\"faint\">After a figure: where it is in 95 of 100 runs. Each frame counts with the usual gap: utilization is \
         above 1 where frames are on the medium at the same time and arrive, as on both sides of a cut. Made by {}.</p>",
        concat!("ethbus ", env!("CARGO_PKG_VERSION"))
    )
    .expect(ANY);
    let mut report = Report::default();
    for run in runs {
        let label = run.label();
        report = match run.told {
            None => report.with_results(&label, &run.results),
            Some(told) => {
                let trace = if engine.is_some() { packed(&run.path)? } else { Arc::from([]) };
                report.with(&label, &page::run::Run::with_results(told, run.results, trace), at)
            }
        };
    }
    Ok(report.page(&title, &after, engine.as_deref(), if engine.is_some() { "" } else { MISSING }))
}

/// A trace in its binary form, with events and without octets.
fn packed(path: &Path) -> Result<Arc<[u8]>, ReplayError> {
    let mut trace = EventLogReader::open(path)?;
    let is_of_inputs = !trace.header().level.has_events();
    let header = Header { binary: None, ..trace.header().clone().at_level(Level::Events) };
    let kept = Arc::<Mutex<Vec<u8>>>::default();
    let mut copy = EventLog::packed(&kept, &header)?.without_octets();
    if is_of_inputs {
        replay(trace, copy)?;
    } else {
        copy = copy.without_digest();
        match copy.copy_rest(&mut trace)? {
            Ok(()) | Err(ReadError::CutShort { .. } | ReadError::NotWhole { .. }) => copy.finish()?,
            Err(error) => return Err(error.into()),
        };
    }
    let octets = std::mem::take(&mut *kept.lock().expect("one thread"));
    Ok(octets.into())
}

fn title(run: &Run) -> String {
    match run.results.config.name.as_str() {
        "" => run.label(),
        name => format!("{name} ({})", run.label()),
    }
}

/// Theory beside what was measured.
fn beside(runs: &[Run]) -> String {
    let rows: Vec<(String, Vec<Beside>)> = runs.iter().map(|run| (run.label(), theory(run))).collect();
    if rows.iter().all(|(_, rows)| rows.is_empty()) {
        return String::new();
    }
    let mut text = "<h2>Theory beside measurement</h2>\n<div class=\"wide\"><table>\n<tr><th>run</th><th>figure</th>\
        <th class=\"number\">theory</th><th class=\"number\">measured</th><th>its interval</th><th>source</th></tr>\n"
        .to_owned();
    for (label, rows) in rows {
        for Beside { what, theory, measured, half, source } in rows {
            let (measured, sure) = with_interval(measured, half, None);
            writeln!(
                text,
                "<tr><td>{}</td><td>{what}</td><td class=\"number\">{}</td><td class=\"number\">{measured}</td><td>{sure}</td><td>{source}</td></tr>",
                escape(&label),
                digits(theory, DIGITS),
            )
            .expect(ANY);
        }
    }
    text + "</table></div>\n"
}
