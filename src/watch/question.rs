//! A question that is answered in the last line of the view.

use super::keys::Question;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The answer so far.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is asked for.
    pub what: Question,
    /// The question.
    prompt: &'static str,
    /// What has been typed.
    pub text: String,
}

/// What a key makes of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// It is not whole.
    More,
    /// It is whole.
    Given,
    /// The user takes the question back.
    Dropped,
}

impl Asked {
    /// A place to go to.
    pub fn place(what: Question) -> Asked {
        let what_is = match what {
            Question::Station => "station",
            Question::Instant => "instant in bit times",
        };
        Asked { what, prompt: what_is, text: String::new() }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        match key.code {
            KeyCode::Enter => return Typed::Given,
            KeyCode::Esc => return Typed::Dropped,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Typed::Dropped,
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Char(letter) => self.text.push(letter),
            _ => {}
        }
        Typed::More
    }

    /// The line that asks.
    pub fn line(&self) -> String {
        format!("{}: {}_   Enter goes there, Esc does not", self.prompt, self.text)
    }
}
