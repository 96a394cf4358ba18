//! A screen of the live view, drawn from a state. The same state gives the same screen.

use super::picture;
use medium::{FrameId, StationId, Topology};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use say::terminal::{cut, fold};
use sim::run::view::{Turn, View};
use sim::scene::Doing;
use sim::words::sentences::{TIED, frame_name, nanos, real};
use sim::words::units::{group, many};

/// Columns and lines that a screen has at least.
pub const LEAST: (u16, u16) = (40, 16);
/// Below this width letters are large, as on a projector: bold, with higher rows and fewer columns.
const ROOM: u16 = 60;
/// From this width on figures are beside the stations.
const WIDE: u16 = 136;
/// Columns of the figures there.
const BESIDE: u16 = 58;
/// The most lines of facts about the bus besides its events: the room that the smallest terminal has.
const MOST_HEALTH: usize = 4;
/// Colours of the senders.
const COLOURS: [Color; 6] = [Color::Blue, Color::Yellow, Color::Green, Color::Magenta, Color::Cyan, Color::Red];

/// What a terminal can show.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// It has colours, and its user wants them (no-color.org).
    pub colour: bool,
    /// It has more letters than ASCII's.
    pub unicode: bool,
}

/// Everything that is drawn.
#[derive(Clone, Debug)]
pub struct Screen<'a> {
    /// The bus.
    pub view: &'a View,
    /// The stations' names, in order of number.
    pub names: &'a [String],
    /// What is watched.
    pub title: &'a str,
    /// The speed of the view's time, in words.
    pub pace: &'a str,
    /// Lines about the emulator, or about the whole run.
    pub health: &'a [String],
    /// The last thing that was done, or went wrong.
    pub message: &'a str,
    /// The station that keys are about.
    pub chosen: StationId,
    /// The frame that the view follows: only its events are listed.
    pub followed: Option<FrameId>,
    /// Bit times of a row of the picture; `None`: as the window has room.
    pub row_bt: Option<u64>,
    /// Keys are explained.
    pub help: Option<&'a str>,
    /// What the terminal can show.
    pub look: Look,
}

/// How a sender's signals look.
pub fn sender_style(look: Look, station: StationId) -> Style {
    match look.colour {
        true => Style::default().fg(COLOURS[station.index() % COLOURS.len()]),
        false => Style::default(),
    }
}

/// Where the parts of a screen are.
struct Areas {
    heading: Rect,
    picture: Rect,
    letters: Rect,
    table: Rect,
    figures: Rect,
    events: Rect,
    footer: Rect,
}

impl Areas {
    /// With `below` lines of figures, unless they are beside the table.
    fn new(screen: &Screen<'_>, below: usize, area: Rect) -> Areas {
        let (wide, stations) = (is_wide(area.width), screen.names.len());
        let told = if area.height >= 40 { 10 } else { 4 };
        let below = below as u16;
        // Heading, letters, the table's heading, keys, and the picture's names.
        let left = area.height - below - told - 5;
        let rows = (stations as u16).min(left / 2).max(if wide { 12.min(left / 2) } else { 0 });
        let line = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
        let height = left - rows + 1;
        let table = line(2 + height, rows + 1);
        let under = 3 + height + rows;
        let width = if wide { area.width - BESIDE } else { area.width };
        let beside = Rect { x: area.x + width, width: BESIDE.min(area.width), ..table };
        Areas {
            heading: line(0, 1),
            picture: line(1, height),
            letters: line(1 + height, 1),
            table: Rect { width, ..table },
            figures: if wide { beside } else { line(under, below) },
            events: line(under + below, told),
            footer: line(area.height - 1, 1),
        }
    }
}

/// The figures are beside the table.
fn is_wide(width: u16) -> bool {
    width >= WIDE
}

/// A room looks from afar.
pub fn is_for_a_room(width: u16) -> bool {
    width < ROOM
}

/// The figures that are not beside the table; none in a room.
fn below(screen: &Screen<'_>, width: u16) -> Vec<String> {
    if is_wide(width) || is_for_a_room(width) { Vec::new() } else { figures_below(screen, width) }
}

/// Draws the whole screen.
pub fn draw(screen: &Screen<'_>, area: Rect, buffer: &mut Buffer) {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return too_small(area, buffer);
    }
    let below = below(screen, area.width);
    let areas = Areas::new(screen, below.len(), area);
    heading(screen, areas.heading, buffer);
    let shown = shown(screen, picture::fits(area.width));
    picture::draw(screen, &shown, areas.picture, buffer);
    let row_bt = picture::row_bt(screen, areas.picture);
    letters(screen, row_bt, shown.len(), areas.letters, buffer);
    table(screen, areas.table, buffer);
    let figures = if is_wide(area.width) { figures_beside(screen, areas.table.height - 1) } else { below };
    lines(&figures, areas.figures, buffer);
    events(screen, areas.events, buffer);
    footer(screen, areas.footer, buffer);
    if is_for_a_room(area.width) {
        buffer.set_style(area, Style::default().add_modifier(Modifier::BOLD).remove_modifier(Modifier::DIM));
    }
    if let Some(help) = screen.help {
        overlay(help, area, buffer);
    }
}

