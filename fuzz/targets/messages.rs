//! What supervisor and data plane say to each other: the supervisor believes no data plane that has been taken over.
use live::plane::protocol::{Request, Setup, Told};
use std::time::Duration;

pub fn run(data: &[u8]) {
    let _ = serde_json::from_slice::<Request>(data);
    if let Some(Told::Results(results)) = Told::read(data) {
        let _ = say::table(&results);
        let _ = say::live_line(&results, Duration::from_secs(1), Duration::from_secs(2), 80);
    }
    let Ok(setup) = serde_json::from_slice::<Setup>(data) else { return };
    // That there is a port for each station is the supervisor's word, and an assertion.
    if setup.configuration.stations() == setup.ports.len()
        && let Ok(config) = setup.medium()
    {
        let _ = medium::Medium::new(config);
    }
}
