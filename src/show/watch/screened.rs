//! The terminal that a view takes over, and gives back as it was.

use super::screen::Look;
use crate::show::terminal::locale;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::DisableMouseCapture;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use std::io::{self, IsTerminal, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use terminal_size::terminal_size_of;

/// Whether there is a terminal to draw on.
pub fn is_there() -> bool {
    io::stdout().is_terminal() && !is_dumb()
}

/// The terminal cannot place text.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// How often the view checks that the terminal still exists, and how long it then has to end by itself.
const LOOK: Duration = Duration::from_millis(500);

/// Ends the program when its terminal is gone and the view does not notice: crossterm reads a closed terminal for ever.
pub(in crate::show) fn end_with_the_terminal(left: Arc<AtomicBool>) -> io::Result<()> {
    let look = move || {
        while terminal_size_of(io::stdout()).is_some() {
            std::thread::sleep(LOOK);
        }
        std::thread::sleep(LOOK);
        if !left.load(Ordering::Relaxed) {
            std::process::exit(HUNG_UP);
        }
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(look).map(|_| ())
}

/// As shells tell it: 128 + SIGHUP.
const HUNG_UP: i32 = 129;

/// The user's terminal, as it was before when dropped.
#[derive(Debug)]
pub(in crate::show) struct Screened(pub(in crate::show) Terminal<CrosstermBackend<Stdout>>);

impl Screened {
    pub(in crate::show) fn enter() -> io::Result<Screened> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen).inspect_err(|_| leave())?;
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            hook(panic);
        }));
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout())).inspect_err(|_| leave())?;
        Ok(Screened(terminal))
    }
}

impl Drop for Screened {
    fn drop(&mut self) {
        let _ = self.0.show_cursor();
        leave();
    }
}

/// Gives the terminal back. One that is gone needs nothing.
fn leave() {
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// What this terminal can show, as its user's environment says.
pub(super) fn look() -> Look {
    let set = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let locale = locale();
    Look { colour: set("NO_COLOR").is_none(), unicode: locale.contains("UTF-8") || locale.contains("UTF8") }
}
