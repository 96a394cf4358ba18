//! From what is written to sources at work: the checks of one source, and its streams.

use super::arrivals::Process;
use super::destination::{self, DestinationDraws};
use super::draw::Misses;
use super::shares::{self, Share};
use super::sizes::SizeDraws;
use super::{
    Arrivals, Capture, Connection, Datagrams, Echoes, Every, Kind, Load, Loop, Pauses, Sizes, Source, Stream, Talk, To,
    TrafficError, TrafficSpec, Udp, Window, octets,
};
use crate::figures::stacks::Protocol;
use crate::words::configuration::slot;
use backoff::Generator;
use medium::{BitInstant, BitRate, BitTimes, Config, Method, Octets};
use std::time::Duration;

/// Makes sources, each from its own streams.
pub(super) struct Maker {
    pub stations: usize,
    pub rate: BitRate,
    pub min_frame_size: Octets,
    /// Octets of the longest IP packet.
    pub mtu: usize,
    /// The slot or the frame time, of a medium without collision detection.
    pub slot: Option<BitTimes>,
    /// Slots begin for all at once.
    pub slotted: bool,
    pub seed: u64,
}

impl Maker {
    pub fn on(config: &Config, stations: usize, seed: u64) -> Maker {
        let slotted = matches!(config.method, Method::SlottedAloha(_));
        let (slot, min_frame_size) = (slot(&config.method), config.parameters.min_frame_size);
        let mtu = octets::mtu(&config.parameters);
        Maker { stations, rate: config.rate, min_frame_size, mtu, slot, slotted, seed }
    }

    /// The first source of each station.
    pub fn first_sources(&self, specs: &[TrafficSpec], replays: &[Capture]) -> Result<Vec<Source>, TrafficError> {
        let shares = shares::shares(specs, replays, self.rate)?;
        let source = |(station, share)| self.source(&specs[station], station, 0, share);
        shares.into_iter().enumerate().map(source).collect()
    }

    /// Source `number`, from 0, of a station.
    pub fn source(
        &self,
        spec: &TrafficSpec,
        station: usize,
        number: usize,
        share: Share,
    ) -> Result<Source, TrafficError> {
        let range = |what| TrafficError::Range { station, what };
        let sizes = spec.sizes.clone().unwrap_or_default();
        spec.arrivals.check().map_err(range)?;
        sizes.check().map_err(range)?;
        let to = spec.destination.unwrap_or_default();
        to.check(station, self.stations)?;
        if spec.sizes.is_some() && matches!(spec.arrivals, Arrivals::Replay { .. }) {
            return Err(TrafficError::SizesOfReplay { station });
        }
        if matches!(spec.arrivals, Arrivals::Window(_)) && (matches!(to, To::All | To::Beyond(_)) || self.stations < 2)
        {
            let what = "a window waits until one addressee has its frame: write `destination = \"next\"`, `\"random\"` or a station's name, with 2 stations or more on the bus";
            return Err(range(what.to_owned()));
        }
        if let Some(protocol) = spec.arrivals.protocol() {
            self.check_talk(protocol, to, spec.sizes.is_some()).map_err(range)?;
        }
        if !self.slotted && matches!(spec.arrivals, Arrivals::Bernoulli { .. }) {
            let what = "arrivals with a chance in each slot need a slotted medium: write `poisson:0.4`, or choose `--access slotted-aloha`";
            return Err(range(what.to_owned()));
        }
        if self.slot.is_none() && matches!(spec.arrivals.load(), Some(Load::Slots(_))) {
            let what =
                "frames in a slot need an access method that has slots: write a part of the medium's rate, like `0.4`";
            return Err(range(what.to_owned()));
        }
        let stream = |stream: Stream| stream.of(self.seed, station, number);
        Ok(Source {
            station: destination::station(station),
            begin: BitInstant::ZERO,
            kind: self.kind(spec, &sizes, share, stream),
            sizes: SizeDraws::new(&sizes, stream(Stream::Sizes)),
            destinations: DestinationDraws::new(to, station, self.stations, stream(Stream::Destinations)),
        })
    }

