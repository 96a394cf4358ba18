//! Arguments of `ethbus theory`. What a formula refuses is said by the formula, so numbers are hardly checked here.

use super::{ValidateArgs, Written};
use clap::{Args, Subcommand};
use sim::words::units::number;

/// Options of `theory`.
#[derive(Args, Clone, Debug)]
// Without empty lines before the list of theories, so that it fits a terminal.
#[command(mut_arg("format", |format| format.global(true).hide_short_help(true)))]
#[command(help_template = "{about-with-newline}{usage-heading} {usage}\n{all-args}{after-help}")]
pub struct TheoryArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: TheoryCommand,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// A theory, or the checks of all.
#[derive(Clone, Debug, Subcommand)]
pub enum TheoryCommand {
    /// The values of one theory.
    #[command(flatten)]
    Says(Theory),
    /// Figures of the standard and of papers beside simulated ones
    ///
    /// Needs no privileges. Ends with 1 if a figure deviates and nothing explains it. See docs/validation.md.
    #[command(after_help = "Example:\n  ethbus theory check --quick --only capture")]
    Check(ValidateArgs),
}

/// A theory and its parameters.
#[derive(Clone, Debug, Subcommand)]
pub enum Theory {
    /// Pure ALOHA: S = G e^(-2G) (Abramson 1970)
    #[command(after_help = "Example:\n  ethbus theory aloha --load 0.5")]
    Aloha(AlohaArgs),
    /// Slotted ALOHA: S = G e^(-G) (Roberts 1972)
    #[command(after_help = "Example:\n  ethbus theory slotted-aloha --load 1 --stations 20")]
    SlottedAloha(AlohaArgs),
    /// Slotted ALOHA, again in one of K slots (Kleinrock, Lam 1972)
    #[command(after_help = "Example:\n  ethbus theory kleinrock-lam --retransmit 10")]
    KleinrockLam(KleinrockLamArgs),
    /// Slotted ALOHA with N users: stability and delay (Lam 1974)
    #[command(after_help = "Example:\n  ethbus theory lam --stations 400 --load 0.32 --retransmit 200")]
    Lam(LamArgs),
    /// Slotted ALOHA under optimal control (Lam and Kleinrock 1975)
    #[command(after_help = "Example:\n  ethbus theory lam-control --stations 400 --load 0.32")]
    LamControl(LamControlArgs),
    /// CSMA without collision detection (Kleinrock and Tobagi 1975)
    #[command(after_help = "Example:\n  ethbus theory csma --persistence non --distance 0.01")]
    Csma(CsmaArgs),
    /// TDMA: the mean wait for an own slot (Lam 1977)
    #[command(after_help = "Example:\n  ethbus theory tdma --stations 4 --load 0.5")]
    Tdma(TdmaTheoryArgs),
    /// The efficiency of an Ethernet (Metcalfe and Boggs 1976)
    #[command(after_help = "Example:\n  ethbus theory metcalfe-boggs --stations 5")]
    MetcalfeBoggs(MetcalfeBoggsArgs),
    /// The capture effect: who has just won wins again
    #[command(after_help = "Example:\n  ethbus theory capture --collisions 3")]
    Capture(CaptureArgs),
    /// Two saturated stations under IEEE 802.3, exactly
    #[command(after_help = "Example:\n  ethbus theory two-stations --frame-size 1518")]
    TwoStations(TwoStationsArgs),
    /// The mean time until n stations that collided are done
    #[command(after_help = "Example:\n  ethbus theory resolution --stations 3")]
    Resolution(ResolutionArgs),
    /// IEEE 802.11 DCF in saturation (Bianchi 2000)
    #[command(after_help = "Example:\n  ethbus theory bianchi --stations 10 --phy ofdm-54 --rts")]
    Bianchi(BianchiArgs),
    /// PLCA of 10BASE-T1S: cycles and waits (802.3, clause 148)
    #[command(after_help = "Example:\n  ethbus theory plca --stations 8 --load 0.5")]
    Plca(PlcaTheoryArgs),
    /// Bounds, mean and variance of each backoff delay in slots
    #[command(after_help = "Example:\n  ethbus theory backoff rcp:1,10,100,200")]
    Backoff(BackoffArgs),
    /// Where the doubling stops: collisions and delay by ceiling, N
    #[command(after_help = "Example:\n  ethbus theory ceiling --stations 10,50,200 --load 0.32")]
    Ceiling(CeilingArgs),
}

/// Options of `theory aloha` and `theory slotted-aloha`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("stations", |stations| stations.required(false).default_value("infinite")))]
pub struct AlohaArgs {
    /// G, if one is given.
    #[command(flatten)]
    pub attempts: Attempts,
    /// N; infinitely many without it.
    #[command(flatten)]
    pub all: Population,
}

