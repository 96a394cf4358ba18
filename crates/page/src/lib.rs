//! The bus in a browser: a page asks, and this answers. Questions and answers are JSON, in linear memory.
//!
//! ```text
//!   page_room(octets) ─► where the question goes      page_ask() ─► where the answer is, page_answered() octets long
//! ```
//! The engine, the scenario's parser, the trace and the sentences are those of the program. What it must never know: the
//! page's elements, a clock, files.
//!
//! | module | holds |
//! |---|---|
//! | [`answer`] | questions and answers |
//! | [`run`] | a run, and the scene at any of its instants |
//! | [`about`] | what a page knows of a run before it asks |
//! | [`episode`] | the stretch that shows an access method best |
//! | [`plots`], [`tiles`], [`words`] | figures as plots, as numbers, in a sentence |
//! | [`picture`] | signals as a page draws them |
//! | [`whole`] | the page, with runs in it or without |

pub mod about;
pub mod answer;
pub mod episode;
#[cfg(target_arch = "wasm32")]
mod face;
pub mod picture;
pub mod plots;
pub mod run;
pub mod tiles;
#[cfg(not(target_arch = "wasm32"))]
pub mod whole;
pub mod words;
