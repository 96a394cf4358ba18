//! Puts the engine into the page: `whole page.wasm page.html`.

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let [_, engine, page] = &std::env::args().collect::<Vec<_>>()[..] else { return Err("whole ENGINE PAGE".into()) };
    Ok(fs::write(page, page::whole::to_try(&fs::read(engine)?))?)
}
