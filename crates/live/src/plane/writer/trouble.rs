//! What the user reads of a file that is not written any further.

use crossbeam_channel::Sender;
use say::with_causes;
use sim::files::json_lines::WriteError;

pub fn tell_trouble(trouble: &Sender<String>, what: String) {
    // There is room for as much as can go wrong.
    let _ = trouble.try_send(what);
}

/// An error with its cause.
pub fn told(error: &WriteError) -> String {
    plain(&with_causes(error))
}

/// One line of a terminal. A file's name may have anything in it.
pub fn plain(text: &str) -> String {
    text.replace(char::is_control, "?")
}
