//! The live view on a terminal: reads keys, lets time pass, draws what has changed.

use super::keys::{self, Act, Press, Question, Way};
use super::player::{Player, is_collision, is_of};
use super::question::{Asked, Typed};
use super::screen::{self, Look, Screen};
use super::screened::{Screened, end_with_the_terminal, look};
use medium::{BitInstant, BitTimes, FrameId, StationId};
use ratatui::crossterm::event::{
    self, EnableMouseCapture, Event, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::layout::Rect;
use sim::run::view::View;
use sim::words::sentences::frame_name;
use sim::words::units::{self, group};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// From one look to the next while the view's time runs; a person sees no more.
const TICK: Duration = Duration::from_millis(100);
/// The same while an instant is looked for.
const HASTE: Duration = Duration::from_millis(1);
/// Bit times in a second, to begin with: a preamble takes half a second.
const SLOW: f64 = 128.0;
/// What the view of a run in virtual time says first.
const BEGIN: &str = "Paused. Space: let time go on. Right: one event. n: the first collision. ?: keys";
/// The first message with `--at`.
const THERE: &str = "Paused. Space: let time go on. Right, left: one event. n, N: a collision. ?: keys";
/// The longest row.
const LONGEST_ROW: u64 = 1 << 20;

/// What is watched, besides what it tells.
pub trait Bus {
    /// Lines about the bus that do not follow from events.
    fn health(&mut self) -> Vec<String>;

    /// Makes a change of it, and returns the outcome. `None`: it is not live, and takes no changes.
    fn act(&mut self, deed: Press, station: StationId, view: &View) -> Option<String>;

    /// Its time runs by itself.
    fn is_live(&self) -> bool;

    /// The first instant to show, if not the begin.
    fn first(&self) -> Option<BitInstant> {
        None
    }

    /// Whether the view must end.
    fn is_over(&mut self) -> bool;
}

/// What is watched and how it is called.
#[derive(Clone, Debug)]
pub struct Titles {
    /// The whole.
    pub title: String,
    /// The stations, in order of number.
    pub names: Vec<String>,
}

/// The speed of the view's time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    Paused,
    /// Bit times a second.
    Slow(f64),
    /// As fast as can be, to an instant.
    To(BitInstant),
    /// As the bus does.
    Live,
}

/// Shows what `player` plays until the user ends the view.
///
/// # Errors
/// The terminal cannot be written or read.
pub fn watch(player: Player, titles: &Titles, bus: &mut dyn Bus) -> io::Result<()> {
    let left = Arc::new(AtomicBool::new(false));
    end_with_the_terminal(left.clone())?;
    let shown = show(player, titles, bus);
    left.store(true, Ordering::Relaxed);
    shown
}

fn show(player: Player, titles: &Titles, bus: &mut dyn Bus) -> io::Result<()> {
    let mut screened = Screened::enter()?;
    execute!(io::stdout(), EnableMouseCapture)?;
    let mut watching = Watching::new(player, titles, bus);
    let mut last = Instant::now();
    loop {
        let now = Instant::now();
        let changed = watching.pass(now - last);
        last = now;
        if changed {
            screened.draw(|frame| watching.draw(frame.area(), frame.buffer_mut()))?;
        }
        if watching.bus.is_over() {
            return Ok(());
        }
        // Keys that wait are all taken before the next look.
        let tick = if matches!(watching.pace, Pace::To(_)) { HASTE } else { TICK };
        let mut patience = tick.saturating_sub(now.elapsed());
        while event::poll(patience)? {
            patience = Duration::ZERO;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    if watching.key(key) {
                        return Ok(());
                    }
                    watching.changed = true;
                }
                Event::Mouse(mouse) => watching.mouse(mouse),
                Event::Resize(..) => watching.changed = true,
                Event::Key(_) | Event::Paste(_) | Event::FocusGained | Event::FocusLost => {}
            }
        }
    }
}

/// Everything between keys and screen.
struct Watching<'a> {
    player: Player,
    titles: &'a Titles,
    /// The stations' names, with those that have joined since.
    names: Vec<String>,
    bus: &'a mut dyn Bus,
    pace: Pace,
    /// Bit times a second, if the view's time has that speed.
    speed: f64,
    /// Less than a bit time that has passed.
    rest: f64,
    chosen: StationId,
    followed: Option<FrameId>,
    /// Bit times of a row, once the user has chosen.
    row_bt: Option<u64>,
    /// Of the last screen.
    area: Rect,
    help: Option<String>,
    asked: Option<Asked>,
    message: String,
    look: Look,
    health: Vec<String>,
    changed: bool,
}

