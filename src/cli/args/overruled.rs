//! The options of a command that overrule keys of its scenario, made from the table of settings.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use sim::settings::options::{Opt, of};

/// What the options of the command `OF` say: each by its long name and with its value as it was written, in the order of
/// the help.
#[derive(Clone, Debug, Default)]
pub struct Overruled<const OF: u8>(Vec<(&'static str, String)>);

impl<const OF: u8> Overruled<OF> {
    /// The options that were given, each with its value.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(long, value)| (*long, value.as_str()))
    }

    /// The value of the option `long`, if it was given.
    pub fn get(&self, long: &str) -> Option<&str> {
        self.given().find(|(given, _)| *given == long).map(|(_, value)| value)
    }
}

/// An option as clap knows it, for the command `command`.
fn argument(option: &'static Opt, command: u8) -> Arg {
    let (help, more) = option.texts(command);
    let argument = Arg::new(option.long).long(option.long).help(help);
    let argument = match option.value {
        "" => argument.action(ArgAction::Set).num_args(0).default_missing_value("on"),
        name => argument.value_name(name),
    };
    let argument = if more.is_empty() { argument } else { argument.long_help(format!("{help}\n\n{more}")) };
    let argument = argument.short(option.short).hide_short_help(option.in_short & command == 0);
    match option.words {
        [] => argument,
        words => argument.value_parser(PossibleValuesParser::new(words)).hide_possible_values(true),
    }
}

impl<const OF: u8> Args for Overruled<OF> {
    fn augment_args(command: Command) -> Command {
        of(OF).into_iter().fold(command, |command, option| command.arg(argument(option, OF)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF: u8> FromArgMatches for Overruled<OF> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |option: &'static Opt| Some((option.long, matches.get_one::<String>(option.long)?.clone()));
        Ok(Overruled(of(OF).into_iter().filter_map(value).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
