//! What a page calls.

use crate::answer::Desk;
use std::cell::RefCell;

thread_local! {
    static DESK: RefCell<(Vec<u8>, Vec<u8>, Desk)> = RefCell::default();
}

/// Makes room for a question or a trace of this length, and says where.
// SAFETY: no other function of a page has this name.
#[unsafe(no_mangle)]
pub extern "C" fn page_room(octets: usize) -> *mut u8 {
    DESK.with_borrow_mut(|(question, _, _)| {
        question.clear();
        question.resize(octets, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question that is in the room, and says where the answer is. It stays there until the next question.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_ask() -> *const u8 {
    DESK.with_borrow_mut(|(question, answer, desk)| {
        *answer = desk.answer(question);
        answer.as_ptr()
    })
}

/// Opens the trace that is in the room, and answers.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_open() -> *const u8 {
    DESK.with_borrow_mut(|(trace, answer, desk)| {
        *answer = desk.open(trace);
        // What was in the room is kept by the run.
        *trace = Vec::new();
        answer.as_ptr()
    })
}

/// How many octets the answer has.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_answered() -> usize {
    DESK.with_borrow(|(_, answer, _)| answer.len())
}
