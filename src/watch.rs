//! The live view: the bus drawn as it is, on a terminal.
//!
//! [`screen`] draws a state and knows nothing else; [`player`] says which instant is shown; [`keys`] says what a key
//! means, and [`question`] takes a line of them; [`terminal`] joins them on the
//! terminal that [`screened`] takes over. [`refresh`] shows a page of text on it, again and again.

pub mod feeder;
pub mod keys;
pub mod picture;
pub mod player;
pub mod question;
pub mod refresh;
pub mod screen;
pub mod screened;
pub mod terminal;