    /// Whether stacks of this protocol can have this destination and no sizes of frames.
    fn check_talk(&self, protocol: Protocol, to: To, has_sizes: bool) -> Result<(), String> {
        let noun = protocol.noun();
        if matches!(to, To::All | To::Random | To::Beyond(_)) || self.stations < 2 {
            return Err(format!(
                "{noun} has one other end: write `destination = \"next\"` or a station's name, with 2 stations or more on the bus"
            ));
        }
        if has_sizes {
            let like = match protocol {
                Protocol::Tcp => {
                    "TCP makes frames as long as its segments: leave `frame_size` and `--frame-size` out, or write `tcp:mss=536`"
                }
                Protocol::Ping => {
                    "the frames of a ping follow from its data: leave `frame_size` and `--frame-size` out, or write `ping:size=56`"
                }
                Protocol::Udp => {
                    "the frames of a datagram follow from its data: leave `frame_size` and `--frame-size` out, or write `udp:0.1,size=1470`"
                }
            };
            return Err(like.to_owned());
        }
        Ok(())
    }

    /// Bit times of a datagram's frames, and how many there are.
    fn datagram(&self, udp: &Udp) -> (f64, f64) {
        let frames = || udp.frames(self.mtu as u32);
        let bits = |size: Octets| f64::from(size.max(self.min_frame_size).get() * 8);
        (frames().map(bits).sum(), frames().count() as f64)
    }

    /// Bit times from one arrival to the next, if each is `frames` frames of `bits` bit times in all.
    fn interval(&self, every: Every, (bits, frames): (f64, f64)) -> f64 {
        match every {
            Every::Load(load) => load.interval(bits, frames, self.slot),
            Every::Period(period) => self.period(period),
        }
    }

    fn period(&self, period: Duration) -> f64 {
        BitTimes::within(period, self.rate).get().max(1) as f64
    }

    fn kind(&self, spec: &TrafficSpec, sizes: &Sizes, share: Share, stream: impl Fn(Stream) -> Generator) -> Kind {
        let frame = sizes.mean_bit_times(self.min_frame_size);
        let mean = |load: Load| load.interval(frame, 1.0, self.slot);
        let gaps = stream(Stream::Arrivals);
        let bits = |span| BitTimes::within(span, self.rate);
        match spec.arrivals {
            Arrivals::Silent => Kind::Silent,
            Arrivals::Saturated => Kind::Saturated,
            Arrivals::Poisson { load } => Kind::Process(Process::poisson(mean(load), gaps)),
            Arrivals::Periodic { every, phase, jitter, frames } => {
                // The load is that of all frames of a release.
                let interval = self.interval(every, (frame * f64::from(frames), f64::from(frames)));
                let phase = phase.map(|phase| bits(phase).get() as f64);
                Kind::Process(Process::periodic(interval, phase, bits(jitter), frames, gaps))
            }
            Arrivals::OnOff { load, on, off } => {
                Kind::Process(Process::on_off(mean(load), on, off, self.rate, gaps, stream(Stream::Phases)))
            }
            Arrivals::Bernoulli { chance } => {
                Kind::Slots { misses: Misses::of(chance), slot: self.slot.unwrap_or(BitTimes::new(1)), generator: gaps }
            }
            Arrivals::Window(Window { frames, reply, think, timeout }) => Kind::Loop(Loop {
                frames,
                reply: reply.map(Octets::new),
                pauses: Pauses { mean: bits(think).get() as f64, generator: gaps },
                timeout: bits(timeout).max(BitTimes::new(1)),
            }),
            Arrivals::Tcp(tcp) => Kind::Talk(Talk::Tcp(Connection::new(tcp, gaps, self.rate))),
            Arrivals::Ping(ping) => {
                let every = ping.every.map(|every| self.period(every));
                Kind::Talk(Talk::Ping(Echoes::new(ping, every, gaps, self.rate)))
            }
            Arrivals::Udp(udp) => {
                let every = self.interval(udp.every, self.datagram(&udp));
                Kind::Talk(Talk::Udp(Datagrams::new(udp, every, gaps)))
            }
            Arrivals::Replay { .. } => {
                Kind::Replay { share: share.into(), next: 0, readdressed: spec.destination.is_some() }
            }
        }
    }
}
