//! Questions and answers.

use crate::about::about;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sim::explain::{Wanted, data, draw, find, tell};
use sim::words::prose::with_causes;
use std::sync::Arc;

/// What a page can ask.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    /// Run this scenario. What it is about: stations, figures, the course of figures.
    Run { scenario: String },
    /// What the run is about.
    About,
    /// The signals that are somewhere between two instants.
    Scene { from: u64, to: u64 },
    /// The last events up to an instant, at most this number, each in a sentence.
    Rows { to: u64, most: usize },
    /// The instant of the next event after this one, or of the next of this kind.
    Next { after: u64, kind: Option<String> },
    /// The life of a frame.
    Life { frame: String },
    /// The run's trace.
    Trace,
}

/// Who answers: it has the last run.
#[derive(Debug, Default)]
pub struct Desk {
    run: Option<Run>,
}

impl Desk {
    /// The answer to a question; `{"error":"…"}` if there is none.
    pub fn answer(&mut self, question: &[u8]) -> Vec<u8> {
        let answer = serde_json::from_slice(question).map_err(|error| with_causes(&error));
        answer.and_then(|question| self.of(question)).unwrap_or_else(wrong)
    }

    /// Opens a trace. `{}`, or `{"error":"…"}` with what the program would say of a file that is called `trace`.
    pub fn open(&mut self, trace: &[u8]) -> Vec<u8> {
        self.run = None;
        match Run::open(Arc::from(trace), "trace") {
            Ok(run) => {
                self.run = Some(run);
                text(&json!({}))
            }
            Err(error) => wrong(error),
        }
    }

    fn of(&mut self, question: Question) -> Result<Vec<u8>, String> {
        if let Question::Run { scenario } = question {
            self.run = None;
            self.run = Some(Run::of(scenario)?);
            return self.of(Question::About);
        }
        let run = self.run.as_ref().ok_or("no scenario has been run")?;
        Ok(match question {
            Question::About => text(&about(run)),
            Question::Scene { from, to } => text(&run.scene(from, to)),
            Question::Rows { to, most } => text(&run.rows(to, most)),
            Question::Next { after, kind } => text(&run.next(after, kind.as_deref())),
            Question::Life { frame } => text(&life(run, &frame)?),
            Question::Trace | Question::Run { .. } => run.trace().to_vec(),
        })
    }
}

fn wrong(error: String) -> Vec<u8> {
    text(&json!({ "error": error }))
}

fn text<T: Serialize>(answer: &T) -> Vec<u8> {
    serde_json::to_vec(answer).expect("numbers and names")
}

/// What `explain` tells of a frame: its steps, all of it as text, and the picture.
fn life(run: &Run, frame: &str) -> Result<Value, String> {
    let mut log = run.log().map_err(|error| with_causes(&error))?;
    let wanted = Wanted::parse(frame, log.header()).map_err(|error| with_causes(&error))?;
    let story = find(&mut log, wanted).map_err(|error| with_causes(&error))?;
    Ok(json!({ "life": data(&story), "text": tell(&story), "svg": draw(&story) }))
}
