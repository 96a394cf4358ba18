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
pub enum Press {
    /// The chosen station offers a frame.
    Inject,
    /// The chosen station's cable is pulled, or put back.
    Plug,
    /// The cable is cut beside the chosen station, or mended.
    Cut,
}

/// What the view asks for in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A station's name.
    Station,
    /// An instant in bit times.
    Instant,
}

/// Stations that a Page key goes further.
const PAGE: usize = 10;

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
    /// Another station, this number further.
    Choose(Way, usize),
    /// Ask for something in a line.
    Ask(Question),
    /// Follow the chosen station's frame, or none any more.
    Follow,
    /// What is newest.
    Newest,
    /// Something that is done to the bus.
    Do(Press),
    /// Explain keys, or no more.
    Help,
}

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As help writes it.
    pub key: &'static str,
    /// What the key does.
    pub does: &'static str,
    /// Only on a live bus.
    pub live: bool,
}

const fn key(key: &'static str, does: &'static str) -> Key {
    Key { key, does, live: false }
}

const fn live(key: &'static str, does: &'static str) -> Key {
    Key { key, does, live: true }
}

/// All keys; docs/watch.md has the same table.
pub const KEYS: [Key; 18] = [
    key("space", "stop time, or start it again"),
    key("right, left", "one event further or back (of the followed frame)"),
    key(". and ,", "one bit time further or back"),
    key("n, N", "the next collision or the one before, logical ones too"),
    key("g", "go to an instant, in bit times"),
    key("+, -", "faster or slower, from 1 bit time a second to real time"),
    key("up, down", "choose a station"),
    key("Page keys", "choose a station, ten further or back"),
    key("/", "choose a station by its name"),
    key("mouse", "a click chooses a station, the wheel the one above or below"),
    key("f", "follow the frame of the chosen station, or none"),
    key("z, Z", "a row of the picture is shorter or longer"),
    live("l, End", "what is newest"),
    live("i", "the chosen station offers a frame to all stations"),
    live("u", "unplug the chosen station, or plug it in again"),
    live("c", "cut the cable after the chosen station, or mend it"),
    key("?, h", "this help"),
    key("q, Ctrl-C", "end"),
];

/// The keys in lines.
pub fn help(live: bool) -> String {
    let own = KEYS.iter().filter(|key| live || !key.live);
    own.map(|Key { key, does, .. }| format!("{key:<12} {does}\n")).collect()
}

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
        KeyCode::Down | KeyCode::Tab => Act::Choose(Way::Forward, 1),
        KeyCode::Up | KeyCode::BackTab => Act::Choose(Way::Back, 1),
        KeyCode::PageDown => Act::Choose(Way::Forward, PAGE),
        KeyCode::PageUp => Act::Choose(Way::Back, PAGE),
        KeyCode::Char('/') => Act::Ask(Question::Station),
        KeyCode::Char('g') => Act::Ask(Question::Instant),
        KeyCode::Char('f') => Act::Follow,
        KeyCode::Char('l') | KeyCode::End => Act::Newest,
        KeyCode::Char('i') => Act::Do(Press::Inject),
        KeyCode::Char('u') => Act::Do(Press::Plug),
        KeyCode::Char('c') => Act::Do(Press::Cut),
        KeyCode::Char('?' | 'h') => Act::Help,
        _ => return None,
    })
}
