//! An event log in every window: files for other tools, the report's page, and the live view.
use ethbus::watch::screen::{Look, Screen, draw};
use study::report::gather::Run;
use study::report::page::page;
use medium::StationId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sim::files::event_log::{Entry, EventLogReader};
use sim::files::json_lines::LineReader;
use sim::run::view::{Note, View};
use sim::windows::capture::Framing;
use sim::windows::{Known, WindowKind, Windows};
use std::fs::{self, File};
use std::sync::Arc;
use std::{env, process};

/// Every window that makes a file.
const KINDS: [WindowKind; 5] = [
    WindowKind::Pcapng(Framing::Whole.unfiltered()),
    WindowKind::Pcapng(Framing::Plain.unfiltered()),
    WindowKind::Perfetto,
    WindowKind::Vcd,
    WindowKind::Csv,
];

pub fn run(data: &[u8]) {
    files(data);
    view(data);
    report(data);
}

fn reader(data: &[u8]) -> Option<EventLogReader<&[u8]>> {
    EventLogReader::new(LineReader::new(data, "log".to_owned())).ok()
}

/// The files, at a place that takes anything.
fn files(data: &[u8]) {
    let Some(mut log) = reader(data) else { return };
    let known = Known::of(log.header().clone());
    let open = |kind: WindowKind| {
        let file = File::create("/dev/null").expect("there is one");
        kind.open(file, "nowhere".to_owned(), &known).expect("it takes anything")
    };
    let mut windows = Windows(KINDS.map(open).into());
    let _ = log.tell(&mut windows).expect("it takes anything");
}

/// A screen after each line.
fn view(data: &[u8]) {
    let Some(mut log) = reader(data) else { return };
    let names = log.header().stations.clone();
    let mut view = View::new(Arc::new(log.header().config()));
    // As wide as a desk has it, and as a room.
    let mut width = 80;
    while let Ok(Some(entry)) = log.next_entry() {
        width = 130 - width;
        let note = match entry {
            Entry::Medium(event) => Note::Event(event),
            Entry::Deed { at, deed } => Note::Input { at, input: medium::Input::Deed(deed) },
            Entry::Emulator(_) => continue,
        };
        view.take(&note);
        let screen = Screen {
            view: &view,
            names: &names,
            title: "a log",
            pace: "",
            health: &[],
            message: "",
            chosen: StationId::new(0),
            followed: None,
            row_bt: Some(512),
            help: None,
            look: Look { colour: true, unicode: true },
        };
        let area = Rect::new(0, 0, width, 24);
        draw(&screen, area, &mut Buffer::empty(area));
    }
}

/// The page.
fn report(data: &[u8]) {
    let path = env::temp_dir().join(format!("windows-{}", process::id()));
    fs::write(&path, data).expect("room for a log");
    if let Ok(run) = Run::read(&path) {
        let _ = page(vec![run], None, "ethbus report");
    }
}
