//! A quiz about backoff: the view stops before a draw and asks from how many slots the station draws.

use medium::{Cause, Config, Event, Kind};

/// The answers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiz {
    right: u32,
    asked: u32,
}

/// The view stops before this event: a station draws, or gives its frame up.
pub fn is_asked(event: &Event) -> bool {
    let given_up = Cause::ExcessiveCollisions;
    matches!(event.kind, Kind::Backoff { .. })
        || matches!(event.kind, Kind::Discarded { cause, .. } if cause == given_up)
}

impl Quiz {
    /// A quiz about a run; `None` where no station draws as the standard has it.
    pub fn about(config: &Config) -> Option<Quiz> {
        config.most_slots(1).map(|_| Quiz::default())
    }

    /// The question before an event; `frame` is the name of its frame.
    pub fn question(&self, event: &Event, frame: &str) -> String {
        let collision = match event.kind {
            Kind::Backoff { attempt, .. } => attempt,
            Kind::Discarded { attempts, .. } => attempts,
            _ => 0,
        };
        format!("quiz {}: {frame}, collision {collision}; 0 to how many slots, or none", self.score())
    }

    /// Counts an answer, and says whether it is right.
    pub fn judge(&mut self, event: &Event, answer: &str, config: &Config) -> String {
        let right = match event.kind {
            Kind::Backoff { attempt, .. } => config.most_slots(attempt).map(|most| most.to_string()),
            _ => None,
        };
        let is_right = right.as_deref().unwrap_or("none") == answer.trim().replace(',', "");
        self.asked += 1;
        self.right += u32::from(is_right);
        let verdict = if is_right { "Right" } else { "No" };
        let what = match (event.kind, right) {
            (Kind::Backoff { slots, .. }, Some(most)) => format!("0 to {most} slots, and it draws {slots}"),
            _ => "the attempt limit is reached, and the frame is discarded".to_owned(),
        };
        format!("{verdict}: {what}. {} right. Space: go on", self.score())
    }

    fn score(&self) -> String {
        format!("{}/{}", self.right, self.asked)
    }
}