/// Bit times of a row of the picture on a screen.
pub fn row_bt(screen: &Screen<'_>, area: Rect) -> u64 {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return 1;
    }
    picture::row_bt(screen, Areas::new(screen, below(screen, area.width).len(), area).picture)
}

/// The station that is drawn at a place of the screen.
pub fn station_at(screen: &Screen<'_>, area: Rect, x: u16, y: u16) -> Option<StationId> {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return None;
    }
    let areas = Areas::new(screen, below(screen, area.width).len(), area);
    let is_in = |part: Rect| part.contains((x, y).into());
    if is_in(areas.picture) {
        return picture::station_at(screen, &shown(screen, picture::fits(area.width)), areas.picture, x);
    }
    let row = usize::from((y.saturating_sub(areas.table.y)).checked_sub(1)?);
    let all = screen.view.layout().order;
    let rows = usize::from(areas.table.height - 1).max(1);
    around(&all, screen.chosen, rows).get(row).copied().filter(|_| is_in(areas.table))
}

/// One sentence, for a terminal that has no room for more.
fn too_small(area: Rect, buffer: &mut Buffer) {
    let (columns, rows) = LEAST;
    let text = format!(
        "The live view needs {columns} columns and {rows} lines; this terminal has {} and {}. q ends.",
        area.width, area.height
    );
    let folded = fold(&text, usize::from(area.width.max(1)));
    lines(&folded.lines().map(str::to_owned).collect::<Vec<_>>(), area, buffer);
}

fn lines(lines: &[String], area: Rect, buffer: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.y..area.y + area.height) {
        buffer.set_stringn(area.x, y, line, usize::from(area.width), Style::default());
    }
}

fn heading(screen: &Screen<'_>, area: Rect, buffer: &mut Buffer) {
    let now = screen.view.now;
    let time = real(now.since(medium::BitInstant::ZERO), screen.view.config().rate).replace(TIED, " ");
    let right = format!("t = {} BT ({time})  {}", group(now.get()), screen.pace);
    let room = usize::from(area.width).saturating_sub(right.chars().count() + 2);
    let text = format!("{:<room$}  {right}", cut(screen.title, room));
    buffer.set_stringn(area.x, area.y, text, usize::from(area.width), Style::default().add_modifier(Modifier::BOLD));
}

/// Stations that are drawn beside each other: as many as fit, the chosen one among them.
fn shown(screen: &Screen<'_>, fits: usize) -> Vec<StationId> {
    let all = screen.view.layout().order;
    around(&all, screen.chosen, fits).to_vec()
}

/// `count` consecutive stations of `all`, the chosen one among them.
fn around(all: &[StationId], chosen: StationId, count: usize) -> &[StationId] {
    let count = count.min(all.len());
    let place = all.iter().position(|station| *station == chosen).unwrap_or(0);
    let first = (place + 1).saturating_sub(count).max(place / count * count).min(all.len() - count);
    &all[first..first + count]
}

fn letters(screen: &Screen<'_>, row_bt: u64, drawn: usize, area: Rect, buffer: &mut Buffer) {
    let all = screen.names.len();
    let of = if drawn < all { format!(", {drawn} of {all} stations") } else { String::new() };
    let (in_full, in_short) = picture::letters(&screen.view.config().method);
    let letters = if area.width < WIDE { in_short } else { in_full };
    let parted = if screen.view.cut.is_some() { ", the cable is cut (/)" } else { "" };
    let star = match &screen.view.config().topology {
        Topology::Star { distance, .. } => format!(", star of {} BT", group(distance.get())),
        Topology::Bus { .. } | Topology::Segments(_) => String::new(),
    };
    let text = format!("{row_bt} BT a row{star}{of}{parted}: {letters}");
    let style = Style::default().add_modifier(Modifier::DIM);
    buffer.set_stringn(area.x, area.y, cut(&text, usize::from(area.width)), usize::from(area.width), style);
}

/// Columns of the table before its counters, which a room does without.
const STATE: usize = 54;
const COLUMNS: &str = "station   does              queue attempt backoff left      sent  collided  lost";

