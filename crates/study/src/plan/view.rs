//! What a plan says of each message, for people and for programs. It must never work a bound out.

mod classes;

use self::classes::{PlannedClass, classes, classes_text, response_quantiles};
use super::bound::{Analysis, Bound};
use super::search::Searched;
use super::simulate::RUNS;
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::Serialize;
use sim::figures::messages::Observed;
use sim::scenario::messages::{Message, MessageTable, Node};
use sim::words::units::{group, many};

/// Version of the JSON form.
pub const VERSION: u32 = 1;

/// A planned segment.
#[derive(Debug, Serialize)]
pub struct Planned {
    version: u32,
    nodes: usize,
    node_count: u8,
    to_tmr: u8,
    idle_cycle_bt: u64,
    longest_cycle_bt: u64,
    utilization: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulation: Option<Simulation>,
    messages: Vec<PlannedMessage>,
    /// What a simulation gave of each class, if a node has several or a shaper.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<PlannedClass>,
}

/// A search, and the assignment that it found.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    searched: Searched,
    nodes: Vec<Assigned>,
    phases: Vec<Phase>,
}

#[derive(Debug, Serialize)]
struct Assigned {
    node: String,
    node_id: u8,
    burst_cnt: u8,
}

#[derive(Debug, Serialize)]
struct Phase {
    node: String,
    message: String,
    phase_us: f64,
}

/// How it was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// Seconds of virtual time in all.
    pub duration_s: f64,
    /// Independent runs.
    pub runs: u64,
    /// The first one's seed.
    pub seed: u64,
}

#[derive(Debug, Serialize)]
struct PlannedMessage {
    node: String,
    message: String,
    octets: u32,
    period_us: f64,
    deadline_us: f64,
    access_us: Option<f64>,
    response_us: Option<f64>,
    slack_us: Option<f64>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<PartsUs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<Simulated>,
    /// Of a node whose messages have more than one, or a shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    /// Of a class with a shaper, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_slope: Option<u64>,
}

/// What the response time consists of.
#[derive(Debug, Serialize)]
struct PartsUs {
    turns: u64,
    backlog: u64,
    shaper_us: f64,
    host_us: f64,
    blocking_us: f64,
    cycles_us: f64,
    others_us: f64,
    queue_us: f64,
    frame_us: f64,
}

/// What a simulation of the message gave.
#[derive(Debug, Serialize)]
struct Simulated {
    frames: u64,
    lost: u64,
    access_max_us: f64,
    response_p50_us: Option<f64>,
    response_p99_us: Option<f64>,
    response_max_us: f64,
    part_of_bound: Option<f64>,
}

/// Bit times at 10 Mb/s in microseconds.
fn us(bits: u64) -> f64 {
    bits as f64 / 10.0
}

impl Planned {
    /// The plan of `table`, whose messages have these bounds, and were observed so if they were.
    pub fn new(table: &MessageTable, bounds: &[Option<Bound>], observed: Option<(&[Observed], Simulation)>) -> Planned {
        let analysis = Analysis::new(table);
        let (seen, simulation) = observed.unzip();
        let rows = table.messages.iter().zip(bounds).enumerate();
        let row = |(at, (message, bound)): (usize, (&Message, &Option<Bound>))| {
            let node = &table.nodes[message.node].name;
            let priority = table.has_classes(message.node).then_some(message.priority);
            PlannedMessage { priority, ..planned(node, message, bound.as_ref(), seen.map(|all| &all[at])) }
        };
        Planned {
            version: VERSION,
            nodes: table.nodes.len(),
            node_count: table.node_count,
            to_tmr: table.to_timer,
            idle_cycle_bt: analysis.idle_cycle(),
            longest_cycle_bt: analysis.longest_cycle(),
            utilization: table.utilization(),
            search: None,
            simulation,
            messages: rows.map(row).collect(),
            classes: seen.map(|seen| classes(table, seen)).unwrap_or_default(),
        }
    }

    /// The same as the result of a search.
    pub fn found(self, table: &MessageTable, searched: Searched) -> Planned {
        let assigned =
            |node: &Node| Assigned { node: node.name.clone(), node_id: node.id, burst_cnt: node.burst_count };
        let phase = |message: &Message| {
            let node = table.nodes[message.node].name.clone();
            Some(Phase { node, message: message.name.clone(), phase_us: us(message.phase?) })
        };
        let nodes = table.nodes.iter().map(assigned).collect();
        let phases = table.messages.iter().filter_map(phase).collect();
        Planned { search: Some(Found { searched, nodes, phases }), ..self }
    }

