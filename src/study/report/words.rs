//! The first events in words, for those who open the page without scripts.

use super::gather::Told;
use sim::run::view::{Note, View};
use sim::words::prose::escape;
use sim::words::sentences::{TIED, frame_name};
use sim::words::units::group;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// The most events that are described.
const MOST: usize = 40;

/// The first of the events that a page has, a line each, in the words that the page's script has for them.
pub fn first_events(told: &Told, stretch: Range<usize>) -> String {
    let shown = stretch.len().min(MOST);
    let mut text = format!(
        "<noscript><p>The diagram needs JavaScript. The first {} of {} events, in words:</p>\n<ol>\n",
        shown,
        group(stretch.len() as u64)
    );
    // What is on its way when the stretch begins is known from the events before.
    let mut view = View::new(Arc::new(told.header.config()));
    let mut inputs = told.inputs.iter().peekable();
    for (place, event) in told.events[..stretch.start + shown].iter().enumerate() {
        while let Some((_, at, input)) = inputs.next_if(|(before, _, _)| *before <= place) {
            view.take(&Note::Input { at: *at, input: *input });
        }
        view.take(&Note::Event(*event));
        if stretch.contains(&place) {
            let names = &told.header.stations;
            let (t, frame) = (group(event.at.get()), frame_name(names, event.frame));
            let sentence = view.sentence(event, names).replace(TIED, " ");
            let _ = writeln!(text, "<li>t = {t} BT, {}: {}</li>", escape(&frame), escape(&sentence));
        }
    }
    text + "</ol></noscript>\n"
}
