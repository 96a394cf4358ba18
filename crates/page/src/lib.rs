//! The bus in a browser: a page asks, and this answers. Both texts are JSON, in linear memory.
//!
//! ```text
//!   page_room(octets) ─► where the question goes      page_ask() ─► where the answer is, page_answered() octets long
//! ```
//! The engine, the scenario's parser, the trace and the sentences are those of the program. What it must never know: the
//! page's elements, a clock, files.

mod answer;
mod course;
mod picture;
mod run;

use std::cell::RefCell;

pub use answer::Desk;

thread_local! {
    static DESK: RefCell<(Vec<u8>, Vec<u8>, Desk)> = RefCell::default();
}

/// Makes room for a question of this length, and says where.
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

/// How many octets the answer has.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_answered() -> usize {
    DESK.with_borrow(|(_, answer, _)| answer.len())
}