fn table(screen: &Screen<'_>, area: Rect, buffer: &mut Buffer) {
    buffer.set_stringn(area.x, area.y, COLUMNS, table_width(area), Style::default().add_modifier(Modifier::UNDERLINED));
    let all = screen.view.layout().order;
    let (rows, width) = (usize::from(area.height.saturating_sub(1)).max(1), table_width(area));
    for (station, y) in around(&all, screen.chosen, rows).iter().zip(area.y + 1..) {
        let text: String = row(screen, *station).chars().take(width).collect();
        let style = sender_style(screen.look, *station);
        let style = if *station == screen.chosen { style.add_modifier(Modifier::REVERSED) } else { style };
        buffer.set_stringn(area.x, y, cut(&text, usize::from(area.width)), usize::from(area.width), style);
    }
}

fn table_width(area: Rect) -> usize {
    if is_for_a_room(area.width) { STATE } else { usize::from(area.width) }
}

fn row(screen: &Screen<'_>, number: StationId) -> String {
    let view = screen.view;
    let (counted, station) = (&view.stations[number.index()], view.station(number));
    let attempt = match (station.attempt, view.config().attempt_limit()) {
        (0, _) => "-".to_owned(),
        (attempt, Some(limit)) => format!("{attempt}/{limit}"),
        (attempt, None) => attempt.to_string(),
    };
    let left = match station.doing {
        Doing::BackingOff { until: Some(until), .. } => {
            format!("{} BT", group(until.get().saturating_sub(view.now.get())))
        }
        // Slots that count only while the medium is silent are shown as drawn.
        Doing::BackingOff { until: None, slots } => many(slots, "slot"),
        Doing::Idle | Doing::Ready | Doing::Deferring | Doing::Sending => "-".to_owned(),
        Doing::Jamming | Doing::ToldToWait | Doing::Unknown => "-".to_owned(),
    };
    format!(
        "{:<9} {:<17} {:>5} {attempt:>7} {left:>12} {:>9} {:>9} {:>5}",
        cut(&screen.names[number.index()], 9),
        does(view, number),
        group(station.queue() as u64),
        group(counted.transmitted),
        group(counted.collisions),
        group(counted.discarded),
    )
}

/// What a station does, in `explain`'s verbs.
fn does(view: &View, number: StationId) -> String {
    let station = &view.stations[number.index()];
    let what = match view.station(number).doing {
        _ if station.detached => "off the medium",
        Doing::Idle => "idle",
        Doing::Ready => "ready",
        Doing::Deferring => "defers",
        Doing::Sending => "sends",
        Doing::Jamming => "collides, jams",
        Doing::BackingOff { .. } => "backs off",
        Doing::ToldToWait => "waits, its turn",
        Doing::Unknown => "?",
    };
    match station.fault {
        Some(fault) => format!("{what}, {}", fault),
        None => what.to_owned(),
    }
}

