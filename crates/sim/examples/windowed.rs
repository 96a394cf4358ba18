//! A transfer such as TCP's over one bus, in virtual time: see `sim::run::transfer`.
//!
//! `cargo run --release -p ethbus-sim --example windowed -- 1 100 300 50`
//!
//! Arguments: pairs, seconds at 10 Mb/s, how long a host takes to answer in BT, and frames in a window; without the last,
//! a table over windows.

use medium::BitTimes;
use sim::run::transfer::{Transfer, Transferred};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let mut argument = |default| arguments.next().unwrap_or(default);
    let (pairs, seconds, answer) = (argument(1) as usize, argument(100), argument(300));
    let windows: Vec<u64> =
        arguments.next().map_or(vec![2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256], |one| vec![one]);
    println!("{pairs} pairs, {seconds} s, answers after {answer} BT\nwindow  Mb/s of payload  collisions a data frame");
    for window in windows {
        let transfer = Transfer { pairs, seconds, answer: BitTimes::new(answer), window, seed: 1 };
        let Transferred { megabits, collisions } = transfer.run();
        println!("{window:>6}  {megabits:>15.3}  {collisions:>23.3}");
    }
}
