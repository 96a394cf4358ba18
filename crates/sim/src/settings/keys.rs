//! What each key of a scenario takes, and what to write, from the table of settings.

use super::methods::Of;
use super::values::{
    AccessMethod, ArrivalsText, BackoffText, BitTimesText, CaptureText, ControlText, DurationText, FaultText,
    HostDelayText, InstantText, LengthText, MacText, MachineText, Network, OwnAddress, PersistenceText, PhyText,
    PlaceText, PopulationChoice, PortKind, PpmText, RateText, RetryLimitsText, RunTimeText, SizesText, SpeedText,
    SpiClockText, TopologyText, UntilText, WindowText,
};
use crate::words::choices::{FanOutChoice, FilterChoice, LatencyChoice, LinkChoice, OnOverload};
use crate::words::program::Program;
use crate::words::{plca, units};
use std::str::FromStr;

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its name in the table of settings.
    pub field: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What to write, after "write".
    pub right: &'static str,
    /// The key's meaning in Markdown.
    pub about: &'static str,
    /// Its default, in Markdown; empty for a section.
    pub default: &'static str,
    /// The access methods that use it.
    pub of: Of,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Text that this reads, or says what would be right.
    Text(fn(&str) -> Result<(), String>),
    /// The same, or a whole number as its text.
    TextOrWhole(fn(&str) -> Result<(), String>),
    /// A list of such texts.
    Texts(fn(&str) -> Result<(), String>),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from the first to the second.
    Number(f64, f64),
    /// `true` or `false`.
    Switch,
    /// `[name]`, with these keys.
    Section(&'static [Key]),
    /// `[[name]]` once for each, with these keys.
    Sections(&'static [Key]),
    /// `[name.OWN]` once for each, with the keys of a scenario.
    Buses,
}

fn text<T: FromStr<Err = String>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop)
}

fn any(_: &str) -> Result<(), String> {
    Ok(())
}

fn id(text: &str) -> Result<(), String> {
    plca::number("more-ids", text, 0, "802.3, 30.16.1.1.4").map(drop)
}

fn lab(text: &str) -> Result<(), String> {
    units::lab_name(text).map(drop)
}

/// What TOML can write down.
pub const LARGEST: i64 = i64::MAX;
/// What 32 bits hold.
const LARGEST_32: i64 = u32::MAX as i64;

use Takes::{Buses, Choice, Number, Section, Sections, Switch, Text, TextOrWhole, Texts, Whole};

/// The first of the given texts.
const fn first(texts: &[&'static str]) -> &'static str {
    texts[0]
}

macro_rules! keys {
    ($(
        #[doc = $title:literal]
        $section:ident $table:ident {$(
            $(#[doc = $about:literal])+
            $field:ident $(= $name:literal)?: $type:ty, $takes:expr, $right:literal
                $(, default $default:literal)?
                $(, of $of:expr)?
                $(, sets $sets:ident)?
                $(, option $option:expr)?;
        )*}
    )*) => {
        $(
            #[doc = concat!("The keys of:", $title)]
            pub const $table: &[Key] = &[$(Key {
                name: first(&[$($name,)? stringify!($field)]),
                field: stringify!($field),
                takes: $takes,
                right: $right,
                about: concat!($($about),+),
                default: first(&[$($default,)? ""]),
                of: [$($of,)? Of::ANY][0],
            }),*];
        )*
        /// All sections with their titles and keys, in the order of the table.
        pub const TABLES: &[(&str, &str, &[Key])] = &[$((stringify!($table), $title, $table)),*];
    };
}
super::table::settings!(keys);

/// Words of other programs, and ours for them: a key, or a line where the key alone does not say what to write.
pub const HABITS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("bitrate", "rate"),
    ("speed", "rate"),
    ("nodes", "stations"),
    ("hosts", "stations"),
    ("n", "stations"),
    ("node", "station"),
    ("host", "station"),
    ("ip", "ipv4"),
    ("address", "ipv4"),
    ("ip6", "ipv6"),
    ("hwaddr", "mac"),
    ("ether", "mac"),
    ("time", "duration"),
    ("runtime", "duration"),
    ("warm_up", "warmup"),
    ("load", "arrivals = \"poisson:0.4\""),
    ("traffic", "arrivals"),
    ("size", "frame_size"),
    ("length", "frame_size"),
    ("mtu", "max_frame_size"),
    ("dst", "destination"),
    ("to", "destination"),
    ("place", "position"),
    ("distance", "position"),
    ("type", "kind"),
    ("slot", "slot_time"),
    ("ifg", "inter_packet_gap"),
    ("ipg", "inter_packet_gap"),
    ("jam", "jam_size"),
    ("runs", "replications"),
    ("queue_limit", "queue"),
    ("at", "from"),
    ("when", "time"),
    ("attach", "plug"),
    ("detach", "unplug"),
    ("event", "at"),
    ("events", "at"),
    ("switch", "bridge"),
    ("buses", "bus"),
];