/// Steps as letters of rising height, the newest to the right.
fn course(screen: &Screen<'_>, width: usize) -> String {
    let letters: &[char] = match screen.look.unicode {
        true => &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        false => &['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
    };
    let most = letters.len() - 1;
    let letter = |part: f64| letters[((part * most as f64).round() as usize).min(most)];
    let mut newest: Vec<char> = screen.view.course().rev().take(width).map(letter).collect();
    newest.reverse();
    newest.into_iter().collect()
}

fn totals(screen: &Screen<'_>) -> String {
    let view = screen.view;
    let share = view.utilization().map_or("-".to_owned(), |part| format!("{part:.3}"));
    let rate = view.config().rate.get() as f64;
    let through = view.utilization().map_or("-".to_owned(), |part| format!("{:.2} Mb/s", part * rate / 1e6));
    format!("while watched: utilization {share}, {through}")
}

fn counts(screen: &Screen<'_>) -> String {
    let view = screen.view;
    let turn = match view.turn {
        Some(Turn::Beacon(station)) => format!(", BEACON of {}", screen.names[station.index()]),
        Some(Turn::Of(station, id)) => format!(", turn {id} is {}'s", screen.names[station.index()]),
        None => String::new(),
    };
    match view.missed {
        0 => format!("{}, {}{turn}", many(view.frames, "frame"), many(view.episodes, "collision")),
        missed => format!("{} seen, {} not seen", many(view.frames, "frame"), many(missed, "event")),
    }
}

/// The longest wait of the chosen station for its turn, beside its bound.
fn wait(screen: &Screen<'_>) -> Option<String> {
    let bound = screen.view.wait_bound()?;
    let own = screen.view.stations[screen.chosen.index()].longest_wait.get();
    let name = &screen.names[screen.chosen.index()];
    Some(format!("{name} waited for the bus {} BT at most, bound {} BT", group(own), group(bound)))
}

fn figures_below(screen: &Screen<'_>, width: u16) -> Vec<String> {
    let first = format!("{}; {}  ", totals(screen), counts(screen));
    let room = usize::from(width).saturating_sub(first.chars().count());
    let attempts: Vec<String> = (1..)
        .zip(screen.view.attempts)
        .filter(|(_, frames)| *frames > 0)
        .map(|(attempts, frames): (usize, u64)| format!("{attempts}: {}", group(frames)))
        .collect();
    let attempts = if attempts.is_empty() { "none yet".to_owned() } else { attempts.join("  ") };
    let mut all = vec![format!("{first}{}", course(screen, room)), format!("frames by attempts  {attempts}")];
    all.extend(wait(screen));
    all.extend(health(screen, width.into()).into_iter().take(MOST_HEALTH));
    all
}

/// All lines about the bus that do not follow from its events.
fn health(screen: &Screen<'_>, width: usize) -> Vec<String> {
    let folded = |line: &String| fold(line, width).lines().map(str::to_owned).collect::<Vec<_>>();
    screen.health.iter().flat_map(folded).collect()
}

/// Figures in a column of their own.
fn figures_beside(screen: &Screen<'_>, rows: u16) -> Vec<String> {
    let width = usize::from(BESIDE) - 4;
    let mut all = vec![
        format!("  {}", totals(screen)),
        format!("  {}", counts(screen)),
        format!("  {}", course(screen, width)),
        format!("  utilization, a letter is {}", step(screen)),
        "  frames by attempts".to_owned(),
    ];
    all.splice(2..2, wait(screen).map(|line| format!("  {line}")));
    let most = screen.view.attempts.iter().copied().max().unwrap_or(0).max(1);
    let used = screen.view.attempts.iter().rposition(|frames| *frames > 0).map_or(0, |last| last + 1);
    let bar = if screen.look.unicode { "█" } else { "#" };
    let health = health(screen, width);
    let room = usize::from(rows).saturating_sub(all.len() + health.len()).max(2);
    for (number, frames) in screen.view.attempts.iter().enumerate().take(used.min(room)) {
        let length = (*frames * (width as u64 - 16)).div_ceil(most) as usize;
        all.push(format!("  {:>3} {:>9} {}", number + 1, group(*frames), bar.repeat(length)));
    }
    all.extend(health.iter().map(|line| format!("  {line}")));
    all
}

fn step(screen: &Screen<'_>) -> String {
    let span = medium::BitTimes::new(sim::run::view::STEP).at(screen.view.config().rate);
    nanos(span.as_nanos() as u64).replace(TIED, " ")
}

/// The last events in sentences, as many as there is room for, the newest last and whole.
fn events(screen: &Screen<'_>, area: Rect, buffer: &mut Buffer) {
    let wanted = |frame: FrameId| screen.followed.is_none_or(|followed| followed == frame);
    let mut all: Vec<String> = Vec::new();
    for event in screen.view.recent.iter().rev().filter(|event| wanted(event.frame)) {
        let told = screen.view.sentence(event, screen.names).replace(TIED, " ");
        let text = format!("{:>14} BT  {}: {told}\n", group(event.at.get()), frame_name(screen.names, event.frame));
        let folded = fold(&text, usize::from(area.width));
        let mut own: Vec<String> = folded.lines().map(str::to_owned).collect();
        if !all.is_empty() && all.len() + own.len() > usize::from(area.height) {
            break;
        }
        own.append(&mut all);
        all = own;
    }
    lines(&all, area, buffer);
}

fn footer(screen: &Screen<'_>, area: Rect, buffer: &mut Buffer) {
    let keys = "? keys  space pause  left right event  , . bit  n collision  + - speed  q end";
    let text = if screen.message.is_empty() { keys } else { screen.message };
    let style = Style::default().add_modifier(Modifier::DIM);
    buffer.set_stringn(area.x, area.y, cut(text, usize::from(area.width)), usize::from(area.width), style);
}

/// A text in a box over the screen.
fn overlay(text: &str, area: Rect, buffer: &mut Buffer) {
    let width = text.lines().map(|line| line.chars().count()).max().unwrap_or(0).min(usize::from(area.width) - 4);
    let height = text.lines().count().min(usize::from(area.height) - 2);
    let (x, y) = ((area.width - width as u16) / 2, (area.height - height as u16) / 2);
    let edge = format!("+{}+", "-".repeat(width + 2));
    buffer.set_string(x - 2, y - 1, &edge, Style::default());
    for (line, y) in text.lines().zip(y..y + height as u16) {
        buffer.set_string(x - 2, y, format!("| {:<width$} |", cut(line, width)), Style::default());
    }
    buffer.set_string(x - 2, y + height as u16, &edge, Style::default());
}
