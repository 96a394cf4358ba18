//! The live view in a room: large letters leave few columns.

use super::watch::{CABLE, player, screen, text};
use crate::common::process::{ethbus, run};
use ethbus::watch::player::is_collision;
use ethbus::watch::screen::draw;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use std::path::Path;

/// What a room sees is bold, nothing is dim, and a row of the picture takes two lines.
#[test]
fn a_room_sees_bold_letters() {
    let (mut player, names) = player(CABLE);
    assert!(player.forward_to(is_collision));
    let area = Rect::new(0, 0, 50, 30);
    screen(&player, &names, (50, 30), |screen| {
        let mut buffer = Buffer::empty(area);
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
