//! The whole page in one file: the one to try, or with runs in it.

use crate::about::{about, of_figures};
use crate::run::Run;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sim::figures::results::Results;
use sim::words::prose::escape;
use std::fmt::Write as _;
use std::io::Write;

/// The page without its engine and without runs.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
/// Where the engine goes: gzip in base64.
const ENGINE: &str = "/*WASM*/";
/// Where runs go, as JSON.
const RUNS: &str = "/*RUNS*/";
/// No runs.
const NONE: &str = r#"{"runs":[]}"#;
/// Where what people read of them goes.
const TABLES: &str = "<!--TABLES-->";
/// What the page is called.
const TITLE: &str = "<title>ethbus: the bus in a browser</title>";
/// Events that a page without an engine has of a run.
const MOST_TOLD: usize = 12_000;
/// Events that a page has in words for who opens it without scripts.
const MOST_READ: usize = 40;

/// The page to try, with an engine that was compiled.
pub fn to_try(engine: &[u8]) -> String {
    PAGE.replacen(ENGINE, &packed(engine), 1).replacen(RUNS, NONE, 1)
}

/// The engine of a page that [`to_try`] made; nothing if it was made by another version.
pub fn engine_of(page: &str) -> Option<&str> {
    let own = PAGE.replacen(RUNS, NONE, 1);
    let (before, after) = own.split_once(ENGINE)?;
    page.strip_prefix(before)?.strip_suffix(after)
}

/// Runs that a page is about.
#[derive(Debug, Default)]
pub struct Report {
    runs: Vec<Value>,
    words: String,
}

impl Report {
    /// With one run more, that is called `label`: with its trace, or, if that is empty, as far as a page without an engine
    /// shows it. The picture opens at `at`.
    #[must_use]
    pub fn with(mut self, label: &str, run: &Run, at: Option<u64>) -> Report {
        let mut about = about(run);
        about["label"] = label.into();
        about["at"] = at.into();
        let (mut trace, mut told) = (Value::Null, Value::Null);
        if run.trace().is_empty() {
            let from = at.or(about["episode"][0].as_u64()).unwrap_or(0).saturating_sub(1);
            let (from, to) = run.stretch(from, MOST_TOLD);
            told = json!({ "from": from, "to": to, "rows": run.rows(to, MOST_TOLD), "signals": run.scene(from, to) });
        } else {
            trace = packed(run.trace()).into();
        }
        self.words += &first_events(label, run);
        self.runs.push(json!({ "about": about, "trace": trace, "told": told }));
        self
    }

    /// With the results of one run more, of which nothing else is known.
    #[must_use]
    pub fn with_results(mut self, label: &str, results: &Results) -> Report {
        let mut about = of_figures(results);
        about["label"] = label.into();
        self.runs.push(json!({ "about": about }));
        self
    }

    /// The page: `tables` come last; `engine` is that of a page to try, and if there is none, `missing` says what is left out.
    pub fn page(&self, title: &str, tables: &str, engine: Option<&str>, missing: &str) -> String {
        let runs = json!({ "runs": self.runs, "missing": missing }).to_string().replace('<', "\\u003c");
        let sentences = self.runs.iter().map(|run| run["about"]["sentence"].as_str().unwrap_or_default());
        let sentences: String = sentences.map(|text| format!("<p>{}</p>\n", escape(text))).collect();
        let words = format!("<noscript>{sentences}{}</noscript>\n{tables}", self.words);
        // From the end to the beginning, so that nothing is looked for in what was put in.
        let page = PAGE.replacen(TITLE, &format!("<title>{}</title>", escape(title)), 1);
        let page = page.replacen(RUNS, &runs, 1).replacen(ENGINE, engine.unwrap_or_default(), 1);
        page.replacen(TABLES, &words, 1)
    }
}

/// The first events in words, for those who open the page without scripts.
fn first_events(label: &str, run: &Run) -> String {
    let (_, to) = run.stretch(run.told.begin.get(), MOST_READ);
    let rows = run.rows(to, usize::MAX).into_iter().take(MOST_READ);
    let mut text =
        format!("<h2>{}</h2><p>The picture needs JavaScript. The first events, in words:</p>\n<ol>\n", escape(label));
    for row in rows {
        let _ = writeln!(text, "<li>{} BT, {}: {}</li>", row.t, escape(&row.frame), escape(&row.says));
    }
    text + "</ol>\n"
}

/// gzip in base64.
fn packed(octets: &[u8]) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(octets).expect("memory takes all");
    BASE64_STANDARD.encode(gzip.finish().expect("memory takes all"))
}
