//! A lab that is up: answers requests, passes on the data plane's reports, makes the scenario's changes in time, until a
//! client or an interrupt ends the lab.

use super::planned::PlannedTable;
use super::schedule::Schedule;
use super::seats::Seats;
use super::{CommandError, Ended, end, with_links};
use crate::cli::args::Format;
use crossbeam_channel::{Receiver, at, never, select, tick};
use link::namespace::UserNamespace;
use link::signals::Signal;
use live::control::answer::{Answer, RpcError};
use live::control::request::{self, Control, Subscription};
use live::control::server::Requests;
use live::control::{Begun, DiscardsAt};
use live::discards::Streams;
use live::driver::offering::{FILL, Fed};
use live::driver::scenario::Offers;
use live::lab::inventory::Inventory;
use live::lab::links::Links;
use live::plane::protocol::{Request, Told};
use live::supervisor::{DataPlane, SupervisorError, say_overload, say_port, say_trouble};
use live::watchers::Watchers;
use medium::{BitInstant, Deed, Place, StationId};
use say::{say, with_causes};
use serde_json::json;
use sim::scenario::plan::Plan;
use sim::windows::capture::Framing;
use sim::windows::capture::filter::Filter;
use sim::words::units::many;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How often a lab looks whether it can still be reached: a user's folder may go when he logs out.
const LOOK: Duration = Duration::from_secs(2);

/// Who has asked for results.
pub enum Asker {
    /// A client, which waits for them.
    Client(Answer),
    /// Subscribers to results.
    Subscribers,
}

/// Those who have asked for results, and when.
type Asked = VecDeque<(Instant, Asker)>;

/// A lab that is up.
pub struct Serving<'a> {
    pub plan: &'a Plan,
    pub plane: DataPlane,
    /// Those that are there, and seats.
    pub stations: Seats,
    /// The table of messages that it runs.
    pub planned: Option<PlannedTable>,
    pub record: &'a mut Inventory,
    pub links: Links,
    /// What a trusted run may be off by, as a part.
    pub tolerance: f64,
    /// How the last results are written.
    pub format: Format,
    pub offers: Offers,
    pub schedule: Schedule,
    pub asked: Asked,
    pub watchers: Watchers,
    pub discards: Streams,
    /// Its stations are kernels in virtual time.
    pub is_virtual: bool,
}

/// The lab ends; the client that asked for it waits for the answer.
pub(super) type End = ControlFlow<Option<Answer>>;

pub(super) const GO_ON: Result<End, CommandError> = Ok(ControlFlow::Continue(()));