/// Options of `theory plca`.
#[derive(Args, Clone, Debug)]
pub struct PlcaTheoryArgs {
    /// Nodes, and turns in a cycle: 1 to 255.
    #[command(flatten)]
    pub all: Contenders,
    /// That of each frame.
    #[command(flatten)]
    pub size: FrameSize,
    /// Frames that may follow the first of a turn
    #[arg(long, value_name = "B", default_value_t = 0)]
    pub burst_count: u32,
    /// How long an unused turn is, in bit times
    #[arg(long, value_name = "BT", default_value_t = 32)]
    pub to_timer: u32,
    /// Offered utilization of all nodes together, if one is given.
    #[command(flatten)]
    pub attempts: Attempts,
}

/// Options of `theory kleinrock-lam`.
#[derive(Args, Clone, Debug)]
pub struct KleinrockLamArgs {
    /// K.
    #[command(flatten)]
    pub again: Again,
    /// G, if one is given.
    #[command(flatten)]
    pub attempts: Attempts,
    /// R.
    #[command(flatten)]
    pub known: KnownAfter,
}

/// The load of formulas that have a maximum.
#[derive(Args, Clone, Copy, Debug)]
pub struct Attempts {
    /// G, the attempts in the time of a frame; of `plca` the utilization; if left out, the limits
    #[arg(long, value_name = "G", value_parser = number, allow_negative_numbers = true)]
    pub load: Option<f64>,
}

/// When a sender knows of a collision.
#[derive(Args, Clone, Copy, Debug)]
pub struct KnownAfter {
    /// R, the slots after which a collision is known
    #[arg(long, value_name = "R", default_value_t = 0)]
    pub ack_delay: u32,
}

/// Stations, or users of a channel.
#[derive(Args, Clone, Copy, Debug)]
pub struct Population {
    /// N stations, or users with one packet each at most; or `infinite`
    #[arg(long, value_name = "N", value_parser = users)]
    pub stations: Users,
}

/// The users of a channel that is stable or not.
#[derive(Args, Clone, Copy, Debug)]
pub struct ChannelArgs {
    /// N users with one packet each at most.
    #[command(flatten)]
    pub all: Population,
    /// S.
    #[command(flatten)]
    pub input: Input,
    /// R.
    #[command(flatten)]
    pub known: KnownAfter,
}

/// The load of formulas that have no maximum.
#[derive(Args, Clone, Copy, Debug)]
pub struct Input {
    /// S, the packets a slot that all offer together, no user blocked
    #[arg(long, value_name = "S", value_parser = number, allow_negative_numbers = true)]
    pub load: f64,
}

/// When a packet that collided comes again.
#[derive(Args, Clone, Copy, Debug)]
pub struct Again {
    /// K: in one of the next K slots, or with the chance p, 1/p = R + (K + 1)/2
    #[arg(long, value_name = "K")]
    pub retransmit: u32,
}

/// How long a frame is.
#[derive(Args, Clone, Copy, Debug)]
pub struct FrameSize {
    /// Frame size in octets, from destination address to FCS
    #[arg(long, value_name = "OCTETS", default_value_t = 1518)]
    pub frame_size: u32,
}

/// One of the collisions of a frame.
#[derive(Args, Clone, Copy, Debug)]
pub struct Collisions {
    /// Only after this collision, counted from 1 [default: all]
    #[arg(long, value_name = "N")]
    pub collisions: Option<u32>,
}

/// How many stations always have a frame.
#[derive(Args, Clone, Copy, Debug)]
pub struct Contenders {
    /// How many stations there are
    #[arg(long, value_name = "N")]
    pub stations: u32,
}

/// Options of `theory lam`.
#[derive(Args, Clone, Debug)]
pub struct LamArgs {
    /// N, S and R.
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// K.
    #[command(flatten)]
    pub again: Again,
}

/// Options of `theory lam-control`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("retransmit", |again| again.required(false).default_value("10")))]
pub struct LamControlArgs {
    /// N, S and R.
    #[command(flatten)]
    pub channel: ChannelArgs,
    /// K while there is no need for control.
    #[command(flatten)]
    pub again: Again,
    /// The larger K, one or more, that blocked users may change to
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "200")]
    pub control: Vec<u32>,
}

/// Options of `theory tdma`.
#[derive(Args, Clone, Debug)]
pub struct TdmaTheoryArgs {
    /// N, with one slot of a frame each.
    #[command(flatten)]
    pub all: Contenders,
    /// S.
    #[command(flatten)]
    pub input: Input,
}

