//! The options of the command line that overrule keys of a scenario, from the table of settings.
//!
//! `build.rs` includes this file, so it knows std alone.

/// `ethbus sim`.
pub const SIM: u8 = 1;
/// `ethbus sweep`.
pub const SWEEP: u8 = 2;
/// `ethbus up`.
pub const UP: u8 = 4;
/// The demonstration.
pub const DEMO: u8 = 8;
/// `ethbus run`.
pub const RUN: u8 = 16;
/// All commands with an access method of their own.
const ALL: u8 = SIM | SWEEP | UP;

/// An option that overrules a key.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Its name, without the two hyphens.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// The name of its value in the help; empty if the option has no value and switches its key on.
    pub value: &'static str,
    /// The only values, if it has no others.
    pub words: &'static [&'static str],
    /// Where it comes in the help: options of a higher place come later.
    pub place: u16,
    /// The commands that have it, as a sum.
    pub on: u8,
    /// The commands whose `-h` shows it too, as a sum.
    pub in_short: u8,
    /// The help in one line.
    pub help: &'static str,
    /// What `--help` adds.
    pub more: &'static str,
    /// Both of `ethbus up`, and of the demonstration, where they are others.
    pub live: Option<(&'static str, &'static str)>,
    /// The help of the demonstration, where it is another.
    pub demo: Option<&'static str>,
    /// The same of labs: `ethbus up` and `ethbus run`.
    pub lab: Option<&'static str>,
    /// The access method that alone has a use for it, while the key may be in any scenario.
    pub of_method: &'static str,
}

impl Opt {
    /// What an option has unless its entry says otherwise.
    const NEW: Opt = Opt {
        long: "",
        short: None,
        value: "",
        words: &[],
        place: 0,
        on: 0,
        in_short: 0,
        help: "",
        more: "",
        live: None,
        demo: None,
        lab: None,
        of_method: "",
    };

    /// The help of the command, and what `--help` adds to it.
    pub fn texts(&self, command: u8) -> (&'static str, &'static str) {
        let (help, more) = self.live.filter(|_| command & (UP | DEMO) != 0).unwrap_or((self.help, self.more));
        match (self.demo.filter(|_| command == DEMO), self.lab.filter(|_| command & (UP | RUN) != 0)) {
            (Some(own), _) | (_, Some(own)) => (own, ""),
            (None, None) => (help, more),
        }
    }
}

/// An option, and the key that it overrules.
#[derive(Clone, Copy, Debug)]
pub struct Overruling {
    /// The section's const in the table, like `MEDIUM`.
    pub table: &'static str,
    /// The key as the table of settings calls it.
    pub field: &'static str,
    /// The option.
    pub option: Opt,
}

macro_rules! options {
    ($(
        #[doc = $_title:literal]
        $_section:ident $table:ident {$(
            $(#[doc = $_doc:literal])+
            $field:ident $(= $_name:literal)?: $_type:ty, $_takes:expr, $_right:literal
                $(, default $_default:literal)?
                $(, of $_of:expr)?
                $(, sets $_sets:ident)?
                $(, option $option:expr)?;
        )*}
    )*) => {
        /// All options that overrule a key, in the order of the table.
        pub const OPTIONS: &[Overruling] = &[$($($(
            Overruling { table: stringify!($table), field: stringify!($field), option: $option },
        )?)*)*];
    };
}
crate::settings::table::settings!(options);

/// The options of `command`, in the order of its help.
pub fn of(command: u8) -> Vec<&'static Opt> {
    let all = OPTIONS.iter().map(|overruling| &overruling.option);
    let mut own: Vec<&Opt> = all.filter(|option| option.on & command != 0).collect();
    own.sort_by_key(|option| option.place);
    own
}
