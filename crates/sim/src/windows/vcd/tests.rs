//! Lines that are made once.

use super::*;

#[test]
fn every_change_has_its_line_and_room_for_it() {
    for station in [0, 9, 1023, u16::MAX] {
        let lines = Line::all_of(station);
        for change in Change::ALL {
            let mut text = Vec::new();
            lines[change.place()].append(&mut text);
            assert_eq!(text, change.text(station).into_bytes());
        }
    }
}