    /// Every message is in time.
    pub fn is_met(&self) -> bool {
        self.messages.iter().all(|message| message.verdict == MET)
    }

    /// Tables of at most 100 characters for names of usual length.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}, {} of {} BT; idle cycle {} BT, longest {} BT; utilization {:.1} %\n\n",
            many(self.nodes as u64, "node"),
            many(self.node_count.into(), "turn"),
            self.to_tmr,
            group(self.idle_cycle_bt),
            group(self.longest_cycle_bt),
            100.0 * self.utilization
        );
        text += &self.search_text();
        text += &self.bounds_text();
        text += "\nWhat the response consists of, in us:\n";
        text += &self.parts_text();
        text += &self.simulated_text();
        text += &classes_text(&self.classes);
        let missed = self.messages.iter().filter(|message| message.verdict != MET).count();
        match missed {
            0 => text += "\nEvery message meets its deadline.\n",
            _ => text += &format!("\n{missed} of {} messages: no guarantee.\n", self.messages.len()),
        }
        text
    }

    fn search_text(&self) -> String {
        let Some(Found { searched, nodes, phases }) = &self.search else { return String::new() };
        let part = |slack: Option<f64>| slack.map_or("no bound".to_owned(), |part| format!("{:.1} %", 100.0 * part));
        let how = match searched.exhaustive {
            true => format!("all {} assignments", group(searched.tried)),
            false => format!("{} of {:.3e} assignments, seed {}", group(searched.tried), searched.of, searched.seed),
        };
        let (before, after) = (part(searched.before), part(searched.after));
        let mut text =
            format!("Search: {how}; smallest slack, as a part of its deadline: {after}, before {before}\n\n");
        let node = |it: &Assigned| vec![it.node.clone(), format!("node-id {}", it.node_id), it.burst_cnt.to_string()];
        text += &rows(&["node", "id", "burst-cnt"], nodes.iter().map(node));
        if !phases.is_empty() {
            let phase = |it: &Phase| vec![it.node.clone(), it.message.clone(), shown(Some(it.phase_us))];
            text += "\n";
            text += &rows(&["node", "message", "phase us"], phases.iter().map(phase));
        }
        text + "\n"
    }

    fn bounds_text(&self) -> String {
        let has_priorities = self.messages.iter().any(|message| message.priority.is_some());
        let priority = has_priorities.then_some("priority");
        let times = ["access us", "response us", "deadline us", "slack us", "verdict"];
        let head: Vec<&str> = ["node", "message", "octets"].into_iter().chain(priority).chain(times).collect();
        rows(
            &head,
            self.messages.iter().map(|message| {
                let name = [message.node.clone(), message.message.clone(), message.octets.to_string()];
                let priority = has_priorities.then(|| message.priority_text());
                let times = [message.access_us, message.response_us, Some(message.deadline_us), message.slack_us];
                let verdict = message.verdict.to_owned();
                name.into_iter().chain(priority).chain(times.map(shown)).chain([verdict]).collect()
            }),
        )
    }

    fn parts_text(&self) -> String {
        let is_shaped = self.messages.iter().any(|message| message.idle_slope.is_some());
        let shaper = is_shaped.then_some("shaper");
        let others = ["host", "blocking", "cycles", "others", "queue", "frame", "turns", "backlog"];
        let head: Vec<&str> = ["node", "message"].into_iter().chain(shaper).chain(others).collect();
        let parts = self.messages.iter().filter_map(|message| Some((message, message.parts.as_ref()?)));
        rows(
            &head,
            parts.map(|(message, parts)| {
                let times = [parts.host_us, parts.blocking_us, parts.cycles_us, parts.others_us, parts.queue_us];
                let name = [message.node.clone(), message.message.clone()];
                let times = times.into_iter().chain([parts.frame_us]).map(Some).map(shown);
                let shaper = is_shaped.then(|| shown(Some(parts.shaper_us)));
                name.into_iter()
                    .chain(shaper)
                    .chain(times)
                    .chain([parts.turns.to_string(), parts.backlog.to_string()])
                    .collect()
            }),
        )
    }

    fn simulated_text(&self) -> String {
        let Some(Simulation { duration_s, runs, seed }) = &self.simulation else { return String::new() };
        let head = ["node", "message", "frames", "lost", "p50 us", "p99 us", "highest us", "of bound", "access us"];
        let all = self.messages.iter().filter_map(|message| Some((message, message.simulated.as_ref()?)));
        let text = rows(
            &head,
            all.map(|(message, seen)| {
                let part = seen.part_of_bound.map_or("-".to_owned(), |part| format!("{:.0} %", 100.0 * part));
                let names =
                    [message.node.clone(), message.message.clone(), seen.frames.to_string(), seen.lost.to_string()];
                let times = [seen.response_p50_us, seen.response_p99_us, Some(seen.response_max_us)].map(shown);
                names.into_iter().chain(times).chain([part, shown(Some(seen.access_max_us))]).collect()
            }),
        );
        format!("\nSimulated responses, {duration_s} s in {runs} runs from seed {seed} on:\n{text}")
    }

    /// A header, and a line for each message.
    ///
    /// # Errors
    /// Never with text in memory.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record([
            "node",
            "message",
            "octets",
            "period_us",
            "access_us",
            "response_us",
            "deadline_us",
            "slack_us",
            "verdict",
            "simulated_frames",
            "simulated_max_us",
            "priority",
        ])?;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for message in &self.messages {
            let seen = message.simulated.as_ref();
            writer.write_record([
                message.node.clone(),
                message.message.clone(),
                message.octets.to_string(),
                message.period_us.to_string(),
                number(message.access_us),
                number(message.response_us),
                message.deadline_us.to_string(),
                number(message.slack_us),
                message.verdict.to_owned(),
                seen.map_or(String::new(), |seen| seen.frames.to_string()),
                number(seen.map(|seen| seen.response_max_us)),
                message.priority_text(),
            ])?;
        }
        let octets = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
        Ok(String::from_utf8(octets).expect("names and numbers are text"))
    }
}

