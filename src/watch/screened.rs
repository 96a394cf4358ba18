//! The terminal that a view takes over, and gives back as it was.

use super::screen::Look;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::DisableMouseCapture;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use say::terminal::{USUAL, locale};
use std::io::{self, IsTerminal, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
pub(super) fn end_with_the_terminal(left: Arc<AtomicBool>) -> io::Result<()> {
    let look = move || {
        while io::stdout().is_terminal() {
            std::thread::sleep(LOOK);
        }
        std::thread::sleep(LOOK);
        if !left.load(Ordering::Relaxed) {
            leave();
            std::process::exit(HUNG_UP);
        }
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(look).map(|_| ())
}

/// As shells tell it: 128 + SIGHUP.
const HUNG_UP: i32 = 129;

/// Lines of a terminal that does not say.
const USUAL_LINES: u16 = 24;

/// The user's terminal, as it was before when dropped.
#[derive(Debug)]
pub(super) struct Screened {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    area: Rect,
}

impl Screened {
    pub(super) fn enter() -> io::Result<Screened> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen).inspect_err(|_| leave())?;
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            hook(panic);
        }));
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::ZERO) };
        let terminal = Terminal::with_options(CrosstermBackend::new(io::stdout()), options);
        Ok(Screened { terminal: terminal.inspect_err(|_| leave())?, area: Rect::ZERO })
    }

    /// The whole terminal, made ready for a page of its present size. A terminal of a container or a serial line that says
    /// 0 columns or 0 lines has [`USUAL`] columns or 24 lines.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn area(&mut self) -> io::Result<Rect> {
        let told = self.terminal.size()?;
        let or = |told, usual| if told == 0 { usual } else { told };
        let area = Rect::new(0, 0, or(told.width, USUAL as u16), or(told.height, USUAL_LINES));
        if area != self.area {
            self.terminal.resize(area)?;
            self.area = area;
        }
        Ok(area)
    }

    /// Draws a page.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.area()?;
        self.terminal.draw(page).map(|_| ())
    }
}

impl Drop for Screened {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back. One that is gone needs nothing.
fn leave() {
    let _ = execute!(io::stdout(), DisableMouseCapture, Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// What this terminal can show, as its user's environment says.
pub(super) fn look() -> Look {
    let set = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let locale = locale();
    Look { colour: set("NO_COLOR").is_none(), unicode: locale.contains("UTF-8") || locale.contains("UTF8") }
}
