//! What was run, and the commands that run it again.

use super::gather::{Of, Run};
use super::tables::changes_told;
use medium::{BitTimes, Config, Method, Topology};
use page::words::offered;
use sim::scenario::file::AccessMethod;
use sim::scenario::plan::usual_speed;
use sim::words::configuration::kind;
use sim::words::prose::escape;
use sim::words::sentences::{TIED, real};
use sim::words::units::group;
use std::fmt::Write;

const ANY: &str = "a string takes any text";

/// What was run, and how to run it again.
pub fn what(runs: &[Run], command: &str) -> String {
    let mut text = "<h2>What was run</h2>\n<div class=\"wide\"><table>\n<tr><td></td>".to_owned();
    runs.iter().for_each(|run| write!(text, "<th>{}</th>", escape(&run.label())).expect(ANY));
    text += "</tr>\n";
    let facts: Vec<Vec<(&str, String)>> = runs.iter().map(facts).collect();
    for (number, (what, _)) in facts.first().into_iter().flatten().enumerate() {
        write!(text, "<tr><td>{what}</td>").expect(ANY);
        facts.iter().for_each(|facts| write!(text, "<td>{}</td>", escape(&facts[number].1)).expect(ANY));
        text += "</tr>\n";
    }
    text += "</table></div>\n<p>These commands make it again:</p>\n<pre>";
    for run in runs {
        writeln!(text, "{}", escape(&again(run))).expect(ANY);
    }
    writeln!(text, "{}</pre>", escape(command)).expect(ANY);
    for told in runs.iter().filter_map(|run| run.told.as_ref()) {
        if let Some(why) = &told.cut_short {
            writeln!(text, "<p><strong>The trace is not whole</strong>: {}.</p>", escape(why)).expect(ANY);
        }
    }
    text
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let config = run.config();
    let real = |bits: u64| span_in_seconds(bits, &config);
    let measured = run.results.measured_bit_times;
    let begin = run.told.as_ref().map_or(0, |told| told.begin.get());
    let since = if begin > 0 { format!(", from t = {} BT on", group(begin)) } else { String::new() };
    let traffic = run.results.config.run.as_ref().map(|run| run.traffic.join("; "));
    // Only inputs tell what was warm-up.
    let since = if run.of == Of::Events { format!("{since}: all of the trace, its warm-up too") } else { since };
    let source = match run.of {
        Of::Events => "a trace with events",
        Of::Inputs => "a trace of inputs, run again for this page",
        Of::Results => "results alone: what happened when is not known",
    };
    vec![
        ("source", source.to_owned()),
        ("stations", config.topology.stations().to_string()),
        ("access method", AccessMethod::from(&config.method).title().to_owned()),
        ("medium", format!("{}, {}", config.rate, kind(&config.topology))),
        ("longest way", longest_way(&config)),
        ("seed", run.results.seed.to_string()),
        ("traffic", traffic.unwrap_or_else(|| run.told.as_ref().map_or_else(|| "not known".to_owned(), offered))),
        ("measured", format!("{} BT ({}){since}", group(measured), real(measured))),
        ("done to it", done_to(run)),
        ("of the machine", run.of_the_machine()),
    ]
}

fn span_in_seconds(bits: u64, config: &Config) -> String {
    real(BitTimes::new(bits), config.rate).replace(TIED, " ")
}

/// From one end to the other. A trace has it in bit times: metres are of the speed that a scenario has without a word on it.
fn longest_way(config: &Config) -> String {
    let bits = config.topology.longest_distance().get();
    let text = format!("{} BT ({})", group(bits), span_in_seconds(bits, config));
    let in_air = matches!(config.method, Method::CsmaCa(_));
    let metres = usual_speed(in_air) / config.rate.get() as f64;
    match &config.topology {
        Topology::Bus { .. } if bits > 0 => {
            let [all, half] = [metres * bits as f64, metres / 2.0].map(|metres| group(metres.ceil() as u64));
            format!("{text}; {all} m, within {half} m, {}", if in_air { "in the air" } else { "of cable at 0.77 c" })
        }
        _ => text,
    }
}

/// Faults, cuts and the like, with their instants.
fn done_to(run: &Run) -> String {
    let Some(told) = &run.told else { return "not known".to_owned() };
    match changes_told(told, |at| format!("t = {} BT", group(at))) {
        none if none.is_empty() => "nothing".to_owned(),
        lines => lines.join("; "),
    }
}

/// What runs it again.
fn again(run: &Run) -> String {
    let path = run.path.display();
    match run.of {
        Of::Inputs => format!("ethbus replay {path}"),
        Of::Events => format!(
            "# {path}: `ethbus replay` runs a trace with inputs: `--events FILE --events-level inputs` or `all`"
        ),
        Of::Results => of_results(run)
            .unwrap_or_else(|| format!("# {path}: `ethbus sim` with its scenario and `--seed {}`", run.results.seed)),
    }
}

/// The command of a run without a scenario; nothing if it needs one.
fn of_results(run: &Run) -> Option<String> {
    let (config, of) = (run.config(), run.results.config.run.as_ref()?);
    let usual = Config::new(config.rate, config.topology.clone(), config.seed);
    let Topology::Star { distance, .. } = &config.topology else { return None };
    let is_usual = config.parameters == usual.parameters && config.method == usual.method && config.backoff.is_none();
    let [traffic] = &of.traffic[..] else { return None };
    let (arrivals, sizes) = traffic.strip_suffix(" octets")?.split_once(" of ")?;
    (is_usual && config.queue_limit == usual.queue_limit && !traffic.contains(" and ")).then(|| {
        format!(
            "ethbus sim --stations {} --rate {}bit/s --topology star:{}bt --traffic {arrivals} --frame-size {sizes} --duration {}s --warmup {}s --seed {}{} --format json",
            config.topology.stations(),
            config.rate.get(),
            distance.get(),
            of.duration_s,
            of.warmup_s,
            run.results.seed,
            if of.replications > 1 { format!(" --replications {}", of.replications) } else { String::new() },
        )
    })
}
