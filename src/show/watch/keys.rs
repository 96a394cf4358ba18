//! What keys mean in the live view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Which way in time, or along the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Further.
    Forward,
    /// Back.
    Back,
}

/// Something that is done to a live bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The chosen station offers a frame.
    Inject,
    /// The chosen station's cable is pulled, or put back.
    Plug,
    /// The cable is cut beside the chosen station, or mended.
    Cut,
}

/// A wish of the user at the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// End.
    Quit,
    /// Stop time, or let it go on.
    Pause,
    /// One event.
    Event(Way),
    /// One bit time.
    Bit(Way),
    /// To a collision.
    Collision(Way),
    /// Time goes faster or slower.
    Faster(Way),
    /// A row of the picture is shorter or longer.
    Finer(Way),
    /// Another station.
    Choose(Way),
    /// Follow the chosen station's frame, or none any more.
    Follow,
    /// What is newest.
    Newest,
    /// Something that is done to the bus.
    Do(Deed),
    /// Explain keys, or no more.
    Help,
}

/// The keys of every view.
pub const HELP: &str = "\
space        stop time, or let it go on
right, left  one event further or back (of the followed frame)
. and ,      one bit time further or back
n and N      the next collision, or the one before
+ and -      faster or slower
up, down     choose a station
f            follow the frame of the chosen station, or none
z and Z      a row of the picture is shorter or longer
l or End     what is newest
q or Ctrl-C  end
";

/// Those of a live bus besides.
pub const LIVE_HELP: &str = "\
i            the chosen station offers a frame to all stations
u            unplug the chosen station, or plug it in again
c            cut the cable after the chosen station, or mend it
";

/// What a key means; nothing for most.
pub fn act(key: KeyEvent) -> Option<Act> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if ctrl => Act::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Act::Quit,
        KeyCode::Char(' ') => Act::Pause,
        KeyCode::Right => Act::Event(Way::Forward),
        KeyCode::Left => Act::Event(Way::Back),
        KeyCode::Char('.') => Act::Bit(Way::Forward),
        KeyCode::Char(',') => Act::Bit(Way::Back),
        KeyCode::Char('n') => Act::Collision(Way::Forward),
        KeyCode::Char('N') => Act::Collision(Way::Back),
        KeyCode::Char('+' | '=') => Act::Faster(Way::Forward),
        KeyCode::Char('-') => Act::Faster(Way::Back),
        KeyCode::Char('z') => Act::Finer(Way::Forward),
        KeyCode::Char('Z') => Act::Finer(Way::Back),
        KeyCode::Down | KeyCode::Tab => Act::Choose(Way::Forward),
        KeyCode::Up | KeyCode::BackTab => Act::Choose(Way::Back),
        KeyCode::Char('f') => Act::Follow,
        KeyCode::Char('l') | KeyCode::End => Act::Newest,
        KeyCode::Char('i') => Act::Do(Deed::Inject),
        KeyCode::Char('u') => Act::Do(Deed::Plug),
        KeyCode::Char('c') => Act::Do(Deed::Cut),
        KeyCode::Char('?' | 'h') => Act::Help,
        _ => return None,
    })
}
