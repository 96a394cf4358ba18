//! A terminal as a user has it: tmux's.

use super::process::{program, run};
use super::{PATIENCE, wait_until};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A terminal with one command in it; removed when dropped. See the module.
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs `command` in a terminal of this number of columns and lines. The terminal stays when the command has ended.
    pub fn run(name: &str, size: (usize, usize), command: &str) -> Terminal {
        // A server that ends still has its socket for a moment.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let terminal = Terminal { socket: format!("ethbus-{}-{name}-{number}", std::process::id()) };
        let (columns, lines) = (size.0.to_string(), size.1.to_string());
        // A mark at the end of the command, to wait for.
        let shell = format!("{command}; echo THE END; sleep 60");
        let mut start = terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &lines]);
        start.arg(shell).env("TERM", "screen-256color").env_remove("TMUX");
        run(start).succeeded();
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        program("tmux", ["-L", &self.socket].iter().chain(arguments))
    }

    /// The content of the screen and of the lines above it, with these further options.
    pub fn shown(&self, options: &[&str]) -> String {
        let arguments = ["capture-pane", "-p", "-S", "-"];
        run(self.tmux(&[&arguments, options].concat())).succeeded().stdout
    }

    pub fn wait_for(&self, words: &str) -> String {
        wait_until(PATIENCE, words, || self.shown(&[]).contains(words));
        self.shown(&[])
    }

    /// Presses keys, by tmux's names.
    pub fn press(&self, keys: &[&str]) {
        run(self.tmux(&[&["send-keys"], keys].concat())).succeeded();
    }

    /// The content of the screen.
    pub fn screen(&self) -> String {
        run(self.tmux(&["capture-pane", "-p"])).succeeded().stdout
    }

    /// Checks that a program left no alternate screen, hidden cursor or reports of the mouse behind.
    #[track_caller]
    pub fn assert_given_back(&self) {
        let state = "alternate #{alternate_on}, cursor #{cursor_flag}, mouse #{mouse_any_flag}";
        let told = run(self.tmux(&["display-message", "-p", state])).succeeded().stdout;
        assert_eq!(told.trim_end(), "alternate 0, cursor 1, mouse 0");
    }

    /// Checks that no line was wrapped: joined as the terminal would for copying, the text is the same.
    #[track_caller]
    pub fn assert_nothing_wrapped(&self) {
        let trimmed = |text: String| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trimmed(self.shown(&["-J"])), trimmed(self.shown(&[])));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        run(self.tmux(&["kill-server"]));
    }
}
