//! The live view in a room: drawn for a projector, and as a quiz.

use super::watch::{CABLE, player, screen, text};
use crate::common::process::{ethbus, run};
use crate::common::terminal::Terminal;
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};
use ethbus::show::watch::player::is_collision;
use ethbus::show::watch::quiz::{Quiz, is_asked};
use ethbus::show::watch::screen::draw;
use medium::{Cause, Event, FrameId, Kind, StationId};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use std::path::Path;

/// What a room sees is bold, nothing is dim, and a row of the picture takes two lines.
#[test]
fn a_room_sees_bold_letters() {
    let (mut player, names) = player(CABLE);
    assert!(player.forward_to(is_collision));
    let area = Rect::new(0, 0, 100, 30);
    screen(&player, &names, (100, 30), |screen| {
        let mut buffer = Buffer::empty(area);
        screen.projector = true;
        draw(screen, area, &mut buffer);
        let has = |wanted: Modifier| move |cell: &&Cell| cell.modifier.contains(wanted);
        assert_eq!(buffer.content.iter().filter(has(Modifier::BOLD)).count(), buffer.content.len());
        assert_eq!(buffer.content.iter().filter(has(Modifier::DIM)).count(), 0);
        let rows: Vec<String> = text(&buffer).lines().map(str::to_owned).collect();
        let letters = rows.iter().position(|row| row.contains("BT a row")).expect("the letters");
        assert_eq!(
            rows[letters - 3].trim_start_matches(|c| c != 'p'),
            rows[letters - 4].trim_start_matches(|c| c != 'p')
        );
    });
}

/// Before each draw the view waits, and what counts as right is what the sentence about the draw says.
#[test]
fn the_quiz_asks_before_each_draw() {
    let (player, names) = player(CABLE);
    let config = player.view().config().clone();
    let mut player = player.gated(is_asked);
    let mut quiz = Quiz::about(&config).expect("backoff of the standard");
    for round in 1..=40 {
        assert!(!player.forward_to(|_| false), "it waits");
        let event = player.waits_for().expect("a draw comes");
        assert!(player.view().recent.back().is_some_and(|last| *last != event), "the draw is not shown yet");
        let Kind::Backoff { attempt, .. } = event.kind else { panic!("{event:?}") };
        let frame = sim::words::sentences::frame_name(&names, event.frame);
        assert!(quiz.question(&event, &frame).contains(&format!("{frame}, collision {attempt};")));
        let answer =
            if round % 2 == 0 { config.most_slots(attempt).expect("a range").to_string() } else { "none".into() };
        let verdict = quiz.judge(&event, &answer, &config);
        assert!(verdict.starts_with(if round % 2 == 0 { "Right" } else { "No" }), "{verdict}");
        assert!(verdict.contains(&format!("{}/{round} right", round / 2)), "{verdict}");
        player.let_through();
        let told = player.view().recent.back().expect("the draw is shown");
        let most = config.most_slots(attempt).expect("a range");
        assert!(player.view().sentence(told, &names).contains(&format!("= {most} slots")));
    }
    let station = StationId::new(0);
    let kind = Kind::Discarded { cause: Cause::ExcessiveCollisions, attempts: 16 };
    let event = Event { at: player.view().now, station, frame: FrameId { station, serial: 1 }, kind };
    assert!(is_asked(&event));
    assert!(quiz.judge(&event, "1023", &config).starts_with("No"));
    assert!(quiz.judge(&event, " none", &config).starts_with("Right"));
}

/// A quiz on a terminal: the view stops by itself, takes an answer, shows the draw and goes on. A lab does not wait.
#[test]
fn a_log_is_a_quiz() {
    run(ethbus(["watch", "--quiz"])).failed_with(2, &["--quiz: a lab that is up does not wait for answers"]);
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log").to_str().expect("UTF-8").to_owned();
    let sim = ["sim", "--topology", "bus:500m", "--duration", "100ms", "--warmup", "0s", "--events", &log];
    run(ethbus(sim)).succeeded();
    let terminal = Terminal::run("quiz", (100, 30), &format!("{ETHBUS} watch {log} --quiz --projector"));
    terminal.wait_for("Paused. Space");
    terminal.press(&["Space"]);
    terminal.wait_for("collision 1; 0 to how many slots, or none: _");
    terminal.press(&["1", "Enter"]);
    let screen = terminal.wait_for("Right: 0 to 1 slots, and it draws");
    assert!(screen.contains("1/1 right") && screen.contains("Backoff (4.2.3.2.5) after collision 1"), "{screen}");
    terminal.press(&["n"]);
    terminal.wait_for("quiz 1/1: ");
    terminal.press(&["Escape"]);
    wait_until(PATIENCE, "the view goes on", || !terminal.screen().contains("quiz 1/1: "));
    terminal.press(&["q"]);
    terminal.press(&["Escape", "q"]);
    terminal.wait_for("THE END");
}

/// The lab sheet of docs/watch.md has the draws of its run.
#[test]
fn the_lab_sheet_has_the_draws_of_its_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("class.events");
    let classroom = root.join("examples/classroom.toml");
    run(ethbus([
        "sim",
        classroom.to_str().expect("UTF-8"),
        "--duration",
        "20ms",
        "--events",
        log.to_str().expect("UTF-8"),
    ]))
    .succeeded();
    let text = std::fs::read_to_string(&log).expect("a log");
    let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let draws: Vec<String> = events
        .filter(|event| event["kind"] == "backoff")
        .take(11)
        .map(|event| format!("{} {}", event["station"].as_str().expect("a name"), event["slots"]))
        .collect();
    let first = ["max 0", "zoe 0", "eve 0", "bob 0", "ada 1"];
    assert_eq!(draws, [&first[..], &["bob 0", "eve 1", "max 3", "zoe 0"], &["zoe 5", "bob 1"]].concat());
    let sheet = std::fs::read_to_string(root.join("docs/watch.md")).expect("the page");
    for told in ["max, zoe, eve and bob draw 0, ada draws 1", "bob draws 0, eve 1, max 3, zoe 0", "zoe draws 5, bob 1"]
    {
        assert!(sheet.contains(told), "{told}");
    }
    let at = |t: u64| text.contains(&format!("{{\"t\":{t},\"kind\":"));
    assert!([52_787, 52_900, 52_926, 53_152].into_iter().all(at), "the instants of the sheet");
}