/// Options of `theory csma`.
#[derive(Args, Clone, Debug)]
pub struct CsmaArgs {
    /// `non`, `1`, or the chance to send in a slot once the channel is free, like 0.03
    #[arg(long, value_name = "non|P", value_parser = persistence, allow_negative_numbers = true)]
    pub persistence: Persistence,
    /// G, if one is given.
    #[command(flatten)]
    pub attempts: Attempts,
    /// a, the time of a signal across the channel, in packets
    #[arg(long, value_name = "A", default_value_t = 0.01, value_parser = number, allow_negative_numbers = true)]
    pub distance: f64,
    /// Users begin with slots of length a, as they always do with a probability below 1
    #[arg(long)]
    pub slotted: bool,
}

/// Options of `theory metcalfe-boggs`.
#[derive(Args, Clone, Debug)]
pub struct MetcalfeBoggsArgs {
    /// Q, which always have a packet.
    #[command(flatten)]
    pub all: Contenders,
    /// Length of a packet in bits
    #[arg(long, value_name = "BITS", default_value_t = 4096.0, value_parser = number, allow_negative_numbers = true)]
    pub packet: f64,
    /// Length of a slot in bits
    #[arg(long, value_name = "BITS", default_value_t = 48.0, value_parser = number, allow_negative_numbers = true)]
    pub slot: f64,
}

/// Options of `theory capture`.
#[derive(Args, Clone, Debug)]
pub struct CaptureArgs {
    /// How often the other's frame has collided, 1 to 15.
    #[command(flatten)]
    pub after: Collisions,
}

/// Options of `theory two-stations`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("frame_size", |size| size.default_value("64")))]
pub struct TwoStationsArgs {
    /// That of each frame.
    #[command(flatten)]
    pub size: FrameSize,
}

/// Options of `theory resolution`.
#[derive(Args, Clone, Debug)]
pub struct ResolutionArgs {
    /// n, which have just collided.
    #[command(flatten)]
    pub all: Contenders,
}

/// Options of `theory bianchi`.
#[derive(Args, Clone, Debug)]
pub struct BianchiArgs {
    /// n, which always have a frame.
    #[command(flatten)]
    pub all: Contenders,
    /// W, the values of the first backoff [default: as the physical layer says]
    #[arg(long, value_name = "W")]
    pub window: Option<u32>,
    /// m, how often the window doubles [default: as the physical layer says]
    #[arg(long, value_name = "M")]
    pub stages: Option<u32>,
    /// `fhss-1`, `dsss-1`, `dsss-11`, `ofdm-6` to `ofdm-54`
    ///
    /// The default is that of `ethbus sim --access csma-ca`. Bianchi's own figures are of `fhss-1`.
    #[arg(long, value_name = "PHY", default_value = "dsss-11")]
    pub phy: String,
    /// Octets of payload in a frame
    #[arg(long, value_name = "OCTETS", default_value_t = 1023)]
    pub payload: u32,
    /// RTS and CTS before each frame
    #[arg(long)]
    pub rts: bool,
}

/// Options of `theory backoff`.
#[derive(Args, Clone, Debug)]
pub struct BackoffArgs {
    /// `beb`, `beb:1024`, `uniform:60`, `geometric:60`, `rcp:1,10,100,200`, `rcp-multipliers:10,10,2` or
    /// `exponential:2,none`
    #[arg(value_name = "POLICY")]
    pub policy: String,
    /// Whose delay it is.
    #[command(flatten)]
    pub after: Collisions,
}

/// Options of `theory ceiling`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("load", |load| load.required(false).default_value("0.32")))]
pub struct CeilingArgs {
    /// N users with one packet each at most; several numbers give a table for each
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "10,50,200")]
    pub stations: Vec<u32>,
    /// S.
    #[command(flatten)]
    pub input: Input,
}

/// How many users there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// This number of users.
    Finite(u32),
    /// Infinitely many.
    Infinite,
}

fn users(text: &str) -> Result<Users, String> {
    match (text, text.parse()) {
        ("infinite", _) => Ok(Users::Infinite),
        (_, Ok(number)) => Ok(Users::Finite(number)),
        (_, Err(_)) => Err("it is a whole number, or `infinite`".to_owned()),
    }
}

/// What a user does who finds the channel busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Persistence {
    /// Tries again much later.
    Non,
    /// Waits until the channel is free, then sends with this chance.
    Chance(f64),
}

fn persistence(text: &str) -> Result<Persistence, String> {
    match (text, text.parse()) {
        ("non", _) => Ok(Persistence::Non),
        (_, Ok(chance)) => Ok(Persistence::Chance(chance)),
        (_, Err(_)) => Err("it is `non`, `1`, or a probability like 0.03".to_owned()),
    }
}