impl PlannedMessage {
    /// Empty for a message of a node that sends in the order of release.
    fn priority_text(&self) -> String {
        self.priority.map_or(String::new(), |priority| priority.to_string())
    }
}

const MET: &str = "met";

fn planned(node: &str, message: &Message, bound: Option<&Bound>, seen: Option<&Observed>) -> PlannedMessage {
    let response = bound.map(|bound| bound.parts.response());
    let verdict = match response {
        Some(response) if response <= message.deadline => MET,
        Some(_) => "missed",
        None => "no bound",
    };
    PlannedMessage {
        node: node.to_owned(),
        message: message.name.clone(),
        octets: message.octets,
        period_us: us(message.period),
        deadline_us: us(message.deadline),
        access_us: bound.map(|bound| us(bound.access)),
        response_us: response.map(us),
        slack_us: response.map(|response| us(message.deadline) - us(response)),
        verdict,
        priority: None,
        idle_slope: message.idle_slope,
        parts: bound.map(|bound| PartsUs {
            turns: bound.turns,
            backlog: bound.backlog,
            shaper_us: us(bound.parts.shaper),
            host_us: us(bound.parts.host),
            blocking_us: us(bound.parts.blocking),
            cycles_us: us(bound.parts.cycles),
            others_us: us(bound.parts.others),
            queue_us: us(bound.parts.queue),
            frame_us: us(bound.parts.frame),
        }),
        simulated: seen.map(|seen| {
            let [p50, p99] = response_quantiles(seen);
            Simulated {
                frames: seen.response.total(),
                lost: seen.lost,
                access_max_us: us(seen.access_max),
                response_p50_us: p50,
                response_p99_us: p99,
                response_max_us: us(seen.response_max),
                part_of_bound: response.map(|response| seen.response_max as f64 / response as f64),
            }
        }),
    }
}

/// How a simulation of `span_s` seconds was made.
pub fn simulation(span_s: f64, seed: u64) -> Simulation {
    Simulation { duration_s: span_s, runs: RUNS, seed }
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.1}"))
}

fn rows(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(head.iter().copied()).add_rows(rows);
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if number > 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}