impl<'a> Watching<'a> {
    fn new(player: Player, titles: &'a Titles, bus: &'a mut dyn Bus) -> Watching<'a> {
        let chosen = player.view().layout().order.first().copied().unwrap_or(StationId::new(0));
        // A run in virtual time would be past its first collision before the user has looked.
        let (pace, message) = match bus.first() {
            _ if bus.is_live() => (Pace::Live, ""),
            Some(at) => (Pace::To(at), ""),
            None => (Pace::Paused, BEGIN),
        };
        Watching {
            player,
            titles,
            names: titles.names.clone(),
            bus,
            pace,
            speed: SLOW,
            rest: 0.0,
            chosen,
            followed: None,
            row_bt: None,
            area: Rect::default(),
            help: None,
            asked: None,
            message: message.to_owned(),
            look: look(),
            health: Vec::new(),
            changed: true,
        }
    }

    /// Lets time pass; whether there is something else to see.
    fn pass(&mut self, passed: Duration) -> bool {
        let before = self.player.view().now;
        match self.pace {
            Pace::Paused => {}
            Pace::Live => self.player.newest(),
            Pace::To(at) => self.go_on_to(at),
            Pace::Slow(speed) => {
                let span = passed.min(TICK * 4).as_secs_f64() * speed + self.rest;
                self.rest = span.fract();
                self.player.forward(BitTimes::new(span as u64));
            }
        }
        let health = self.bus.health();
        self.changed |= health != self.health || self.player.view().now != before;
        self.health = health;
        std::mem::take(&mut self.changed)
    }

    /// Goes on towards an instant, and stops there or at the run's end.
    fn go_on_to(&mut self, at: BitInstant) {
        let shown = self.player.view().now;
        self.player.forward(BitTimes::new(at.get().saturating_sub(shown.get())));
        let is_there = self.player.view().now >= at;
        if is_there || self.player.at_end() {
            self.pace = Pace::Paused;
            self.changed = true;
            self.message =
                if is_there { THERE.to_owned() } else { format!("the run ends before t = {} BT", group(at.get())) };
        }
    }

    /// Takes a key; whether that is to end.
    fn key(&mut self, key: KeyEvent) -> bool {
        let Some(asked) = &mut self.asked else { return keys::act(key).is_some_and(|act| self.act(act)) };
        match asked.key(key) {
            Typed::More => {}
            Typed::Dropped => self.asked = None,
            Typed::Given => {
                let Asked { what, text, .. } = self.asked.take().expect("it was asked");
                match what {
                    Question::Station => self.find(text.trim()),
                    Question::Instant => self.go_to(&text),
                }
            }
        }
        false
    }

    /// A click chooses a station, and the wheel the one above or below.
    fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let station = self.screen(|screen| screen::station_at(screen, self.area, mouse.column, mouse.row));
                self.chosen = station.unwrap_or(self.chosen);
            }
            MouseEventKind::ScrollDown => self.choose(Way::Forward, 1),
            MouseEventKind::ScrollUp => self.choose(Way::Back, 1),
            _ => return,
        }
        self.changed = true;
    }

    /// Chooses the station of that name, or the first one whose name begins so.
    fn find(&mut self, name: &str) {
        let names = &self.names;
        let found =
            names.iter().position(|known| known == name).or(names.iter().position(|known| known.starts_with(name)));
        match found {
            Some(number) => self.chosen = StationId::new(number as u16),
            None => self.message = format!("no station's name begins with `{name}`"),
        }
    }

    /// Goes to an instant, as far as the run goes, or as far back as the view remembers.
    fn go_to(&mut self, text: &str) {
        let at = match units::instant(text.trim()) {
            Ok(at) => BitInstant::new(at),
            Err(what) => return self.message = what,
        };
        let shown = self.player.view().now;
        if at >= shown {
            self.pace = Pace::To(at);
            return;
        }
        self.pace = Pace::Paused;
        self.player.back_by(shown.since(at));
        let reached = self.player.view().now;
        if reached > at {
            self.message = format!("the view remembers nothing before t = {} BT", group(reached.get()));
        }
    }

    /// Does what a key says; whether that is to end.
    fn act(&mut self, act: Act) -> bool {
        self.message.clear();
        match act {
            Act::Quit if self.help.is_none() => return true,
            Act::Quit => self.help = None,
            Act::Help => self.help = self.help.take().map_or_else(|| Some(keys::help(self.bus.is_live())), |_| None),
            Act::Pause if self.pace == Pace::Paused => self.pace = Pace::Slow(self.speed),
            Act::Pause => self.pace = Pace::Paused,
            Act::Newest => self.newest(),
            Act::Event(way) => {
                self.step(way, |_| true, "no further event");
            }
            Act::Collision(way) => self.collision(way),
            Act::Bit(way) => self.bit(way),
            Act::Faster(way) => self.faster(way),
            Act::Finer(way) => self.finer(way),
            Act::Choose(way, count) => self.choose(way, count),
            Act::Ask(what) => self.asked = Some(Asked::place(what)),
            Act::Follow => self.follow(),
            Act::Do(deed) => {
                let nothing = || "nothing can be done to a run in virtual time".to_owned();
                self.message = self.bus.act(deed, self.chosen, self.player.view()).unwrap_or_else(nothing);
            }
        }
        false
    }

    fn newest(&mut self) {
        if self.bus.is_live() {
            self.pace = Pace::Live;
        } else {
            self.message = "a run in virtual time is as far as it is shown: + goes faster".to_owned();
        }
    }

    /// To an event that is wanted; whether there is one.
    fn step(&mut self, way: Way, wanted: impl Fn(&medium::Event) -> bool, none: &str) -> bool {
        self.pace = Pace::Paused;
        let followed = self.followed;
        let both = |event: &medium::Event| wanted(event) && is_of(event, followed);
        let found = match way {
            Way::Forward => self.player.forward_to(both),
            Way::Back => self.player.back_to(both),
        };
        if found {
            self.choose_last();
        } else {
            self.message = match way {
                Way::Back => format!("{none} is remembered before this one"),
                Way::Forward if self.player.at_end() => format!("{none}: this is the end"),
                Way::Forward => format!("{none} has come yet"),
            };
        }
        found
    }

    /// Chooses the station of the last event, which the view tells of.
    fn choose_last(&mut self) {
        if let Some(event) = self.player.view().recent.back() {
            self.chosen = event.station;
        }
    }

    /// To the next instant at which a station notices a collision, or the one before. All stations that notice a
    /// collision at that instant have then noticed it.
    fn collision(&mut self, way: Way) {
        let shown = self.player.view().now;
        let elsewhere = |at: BitInstant| match way {
            Way::Forward => at > shown,
            Way::Back => at < shown,
        };
        if self.step(way, |event| is_collision(event) && elsewhere(event.at), "no further collision") {
            self.player.forward(BitTimes::ZERO);
            self.choose_last();
        }
    }

    fn bit(&mut self, way: Way) {
        self.pace = Pace::Paused;
        match way {
            Way::Forward => self.player.forward(BitTimes::new(1)),
            Way::Back => self.player.back_by(BitTimes::new(1)),
        }
    }

    fn finer(&mut self, way: Way) {
        let row = self.screen(|screen| screen::row_bt(screen, self.area));
        self.row_bt = Some(match way {
            Way::Forward => (row / 2).max(1),
            Way::Back => (row * 2).min(LONGEST_ROW),
        });
    }

    fn faster(&mut self, way: Way) {
        let most = self.player.view().config().rate.get() as f64;
        let factor = if way == Way::Forward { 2.0 } else { 0.5 };
        self.speed = (self.speed * factor).clamp(1.0, most);
        self.pace = Pace::Slow(self.speed);
    }

    fn choose(&mut self, way: Way, count: usize) {
        let all = self.player.view().layout().order;
        if all.is_empty() {
            return;
        }
        let place = all.iter().position(|station| *station == self.chosen).unwrap_or(0);
        let count = count % all.len();
        let next = match way {
            Way::Forward => (place + count) % all.len(),
            Way::Back => (place + all.len() - count) % all.len(),
        };
        self.chosen = all[next];
    }

    fn follow(&mut self) {
        let view = self.player.view();
        let own = |event: &&medium::Event| event.frame.station == self.chosen;
        let last = || view.recent.iter().rev().find(own).map(|event| event.frame);
        let frame = view.station(self.chosen).frame.or_else(last);
        let ends = self.followed.is_some();
        self.followed = if ends { None } else { frame };
        self.message = match self.followed {
            Some(frame) => {
                format!("following {}: only its events are told", frame_name(&self.names, frame))
            }
            None if ends => "following no frame any more".to_owned(),
            None => "this station has no frame to follow yet".to_owned(),
        };
    }

    fn pace(&self) -> String {
        let rate = self.player.view().config().rate.get() as f64;
        match self.pace {
            _ if self.player.at_end() => "the end".to_owned(),
            Pace::Paused => "paused".to_owned(),
            Pace::Live => "live".to_owned(),
            Pace::To(at) => format!("going to {} BT", group(at.get())),
            Pace::Slow(speed) if speed >= rate => "real time".to_owned(),
            Pace::Slow(speed) => format!("{} BT/s, 1/{} of life", group(speed as u64), group((rate / speed) as u64)),
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut ratatui::buffer::Buffer) {
        self.area = area;
        let joined = self.names.len() - self.titles.names.len();
        self.names.extend(self.player.view().joined.iter().skip(joined).cloned());
        self.screen(|screen| screen::draw(screen, area, buffer));
    }

    /// What `with` makes of all that is drawn.
    fn screen<T>(&self, with: impl FnOnce(&Screen<'_>) -> T) -> T {
        let asked = self.asked.as_ref().map(Asked::line);
        with(&Screen {
            view: self.player.view(),
            names: &self.names,
            title: &self.titles.title,
            pace: &self.pace(),
            health: &self.health,
            message: asked.as_deref().unwrap_or(&self.message),
            chosen: self.chosen,
            followed: self.followed,
            row_bt: self.row_bt,
            help: self.help.as_deref(),
            look: self.look,
        })
    }
}
