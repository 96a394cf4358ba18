//! A page of text on a terminal that is made anew at intervals, until the user ends it.

use super::screened::{Screened, end_with_the_terminal};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::widgets::Paragraph;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// From one look at the keyboard to the next.
const TICK: Duration = Duration::from_millis(100);

/// How it came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody pressed `q` or Esc.
    Quit,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// Shows the text that `page` makes for the terminal's columns and lines, again every `every` and whenever the terminal
/// has changed its size. Returns the last page too; `None`: `is_over` ended it. `broken` makes the error for a terminal
/// that cannot be read or written.
///
/// # Errors
/// Those of `page` and of the terminal.
pub fn refresh<E>(
    every: Duration,
    page: impl FnMut(usize, usize) -> Result<String, E>,
    is_over: impl Fn() -> bool,
    broken: impl Fn(io::Error) -> E,
) -> Result<(String, Option<Ending>), E> {
    let left = Arc::new(AtomicBool::new(false));
    end_with_the_terminal(left.clone()).map_err(&broken)?;
    let shown = show(every, page, is_over, broken);
    left.store(true, Ordering::Relaxed);
    shown
}

fn show<E>(
    every: Duration,
    mut page: impl FnMut(usize, usize) -> Result<String, E>,
    is_over: impl Fn() -> bool,
    broken: impl Fn(io::Error) -> E,
) -> Result<(String, Option<Ending>), E> {
    let mut screened = Screened::enter().map_err(&broken)?;
    loop {
        let area = screened.area().map_err(&broken)?;
        let text = page(area.width.into(), area.height.into())?;
        let draw = screened.draw(|frame| frame.render_widget(Paragraph::new(text.as_str()), frame.area()));
        draw.map_err(&broken)?;
        let shown = Instant::now();
        loop {
            if is_over() {
                return Ok((text, None));
            }
            let left = every.saturating_sub(shown.elapsed());
            match pressed(TICK.min(left)).map_err(&broken)? {
                Pressed::End(ending) => return Ok((text, Some(ending))),
                Pressed::Resized => break,
                Pressed::Nothing if left.is_zero() => break,
                Pressed::Nothing => {}
            }
        }
    }
}

/// What came of the keyboard.
enum Pressed {
    End(Ending),
    Resized,
    Nothing,
}

fn pressed(patience: Duration) -> io::Result<Pressed> {
    if !event::poll(patience)? {
        return Ok(Pressed::Nothing);
    }
    Ok(match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Pressed::End(Ending::Interrupted),
            KeyCode::Char('q') | KeyCode::Esc => Pressed::End(Ending::Quit),
            _ => Pressed::Nothing,
        },
        Event::Resize(..) => Pressed::Resized,
        Event::Key(_) | Event::Mouse(_) | Event::Paste(_) | Event::FocusGained | Event::FocusLost => Pressed::Nothing,
    })
}