impl Serving<'_> {
    /// Serves the lab until its end, and tells how it ended.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn until_its_end(mut self, requests: &Requests, interrupts: &Receiver<Signal>) -> Result<Ended, CommandError> {
        let told = self.plane.told().clone();
        let looks = tick(LOOK);
        let ticks = tick(FILL);
        let answer = loop {
            if let Some(told) = self.plane.set_aside() {
                match self.pass_on(told)? {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(answer) => break answer,
                }
            }
            let overdue = self.asked.front().map_or_else(never, |(since, _)| at(*since + self.plane.patience()));
            let due = self.schedule.next().map_or_else(never, at);
            let fills = if self.offers.asks().is_some() { ticks.clone() } else { never() };
            let results_due = self.watchers.results_due().map_or_else(never, at);
            let next = select! {
                recv(overdue) -> _ => return Err(self.silent().into()),
                recv(interrupts) -> _ => break None,
                recv(looks) -> _ => self.look(),
                recv(due) -> _ => self.plane.ask(self.schedule.asks()).map(ControlFlow::Continue)?,
                recv(results_due) -> _ => {
                    self.watchers.ask_results();
                    self.ask(Asker::Subscribers)?;
                    ControlFlow::Continue(())
                }
                recv(fills) -> _ => self.plane.ask(Request::Queues).map(ControlFlow::Continue)?,
                recv(told) -> told => match told {
                    Ok(told) => self.pass_on(told)?,
                    Err(_) => return Err(self.plane.died().into()),
                },
                recv(self.stations.returns.back) -> back => {
                    back.map_or(Ok(()), |station| self.follow(&station))?;
                    ControlFlow::Continue(())
                }
                recv(self.discards.connected) -> connected => match connected {
                    Ok((station, stream)) => self.hear_of_discards(station, stream)?,
                    Err(_) => ControlFlow::Continue(()),
                },
                recv(requests) -> request => match request {
                    Ok((request, answer)) => self.answer(request, answer)?,
                    Err(_) => break None,
                },
            };
            if let ControlFlow::Break(answer) = next {
                break answer;
            }
        };
        // Its sockets keep the stations' namespaces alive.
        let offered = self.offers.stop();
        if offered.refused > 0 {
            say(&format!(
                "ethbus: stations' kernels refused {} of the scenario's traffic\n",
                many(offered.refused, "frame")
            ));
        }
        end(self.plane, self.planned, answer, self.record, &self.links, self.tolerance, self.format)
    }

    /// The data plane did not answer: says so to those who wait for it.
    fn silent(&mut self) -> SupervisorError {
        let error = SupervisorError::Silent { patience: self.plane.patience() };
        let asked = std::mem::take(&mut self.asked);
        for (_, asker) in asked {
            if let Asker::Client(answer) = asker {
                answer.refuse(&RpcError::refused(&format!("{error}, so the lab ends")));
            }
        }
        error
    }

    fn look(&self) -> End {
        if self.record.is_there() {
            return ControlFlow::Continue(());
        }
        say("ethbus: this lab's folder was removed, so no command reaches the lab any more: it ends\n");
        ControlFlow::Break(None)
    }

    fn pass_on(&mut self, told: Told) -> Result<End, CommandError> {
        match told {
            Told::Port { station, state } => {
                // First, so that what is written beside this thread comes after the log's new beginning.
                self.record.shorten_log();
                say_port(&station, state);
            }
            // The results include losses of a second that no message reports.
            Told::Overload { slip_ns, drops: 0 } if slip_ns as f64 <= 1e9 * self.tolerance => {}
            Told::Overload { slip_ns, drops } => {
                self.record.shorten_log();
                say_overload(slip_ns, drops);
            }
            Told::Trouble(what) => say_trouble(&what),
            Told::Kept(kept) => {
                self.record.shorten_log();
                self.plane.keeper().iter().for_each(|keeper| keeper.told(kept.clone()));
            }
            Told::Gone(station) => self.lose(&station),
            Told::Off(station) => self.links.plug(&station, false, self.record),
            Told::Results(mut results) => {
                self.plane.keeper().iter().for_each(|keeper| keeper.add_to(&mut results));
                self.planned.iter_mut().for_each(|planned| planned.judge(&mut results));
                let results = with_links(*results, &self.links, self.record, self.tolerance);
                match self.asked.pop_front() {
                    Some((_, Asker::Client(answer))) => answer.give(&results),
                    Some((_, Asker::Subscribers)) => self.watchers.tell_results(&results),
                    None => {}
                }
            }
            Told::Clock(now) => return self.act(BitInstant::new(now)),
            told @ Told::Queues(_) => self.offers.hear(&told),
            Told::Seen(seen) => {
                self.watchers.tell(&seen);
                if !self.watchers.want_events() {
                    self.plane.ask(Request::Watch(false))?;
                }
            }
            Told::Discards(discards) => {
                self.discards.tell(&discards).map_or(Ok(()), |request| self.plane.ask(request))?;
            }
            Told::Ready | Told::Restarted | Told::Calm | Told::Left | Told::Progress(_) => {}
        }
        GO_ON
    }

    /// A program in a station reads its discards from now on.
    fn hear_of_discards(&mut self, station: usize, stream: UnixStream) -> Result<End, CommandError> {
        self.discards.add(station, stream).map_or(Ok(()), |request| self.plane.ask(request))?;
        GO_ON
    }

    fn answer(&mut self, request: Control, answer: Answer) -> Result<End, CommandError> {
        if let Some(why) = request.refusal(self.is_virtual) {
            refuse(answer, why);
            return GO_ON;
        }
        match request {
            Control::Version => {
                let (program, api) = (concat!("ethbus ", env!("CARGO_PKG_VERSION")), request::VERSION);
                answer.give(&json!({ "program": program, "api": api }));
            }
            Control::Stats => self.ask(Asker::Client(answer))?,
            Control::Subscribe(subscription) => self.subscribe(&subscription, answer)?,
            Control::Discards { station } => match self.discards.path(self.record, &station) {
                Ok(path) => answer.give(&DiscardsAt { path: path.to_string_lossy().into_owned() }),
                Err(error) => refuse(answer, &error.to_string()),
            },
            Control::Keep => match self.plane.keeper() {
                Some(keeper) => {
                    keeper.ask(answer);
                    self.plane.ask(Request::Keep)?;
                }
                None => refuse(answer, "it keeps no last seconds: bring it up with `--keep FILE`"),
            },
            Control::Attach { station } => self.change(&station, |station| Deed::Plug { station }, answer)?,
            Control::Detach { station } => self.change(&station, |station| Deed::Unplug { station }, answer)?,
            Control::Add(section) => self.add(&section, answer)?,
            Control::Set(section) => self.set(&section, answer)?,
            Control::Remove { station } => self.remove(&station, answer)?,
            Control::Label { station, name, id } => self.label(station.zip(id), name, answer)?,
            Control::Fault { station, fault } => {
                self.change(&station, |station| Deed::Fault { station, fault }, answer)?
            }
            Control::Plca { station, settings } => {
                self.change(&station, |station| Deed::Plca { station, settings }, answer)?
            }
            Control::Pause => {
                self.schedule.pause();
                self.plane.ask(Request::Pause)?;
                self.ask_for(answer)?;
            }
            Control::Resume => {
                self.schedule.resume();
                self.plane.ask(Request::Resume)?;
                self.ask_for(answer)?;
            }
            Control::Step { bit_times } if self.schedule.is_paused() => {
                self.plane.ask(Request::Step(bit_times))?;
                self.ask_for(answer)?;
            }
            Control::Step { .. } => refuse(answer, "its clock runs: stop it with `ethbus pause` first"),
            Control::Cut(cut) => match self.plan.medium.topology.beyond(cut) {
                Ok(_) => self.cable(Some(cut), answer)?,
                Err(error) => answer.refuse(&RpcError::invalid_params(&format!("cut: {error}"))),
            },
            Control::Mend => self.cable(None, answer)?,
            Control::Capture { framing, filter } => self.capture(framing, &filter, answer)?,
            Control::Enter { station } => hand_over(self.record, &station, answer),
            Control::Exec { station, command, input } => self.exec(&station, command, input, answer)?,
            Control::Panic if cfg!(debug_assertions) => panic!("asked to panic"),
            Control::Trespass if cfg!(debug_assertions) => self.plane.ask(Request::Trespass)?,
            Control::BusPanic if cfg!(debug_assertions) => self.plane.ask(Request::Panic)?,
            Control::Panic | Control::Trespass | Control::BusPanic => refuse(answer, "it is no test's"),
            Control::Down => return Ok(ControlFlow::Break(Some(answer))),
        }
        GO_ON
    }

    fn subscribe(&mut self, subscription: &Subscription, answer: Answer) -> Result<(), SupervisorError> {
        let before = self.watchers.want_events();
        if let Err((answer, error)) = self.watchers.add(subscription, answer) {
            answer.refuse(&error);
        }
        if !before && self.watchers.want_events() {
            self.plane.ask(Request::Watch(true))?;
        }
        Ok(())
    }

    fn change(&mut self, name: &str, deed: impl Fn(StationId) -> Deed, answer: Answer) -> Result<(), SupervisorError> {
        match self.stations.position(name) {
            Some(station) => {
                self.ask_deed(deed(StationId::new(station as u16)))?;
                self.ask(Asker::Client(answer))
            }
            None => {
                answer.refuse(&RpcError::no_station(name));
                Ok(())
            }
        }
    }

    fn cable(&mut self, cut: Option<Place>, answer: Answer) -> Result<(), SupervisorError> {
        self.plane.ask(Request::Deed(Deed::Cut(cut)))?;
        self.ask(Asker::Client(answer))
    }

    /// Has the data plane write a capture to the client.
    fn capture(&mut self, framing: Framing, filter: &str, answer: Answer) -> Result<(), SupervisorError> {
        let filter = if filter.is_empty() { Ok(Filter::ALL) } else { Filter::read(filter, &self.stations.names()) };
        match filter.and_then(|filter| framing.filtered(filter)) {
            // The data plane has a thread that waits for the reader of this stream alone. A client may be gone.
            Ok(wish) => {
                let (stream, answer) = answer.hand_over(&json!({}));
                match stream.set_write_timeout(None) {
                    Ok(()) => self.plane.capture(wish, answer, &stream),
                    Err(_) => Ok(()),
                }
            }
            Err(why) => {
                answer.refuse(&RpcError::invalid_params(&format!("capture: {why}")));
                Ok(())
            }
        }
    }

    /// Has a station's kernel run a command for the client.
    fn exec(&mut self, name: &str, command: String, has_input: bool, answer: Answer) -> Result<(), SupervisorError> {
        let Some(station) = self.stations.position(name) else {
            answer.refuse(&RpcError::no_station(name));
            return Ok(());
        };
        match answer.give_stream(&Begun { paused: self.schedule.is_paused() }) {
            Ok(stream) => self.plane.command(station as u16, command, has_input, &stream),
            // The client is gone.
            Err(_) => Ok(()),
        }
    }

    /// Asks for results on behalf of a client.
    pub(super) fn ask_for(&mut self, answer: Answer) -> Result<(), SupervisorError> {
        self.ask(Asker::Client(answer))
    }

    /// Asks for results on behalf of `asker`.
    fn ask(&mut self, asker: Asker) -> Result<(), SupervisorError> {
        self.plane.ask(Request::Report)?;
        self.asked.push_back((Instant::now(), asker));
        Ok(())
    }
}

fn refuse(answer: Answer, why: &str) {
    answer.refuse(&RpcError::refused(why));
}

/// Gives the client what it needs to enter a station without a name. Where stations have names, no client asks.
fn hand_over(record: &Inventory, station: &str, answer: Answer) {
    let Some(namespace) = record.held(station) else {
        return refuse(answer, &format!("it holds no namespace of a station `{station}`: the namespace has a name"));
    };
    let owner = match UserNamespace::current() {
        Ok(owner) => owner,
        Err(error) => return refuse(answer, &with_causes(&error)),
    };
    // A client that went away does not matter to the lab.
    let _ = answer.give_fds(&[owner.as_fd(), namespace.as_fd()]);
}
