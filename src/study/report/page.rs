//! The page: one file with its style, its script and its data in it.

use super::facts::what;
use super::figures::{Beside, Plot, theory};
use super::gather::{Run, Told};
use super::pack::{base64, pack};
use super::signals::{Drawn, JAMS, signals};
use super::tables::tables;
use super::words::first_events;
use crate::study::origin::metadata;
use crate::study::page::whole;
use crate::study::plot::PlotError;
use crate::study::plot::picture::Kind as Picture;
use medium::{BitInstant, BitTimes, Cause, Event, Kind, Method, StationId, Topology};
use serde_json::{Value, json};
use sim::figures::intervals::BELOW;
use sim::figures::row::{Value as Figure, columns};
use sim::figures::table;
use sim::scene::Part;
use sim::scene::{Layout, Shape};
use sim::words::prose::escape;
use sim::words::sentences::{NAMED, TIED, templates, why};
use sim::words::units::group;
use std::fmt::Write;

/// Events that a page holds of one run at most; more would be slow to open.
pub const MOST_EVENTS: usize = 2_000_000;

const ANY: &str = "a string takes any text";

/// Digits of a figure whose interval is not known.
const DIGITS: i32 = 4;

/// What of a run is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stretch {
    /// From this instant on, in bit times.
    pub from: Option<u64>,
    /// Up to this one.
    pub to: Option<u64>,
    /// Where the diagram opens; the first collision by default.
    pub open: Option<u64>,
}

/// Makes the page.
///
/// # Errors
/// A plot that cannot be drawn.
pub fn page(runs: &[Run], plots: &[Plot], stretch: Stretch, command: &str) -> Result<String, PlotError> {
    let title = runs.iter().map(title).collect::<Vec<_>>().join(" and ");
    let style = include_str!("diagram.css");
    let mut first = format!(
        "<p class=\"faint\">A report of {}. It is one file, and needs no network.</p>\n",
        concat!("ethbus ", env!("CARGO_PKG_VERSION"))
    );
    first += &what(runs, command);
    for run in runs.iter().filter(|run| run.is_empty()) {
        writeln!(first, "<p><strong>Nothing happened</strong> in {}.</p>", escape(&run.label())).expect(ANY);
    }
    if runs.iter().all(Run::is_empty) {
        return Ok(whole(&title, style, &first));
    }
    let mut parts = vec![first, key_figures(runs), diagrams(runs, stretch)];
    let figures = plots.iter().map(figure).collect::<Result<Vec<String>, PlotError>>()?;
    let script = format!("<script>\n{}{}</script>\n", include_str!("told.js"), include_str!("page.js"));
    parts.push(format!("<h2>Plots</h2>\n<div class=\"plots\">\n{}</div>\n", figures.concat()));
    parts.push(beside(runs));
    parts.extend(runs.iter().map(tables));
    Ok(whole(&title, style, &(parts.concat() + &script)))
}

/// What happened in each run. Two runs are side by side and in step.
fn diagrams(runs: &[Run], stretch: Stretch) -> String {
    let all: Vec<String> =
        runs.iter().filter(|run| !run.is_empty() && run.told.is_some()).map(|run| diagram(run, stretch)).collect();
    if all.len() < 2 {
        return all.concat();
    }
    let together: String = all.iter().map(|one| format!("<div>\n{one}</div>\n")).collect();
    format!(
        "<p class=\"keys\"><label><input type=\"checkbox\" id=\"step\" checked> The diagrams show the same time, in \
         step.</label></p>\n<div class=\"together\">\n{together}</div>\n"
    )
}

fn figure(plot: &Plot) -> Result<String, PlotError> {
    let svg = String::from_utf8_lossy(&plot.picture(Picture::Svg)?).into_owned();
    let svg = svg.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    let told = escape(plot.told);
    Ok(format!("<figure><div role=\"img\" aria-label=\"{told}\">{svg}</div><figcaption>{told}</figcaption></figure>\n"))
}

fn title(run: &Run) -> String {
    match run.results.config.name.as_str() {
        "" => run.label(),
        name => format!("{name} ({})", run.label()),
    }
}

