//! Questions and answers.

use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sim::explain::{Wanted, data, draw, find, tell};
use sim::words::prose::with_causes;

/// What a page can ask.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    /// Run this scenario. What it is about: stations, figures, the course of figures.
    Run { scenario: String },
    /// The signals that are somewhere between two instants.
    Scene { from: u64, to: u64 },
    /// The last events up to an instant, at most this number, each in a sentence.
    Rows { to: u64, most: usize },
    /// The instant of the next event after this one, of the next collision, or of the last one before.
    Next { after: u64, kind: Option<String> },
    /// The life of a frame.
    Life { frame: String },
    /// The run's trace, as a text.
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
        let answer = answer.and_then(|question| self.of(question));
        answer.unwrap_or_else(|error| text(&json!({ "error": error })))
    }

    fn of(&mut self, question: Question) -> Result<Vec<u8>, String> {
        if let Question::Run { scenario } = question {
            self.run = None;
            let run = Run::of(scenario)?;
            let about = run.about();
            self.run = Some(run);
            return Ok(text(&about));
        }
        let run = self.run.as_ref().ok_or("no scenario has been run")?;
        Ok(match question {
            Question::Scene { from, to } => text(&run.scene(from, to)),
            Question::Rows { to, most } => text(&run.rows(to, most)),
            Question::Next { after, kind } => text(&run.next(after, kind.as_deref())),
            Question::Life { frame } => text(&life(run, &frame)?),
            Question::Trace | Question::Run { .. } => run.trace().to_vec(),
        })
    }
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
