//! The help of every command fits a terminal, and has an example.

use super::*;

#[test]
fn the_command_line_is_consistent() {
    command().debug_assert();
}

#[test]
fn every_command_is_in_one_group() {
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, commands)| *commands).chain(&VERBS).copied().collect();
    let whole = command();
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set());
    let mut commands: Vec<&str> = shown.map(clap::Command::get_name).collect();
    grouped.sort_unstable();
    commands.sort_unstable();
    assert_eq!(grouped, commands);
}

/// A terminal of 80 columns shows each command on one line.
#[test]
fn a_command_has_one_line() {
    let help = grouped_commands(&Cli::command());
    let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Every command that is not hidden, those of other commands too, each as one types it.
fn all_commands() -> Vec<(String, clap::Command)> {
    fn walk(name: &str, command: &clap::Command, all: &mut Vec<(String, clap::Command)>) {
        all.push((name.to_owned(), command.clone()));
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            walk(&format!("{name} {}", inner.get_name()), inner, all);
        }
    }
    let mut all = Vec::new();
    walk("ethbus", &command(), &mut all);
    all
}

/// The first line of a help, and of a man page, is what the command does.
#[test]
fn a_help_begins_with_what_the_command_does() {
    let listed = grouped_commands(&Cli::command());
    for (name, mut command) in all_commands().into_iter().skip(1) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(command.render_long_help().to_string().starts_with(&about), "{name}");
        assert!(!about.is_empty() && !about.starts_with("Options of"), "{name}: {about}");
        let [_, own] = name.split(' ').collect::<Vec<_>>()[..] else { continue };
        let row = listed.lines().find(|line| line.trim_start().starts_with(&format!("{own} ")));
        assert!(row.is_none_or(|row| row.ends_with(&about)), "{name}: {about}");
    }
}

/// A terminal of 24 lines shows a command's short help without scrolling.
#[test]
fn a_short_help_fits_a_terminal() {
    let mut long = Vec::new();
    for (name, command) in all_commands() {
        let help = command.term_width(80).render_help().to_string();
        let most = if name == "ethbus" { 22 } else { 24 };
        if help.lines().count() > most {
            long.push(format!("{name}: {} lines\n{help}", help.lines().count()));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A reader can paste each example: it begins as the command does.
#[test]
fn every_command_has_an_example() {
    for (name, mut command) in all_commands().into_iter().skip(1) {
        let help = command.render_help().to_string();
        let example = help.split_once("Example").and_then(|(_, after)| after.split_once(':')).map(|(_, text)| text);
        assert!(example.is_some_and(|text| text.contains(&name)), "{name}: {help}");
    }
}
