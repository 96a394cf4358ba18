//! Lines that are made once.

use super::*;

#[test]
fn every_change_has_its_lines() {
    let all = Lines::all(12, 12);
    assert_eq!(all.len(), Change::all().count());
    for (number, change) in Change::all().enumerate() {
        assert_eq!(change.number(), number);
        let text: String = (9..12).map(|station| change.text(station)).collect();
        assert_eq!(all[number].text(Row { first: 9, end: 12 }), text.as_bytes());
        assert_eq!(change.count() * 3, text.lines().count() as u64);
    }
}
