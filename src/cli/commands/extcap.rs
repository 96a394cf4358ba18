//! `ethbus extcap`: Wireshark's list of interfaces has every lab that is up, and its buttons begin and end a capture.
//!
//! Wireshark calls each program of its extcap folder with `--extcap-interfaces`, then with `--extcap-dlts` and
//! `--extcap-config` for an interface that the user looks at, then with `--capture --fifo PIPE`.

use super::capture::{Wanted, take};
use super::{CommandError, Outcome, print, station_names};
use crate::cli::args::ExtcapArgs;
use crate::cli::windows;
use live::lab::inventory::Inventory;
use sim::files::json_lines::WriteError;
use sim::files::output::{PCAPNG, create};
use sim::scenario::plan::PlanError;
use std::process::ExitCode;

/// The link type of frames; what is no frame has another one in the same capture.
const LINK_TYPE: &str =
    "dlt {number=274}{name=ETHERNET_MPACKET}{display=IEEE 802.3 with preamble, FCS, collision fragments and jam}\n";

/// The options of an interface. The filter is Wireshark's capture filter.
const OPTIONS: &str = "arg {number=0}{call=--plain}{display=Only whole frames, without preamble}\
    {tooltip=Link type 1, for tools that know nothing but Ethernet frames}{type=boolflag}{default=false}\n";

/// Answers Wireshark.
///
/// # Errors
/// No such lab, a filter that is none, a pipe that cannot be written.
pub fn extcap(args: &ExtcapArgs) -> Outcome {
    if args.extcap_interfaces {
        return answer(&interfaces());
    }
    if args.extcap_dlts {
        return answer(LINK_TYPE);
    }
    if args.extcap_config {
        return answer(OPTIONS);
    }
    let Some(lab) = &args.extcap_interface else {
        let what = "Wireshark names the lab here; `ethbus capture` is for people".to_owned();
        return Err(PlanError::option("--extcap-interface", what).into());
    };
    // With a writer of the pipe, an error ends the capture. The pipe stays open until the process has written the error's
    // sentence and ends, since tshark reads the sentence as soon as the pipe ends.
    let pipe = args.fifo.as_deref().map(|pipe| create(pipe, PCAPNG)).transpose().map_err(WriteError::from)?;
    std::mem::forget(pipe);
    let filter = args.extcap_capture_filter.as_deref().filter(|filter| !filter.is_empty());
    let stations = station_names(&Inventory::of_running(lab)?);
    let checked = windows::wish("--extcap-capture-filter", None, args.wish.plain, filter, &stations);
    match (checked, &args.fifo) {
        (Ok(wish), Some(out)) if args.capture => {
            let filter = filter.unwrap_or_default();
            take(Wanted { lab, framing: wish.framing, filter, option: "--fifo", out, is_quiet: true, duration: None })
        }
        // Without a pipe Wireshark asks whether a filter is one, and reads what is wrong with it.
        (Err(error), None) => answer(&format!("{error}\n")),
        (Err(error), Some(_)) => Err(error.into()),
        (Ok(_), _) => Ok(ExitCode::SUCCESS),
    }
}

fn interfaces() -> String {
    let labs = Inventory::names_up();
    let labs = labs.iter().map(|lab| format!("interface {{value={lab}}}{{display=ethbus lab {lab}}}\n"));
    concat!("extcap {version=", env!("CARGO_PKG_VERSION"), "}\n").to_owned() + &labs.collect::<String>()
}

fn answer(text: &str) -> Result<ExitCode, CommandError> {
    print(text).map(|()| ExitCode::SUCCESS)
}