fn key_figures(runs: &[Run]) -> String {
    let mut text = "<h2>Key figures</h2>\n<div class=\"wide\"><table>\n<tr><td></td>".to_owned();
    runs.iter().for_each(|run| write!(text, "<th class=\"number\">{}</th>", escape(&run.label())).expect(ANY));
    text += if runs.len() == 2 { "<th class=\"number\">difference</th></tr>\n" } else { "</tr>\n" };
    let rows: Vec<Vec<(String, Figure)>> = runs.iter().map(|run| columns(&run.results)).collect();
    let value = |of: &[(String, Figure)], name: &str| {
        of.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.number())
    };
    let count =
        |run: &Run, counter: &str| run.results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let is_plca = |run: &Run| matches!(run.config().method, Method::Plca(_));
    let collided = match runs.iter().any(is_plca) {
        true => "attempts that collided, logical collisions of PLCA among them",
        false => "attempts that collided",
    };
    for (what, counter) in [("frames that were transmitted", "frames_transmitted_ok"), (collided, "collisions")] {
        write!(text, "<tr><td>{what}</td>").expect(ANY);
        runs.iter()
            .for_each(|run| write!(text, "<td class=\"number\">{}</td>", group(count(run, counter))).expect(ANY));
        text += if runs.len() == 2 { "<td></td></tr>\n" } else { "</tr>\n" };
    }
    for (name, what) in table::key_figures() {
        let name = name.as_str();
        let values: Vec<Option<f64>> = rows.iter().map(|row| value(row, name)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        write!(text, "<tr><td>{what}</td>").expect(ANY);
        for (row, own) in rows.iter().zip(&values) {
            let half = value(row, &half_name(name));
            let below = value(row, &format!("{}{BELOW}", half_name(name)));
            write!(text, "<td class=\"number\">{}</td>", with_interval(*own, half, below)).expect(ANY);
        }
        if let [Some(one), Some(other)] = values[..] {
            let sign = if other >= one { "+" } else { "−" };
            write!(text, "<td class=\"number\">{sign}{}</td>", digits((other - one).abs(), DIGITS)).expect(ANY);
        } else if values.len() == 2 {
            text += "<td></td>";
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n<p class=\"faint\">After ±: half of the 95 % confidence interval; after − and +: how far it reaches \
            down and up. Each frame counts with the usual gap: utilization is above 1 where frames are on the medium at the \
            same time and arrive, as on both sides of a cut.</p>\n"
}

/// The column with a metric's half-width.
fn half_name(name: &str) -> String {
    format!("ci95_{name}")
}

/// A figure with its interval; neither has digits that the interval does not warrant.
fn with_interval(own: Option<f64>, half: Option<f64>, below: Option<f64>) -> String {
    let Some(own) = own else { return "–".to_owned() };
    let Some(half) = half.filter(|half| *half > 0.0) else { return digits(own, DIGITS) };
    let least = below.filter(|below| *below > 0.0).map_or(half, |below| below.min(half));
    let order = |value: f64| value.abs().log10().floor() as i32;
    // Two digits of the interval, and four of the figure at most.
    let most = if own == 0.0 { 9 } else { 3 - order(own) };
    let places = (1 - order(least)).min(most).clamp(0, 9) as usize;
    let written = |value: f64| match () {
        () if value.abs() < 0.5 * 0.1_f64.powi(places as i32) => digits(value, DIGITS),
        () if places == 0 => group(value.round() as u64),
        () => format!("{value:.places$}"),
    };
    match below {
        Some(below) => format!("{} −{} +{}", written(own), written(below.min(own)), written(half)),
        None => format!("{} ± {}", written(own), written(half)),
    }
}

/// A number with `count` digits that say something, and with all before its point.
pub(super) fn digits(value: f64, count: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    match before - count {
        0.. => group(value.round() as u64),
        after => format!("{value:.*}", (-after).clamp(0, 9) as usize),
    }
}

/// The diagram of one run; nothing if it is not known what happened.
fn diagram(run: &Run, stretch: Stretch) -> String {
    let Some(told) = &run.told else { return String::new() };
    let place = |at: Option<u64>, otherwise: usize| {
        at.map_or(otherwise, |at| told.events.partition_point(|event| event.at.get() < at))
    };
    let from = place(stretch.from, 0);
    let to = place(stretch.to, told.events.len()).clamp(from, from + MOST_EVENTS).min(told.events.len());
    let events = &told.events[from..to];
    let left_out = told.events.len() - events.len();
    let note = match left_out {
        0 => String::new(),
        some => format!(
            "<p class=\"faint\">{} of {} events are in this page; --from and --to choose others.</p>",
            group(events.len() as u64),
            group((events.len() + some) as u64)
        ),
    };
    let begin =
        if stretch.from.is_none() { BitInstant::ZERO } else { events.first().map_or(told.end, |event| event.at) };
    let drawn = signals(told, from..to, begin, last(told, events, begin));
    format!(
        "<h2>What happened, over place and time: {}</h2>\n{}{note}\n<section class=\"diagram\" aria-label=\"Space-time diagram of {0}\">\n{BUTTONS}\
         <output aria-live=\"polite\">Nothing is chosen.</output>\n<div class=\"frame\"><canvas tabindex=\"0\" role=\"img\" \
         aria-label=\"Stations are side by side, time goes down. Arrow keys choose events, which the text above describes.\"></canvas>\
         <div class=\"paper\"></div><div class=\"tip\" hidden></div></div>\n<script type=\"application/json\" class=\"run\">{}</script>\n\
         <script type=\"text/plain\" class=\"events\">{}</script>\n<script type=\"text/plain\" class=\"signals\">{}</script>\n\
         </section>\n{}",
        escape(&run.label()),
        legend(&run.config()),
        described(run, told, events, begin, &drawn, stretch).to_string().replace('<', "\\u003c"),
        base64(&pack(events, begin, told.header.stations.len())),
        base64(&drawn.octets),
        first_events(told, from..to),
    )
}

/// What the diagram of a medium shows.
fn legend(config: &medium::Config) -> String {
    let stations = match Layout::new(config).shape {
        Shape::Cable => {
            "Stations are side by side at their places. Time goes down. A signal is a band that slants as it travels."
        }
        Shape::Places => "Each station has a lane, with what is at its place. Time goes down.",
        Shape::Senders => "Each node has a lane, in order of node id, with what it sends. Time goes down.",
    };
    let cross = if config.detects_collisions() {
        "A cross is where a station notices a collision."
    } else {
        "A cross is where a sender learns that its frame did not arrive."
    };
    let turns = match config.method {
        Method::Plca(_) => "<span style=\"opacity:.8\"></span>BEACON<span style=\"opacity:.12\"></span>COMMIT",
        _ => "",
    };
    // Lines and dots, not gradients: paper has them too.
    let drawn = |class: &str, path: &str| {
        format!("<svg class=\"{class}\" width=\"22\" height=\"12\" aria-hidden=\"true\"><path d=\"{path}\"/></svg>")
    };
    let jam = match config.detects_collisions() {
        true => drawn("jam", "M3 3h0M8 3h0M13 3h0M18 3h0M3 9h0M8 9h0M13 9h0M18 9h0") + "jam",
        false => String::new(),
    };
    let met = drawn("met", "M0 6L6 0M1 12L13 0M8 12L20 0M15 12L22 5");
    let frames = match config.method {
        Method::CsmaCa(_) => "<span style=\"opacity:.38\"></span>frame<span style=\"opacity:.3\"></span>RTS, CTS, ACK",
        _ => "<span style=\"opacity:.2\"></span>preamble and SFD<span style=\"opacity:.38\"></span>frame",
    };
    format!(
        "<p class=\"how\">{stations} A name has the colour of the station's signals. {cross}</p>\n<p class=\"legend faint\">{turns}\
         {frames}{jam}{met}several signals</p>\n"
    )
}

const BUTTONS: &str = "<form class=\"keys\"><button type=\"button\" data-key=\"ArrowLeft\">← event</button>\
    <button type=\"button\" data-key=\"ArrowRight\">event →</button>\
    <button type=\"button\" data-key=\"N\">← collision</button><button type=\"button\" data-key=\"n\">collision →</button>\
    <button type=\"button\" data-key=\"+\">zoom in</button><button type=\"button\" data-key=\"-\">zoom out</button>\
    <button type=\"button\" data-key=\"ArrowUp\">earlier</button><button type=\"button\" data-key=\"ArrowDown\">later</button>\
    <button type=\"button\" data-key=\"0\">whole run</button><button type=\"button\" data-key=\"f\">follow the frame</button>\
    <button type=\"button\" data-key=\"svg\">save as SVG</button>\
    <label>find <input name=\"wanted\" type=\"search\" placeholder=\"st2#17 or 30,216,041\" size=\"20\"></label>\
    <button>go</button> <span class=\"faint\">Keys: arrows, n, N, +, −, 0, f, /; wheel, drag; a click follows a frame.</span></form>\n";

/// How far the page goes.
fn last(told: &Told, events: &[Event], begin: BitInstant) -> BitInstant {
    events.last().map_or(told.end, |event| event.at).max(begin)
}

/// What the script has to know.
fn described(run: &Run, told: &Told, events: &[Event], begin: BitInstant, drawn: &Drawn, stretch: Stretch) -> Value {
    let config = run.config();
    let meets = |event: &Event| matches!(event.kind, Kind::Collision { episode: 1.., .. });
    let collides = |event: &Event| matches!(event.kind, Kind::Collision { .. });
    let after = |event: &&Event| stretch.open.is_none_or(|open| event.at.get() >= open);
    let open = match stretch.open {
        Some(_) => events.iter().position(|event| after(&event)),
        None => events
            .iter()
            .position(meets)
            .or_else(|| events.iter().position(collides))
            .or_else(|| events.iter().position(|event| matches!(event.kind, Kind::Attempt { .. })))
            .or((!events.is_empty()).then_some(0)),
    };
    let causes: Vec<&str> = Cause::ALL.into_iter().map(|cause| why(cause, &config)).collect();
    let words: serde_json::Map<String, Value> =
        templates(&config).into_iter().map(|(name, text)| (name.to_owned(), json!(text.replace(TIED, " ")))).collect();
    let Layout { order, shape } = Layout::new(&config);
    let places: Vec<usize> =
        order.into_iter().map(StationId::index).filter(|index| *index < told.header.stations.len()).collect();
    let end = last(told, events, begin);
    json!({
        "names": told.header.stations,
        "places": places,
        "shape": match shape {
            Shape::Cable => "cable",
            Shape::Places => "places",
            Shape::Senders => "senders",
        },
        "rate": config.rate.get(),
        "slot": config.parameters.slot_time.get(),
        "clocks": config.has_wrong_clocks().then_some(&config.clocks_ppm),
        "jam": config.parameters.jam_size.get(),
        "clause": config.clause_of_sending(),
        "attempt_limit": config.attempt_limit().map(std::num::NonZeroU32::get),
        "backoff_limit": config.parameters.backoff_limit,
        "method": match config.method {
            Method::CsmaCd => "csma-cd",
            Method::Plca(_) => "plca",
            _ => "undetected",
        },
        "policy": config.backoff.is_some(),
        "detects": config.detects_collisions(),
        "signals": drawn.count,
        "longest_signal": drawn.longest,
        "parts": Part::ALL.map(|(_, name)| name),
        "jams": JAMS,
        "cuts": drawn.cuts.iter().map(|far| far.to_vec()).collect::<Vec<_>>(),
        "in_range": in_range(&config),
        "longest": config.topology.longest_distance().get(),
        "topology": topology(&config.topology),
        "count": events.len(),
        "packed_from": begin.get(),
        "end": end.get(),
        "open": open.map_or(-1, |place| place as i64),
        "kinds": Kind::ALL,
        "causes": causes,
        "words": words,
        "named": NAMED,
        "origin": metadata(&run.results.seed.to_string()),
    })
}

/// Distances as the script works with them.
fn topology(topology: &Topology) -> Value {
    let all = || (0..topology.stations() as u16).map(StationId::new);
    match topology {
        Topology::Star { distance, .. } => json!({ "star": distance.get() }),
        Topology::Bus { positions } => {
            json!({ "bus": positions.iter().map(|position| position.get()).collect::<Vec<_>>() })
        }
        Topology::Segments(_) => {
            // With jitter each signal has its own ways.
            let row = |a: StationId| all().map(|b| topology.distance(a, b).get()).collect::<Vec<_>>();
            let is_steady = topology.jitter() == BitTimes::ZERO;
            json!({ "matrix": is_steady.then(|| all().map(row).collect::<Vec<_>>()) })
        }
    }
}

/// Which stations each one reaches, if not all.
fn in_range(config: &medium::Config) -> Value {
    let all = || (0..config.topology.stations() as u16).map(StationId::new);
    let rows: Vec<Vec<bool>> = all().map(|from| all().map(|to| config.reaches(from, to, None)).collect()).collect();
    if rows.iter().flatten().all(|reaches| *reaches) { Value::Null } else { json!(rows) }
}

fn beside(runs: &[Run]) -> String {
    let rows: Vec<(String, Vec<Beside>)> = runs.iter().map(|run| (run.label(), theory(run))).collect();
    if rows.iter().all(|(_, rows)| rows.is_empty()) {
        return String::new();
    }
    let mut text = "<h2>Theory beside measurement</h2>\n<div class=\"wide\"><table>\n<tr><th>run</th><th>figure</th>\
        <th class=\"number\">theory</th><th class=\"number\">measured</th><th>source</th></tr>\n"
        .to_owned();
    for (label, rows) in rows {
        for Beside { what, theory, measured, half, source } in rows {
            writeln!(
                text,
                "<tr><td>{}</td><td>{what}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{source}</td></tr>",
                escape(&label),
                digits(theory, DIGITS),
                with_interval(Some(measured), half, None)
            )
            .expect(ANY);
        }
    }
    text + "</table></div>\n"
}
