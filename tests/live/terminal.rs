//! The program on a real terminal: a line that is redrawn and fits, tables that need no wider window, and colour only
//! where the user wants it. The terminal is tmux's.

use crate::common::lab::Lab;
use crate::common::process::{Running, program, run};
use crate::common::terminal::Terminal;
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};

/// The live line stays in one place at any width of the terminal, and is gone when the table comes.
#[test]
fn the_live_line_fits_and_is_redrawn() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    for (columns, lines) in [(80, 24), (120, 40), (40, 24)] {
        let command = format!("{ETHBUS} --stations 8 --duration 3s --seed 1 --events /dev/null");
        let terminal = Terminal::run(&format!("live{columns}"), (columns, lines), &command);
        let mut seen = 0;
        wait_until(PATIENCE, "the table", || {
            let shown = terminal.shown(&[]);
            let live = shown.lines().filter(|line| line.contains("/3s [")).count();
            assert!(live <= 1, "{columns} columns: {shown}");
            seen += live;
            shown.contains("THE END")
        });
        assert!(seen > 0, "{columns} columns: no live line was seen");
        let shown = terminal.shown(&[]);
        assert!(!shown.contains("/3s ["), "{columns} columns: the live line stays: {shown}");
    }
}

/// Tables, the sentence and the verdict fit 80 columns.
#[test]
fn tables_fit_80_columns() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let terminal = Terminal::run("table", (80, 24), &format!("{ETHBUS} sim --stations 16 --duration 2s"));
    let shown = terminal.wait_for("THE END");
    assert!(shown.contains("Sixteen stations shared") || shown.contains("16 stations shared"), "{shown}");
    terminal.assert_nothing_wrapped();
}

/// The figures of a lab stay in their place on a terminal of any size: stations without a line are counted, and `q` or
/// Ctrl-C ends it and restores the terminal.
#[test]
fn stats_that_are_watched_fit_the_terminal_and_end_with_q() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "20"]);
    for (size, key, code) in [((80, 24), "q", 0), ((120, 40), "C-c", 130), ((60, 20), "Escape", 0)] {
        let command = format!("{ETHBUS} stats {} --watch; echo ENDED WITH $?", lab.name);
        let terminal = Terminal::run(&format!("stats{}", size.0), size, &command);
        terminal.wait_for("q ends");
        // The verdict is in the last line that is always shown.
        wait_until(PATIENCE, "the figures", || terminal.screen().contains("verdict"));
        let screen = terminal.screen();
        assert!(screen.starts_with(&format!("lab {}", lab.name)), "{screen}");
        assert!(screen.contains("stations that this terminal has no line for") || screen.contains("st20"), "{screen}");
        assert!(screen.contains("utilization"), "{screen}");
        terminal.assert_nothing_wrapped();
        terminal.press(&[key]);
        let shown = terminal.wait_for("THE END");
        assert!(shown.contains(&format!("ENDED WITH {code}")), "{key}: {shown}");
    }
}

/// `ethbus exec` alone: a line is a station and a program, or a command. Tab completes both, and an interrupt is the program's.
#[test]
fn a_prompt_runs_programs_in_stations_and_commands() {
    if skipped(&["tmux", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let lines = "st1 ping -c 1 -W 5 st2\nunplug st2\nst1 sh -c 'echo of $ETHBUS_STATION'\nst9 true\n";
    let ended = Running::start(lab.ethbus("exec", &[]), lines).wait();
    assert!(ended.stdout.contains("1 received") && ended.stdout.contains("of st1"), "{ended:?}");
    assert!(ended.stderr.contains("`st9` is neither a station"), "{ended:?}");
    let terminal = Terminal::run("prompt", (80, 24), &format!("{ETHBUS} exec --name {}; echo ENDED WITH $?", lab.name));
    terminal.wait_for(&format!("{}>", lab.name));
    terminal.press(&["plu", "Tab", " st2", "Enter"]);
    wait_until(PATIENCE, "st2 on the medium", || {
        let told = run(lab.ethbus("stats", &["--station", "st2", "--format", "json"])).json();
        told["attached"] == true
    });
    terminal.press(&["st1 slee", "Tab", " 6173", "Enter"]);
    wait_until(PATIENCE, "the program", || run(program("pgrep", ["-f", "^sleep 6173"])).code() == Some(0));
    // What is typed while a program runs is the program's.
    let prompt = format!("\n{}>", lab.name);
    terminal.press(&["C-c"]);
    wait_until(PATIENCE, "the prompt", || terminal.screen().trim_end().ends_with(&prompt));
    terminal.press(&["st1 echo after it", "Enter"]);
    wait_until(PATIENCE, "the prompt", || terminal.screen().trim_end().ends_with(&format!("after it{prompt}")));
    terminal.press(&["C-d"]);
    assert!(terminal.wait_for("THE END").contains("ENDED WITH 0"));
}

/// What `ethbus theory check` compares, side by side on 80 columns.
#[test]
fn validation_fits_the_terminal() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    for size in [(80, 24), (100, 30)] {
        let command = format!("{ETHBUS} theory check --quick --only 'Frame rates'");
        let terminal = Terminal::run(&format!("validate{}", size.0), size, &command);
        let shown = terminal.wait_for("THE END");
        assert!(shown.contains("agrees"), "{shown}");
        terminal.assert_nothing_wrapped();
    }
}

/// Help has colour on a terminal, unless the user forbids it (no-color.org), and none in a file.
#[test]
fn colour_is_for_terminals_that_want_it() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let escape = "\u{1b}[";
    let terminal = Terminal::run("plain", (80, 24), &format!("NO_COLOR=1 {ETHBUS} -h"));
    terminal.wait_for("THE END");
    assert!(!terminal.shown(&["-e"]).contains(escape), "{}", terminal.shown(&["-e"]));
    terminal.assert_nothing_wrapped();
    for arguments in [&["-h"][..], &["sim", "--duration", "100ms"], &["--rate", "10"]] {
        let ended = run(program(ETHBUS, arguments));
        assert!(!ended.stdout.contains(escape) && !ended.stderr.contains(escape), "{ended:#?}");
    }
}

/// As in `ethbus list | head -1`, whose reader ends before the program writes: no message, and no failure.
#[test]
fn a_reader_that_has_gone_is_no_error() {
    let commands: [&[&str]; 11] = [
        &["sim", "--duration", "10ms"],
        &["sim", "--duration", "10ms", "--format", "json"],
        &["sim", "--duration", "10ms", "--format", "csv"],
        &["theory", "lam", "--stations", "10", "--load", "0.1", "--retransmit", "10"],
        &["retry", "google-http"],
        &["list"],
        &["doctor"],
        &["help", "man", "sim"],
        &["help", "completions", "bash"],
        &["init", "bus", "--out", "-"],
        &["--help"],
    ];
    for arguments in commands {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = program(ETHBUS, arguments).stdout(writer).output().expect("the program runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!said.contains("pipe") && !said.contains("panic"), "{arguments:?}: {said}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {said}");
    }
}
