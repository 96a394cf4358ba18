//! Addresses from another plugin: it is called with the same network, and about one container as the program was.

use super::answer::{Added, Failure, code};
use super::request::{Attachment, Request};
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Calls the plugin about the request's own container; `None` if the network has none.
pub fn call(request: &Request, command: &str, input: &[u8]) -> Result<Option<Added>, Failure> {
    call_about(&request.attachment, request, command, input)
}

/// Calls the plugin about any container.
pub fn call_about(
    attachment: &Attachment,
    request: &Request,
    command: &str,
    input: &[u8],
) -> Result<Option<Added>, Failure> {
    let Some(ipam) = request.network.ipam() else { return Ok(None) };
    let name = &ipam.program;
    if name.contains('/') {
        return Err(Failure::new(
            code::CONFIG,
            format!("ipam.type is `{name}`: it is a program's name without a folder"),
        ));
    }
    let program = request.path.iter().map(|folder| folder.join(name)).find(|program| program.is_file());
    let program = program.ok_or_else(|| {
        Failure::new(code::CONFIG, format!("ipam.type is `{name}`: no folder of CNI_PATH has such a program"))
    })?;
    let failed = |error: io::Error| Failure::new(code::IO, format!("{}: {error}", program.display()));
    let mut child = Command::new(&program);
    child.env(super::COMMAND, command);
    child.env("CNI_CONTAINERID", &attachment.container).env("CNI_IFNAME", &attachment.ifname);
    // Keys that this plugin meets are unknown to the other one.
    let args = std::env::var("CNI_ARGS").unwrap_or_default();
    child.env("CNI_ARGS", format!("{args}{}IgnoreUnknown=1", if args.is_empty() { "" } else { ";" }));
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = child.spawn().map_err(failed)?;
    // A plugin that reads nothing leaves a broken pipe: its answer says what matters.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let failure: Option<Failure> = serde_json::from_str(&said).ok();
        let failure = failure.unwrap_or_else(|| Failure {
            details: said,
            ..Failure::new(code::IO, format!("ended with {}", output.status))
        });
        let about = [&*attachment.container, &*attachment.ifname].join(" ");
        let about = about.trim();
        let whose = format!("{name}, {command}{}{about}", if about.is_empty() { "" } else { " of " });
        return Err(Failure { msg: format!("{whose}: {}", failure.msg), ..failure });
    }
    if output.stdout.iter().all(u8::is_ascii_whitespace) {
        return Ok(Some(Added::default()));
    }
    let read = serde_json::from_slice(&output.stdout);
    read.map(Some).map_err(|error| Failure::new(code::DECODE, format!("the answer of {name}: {error}")))
}
