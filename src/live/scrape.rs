//! A listening port for Prometheus: each request is answered with what labs tell at that moment.
//!
//! The supervisor has the port and asks as `ethbus stats` does, so the data plane needs no more rights.

use crate::live::control::{self, Control};
use crate::show::metrics::{Exposition, text};
use sim::figures::results::Results;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::Builder;
use std::time::Duration;

/// How long a client may take to say what it wants, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Octets of the longest request that is read.
const LONGEST: u64 = 8 << 10;

/// Where to listen: `9610` on the loopback, or an address with a port.
///
/// # Errors
/// What it is instead, and what would be right.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = text.strip_prefix(':').unwrap_or(text).parse().ok().map(loopback);
    port.or_else(|| text.parse().ok()).ok_or_else(|| {
        format!("`{text}` is no port: write one, like `9610`, or an address with one, like `127.0.0.1:9610`")
    })
}

/// Why metrics cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics at {address}")]
pub struct ScrapeError {
    address: SocketAddr,
    source: io::Error,
}

/// Takes the port.
///
/// # Errors
/// Somebody else has it, or the address is none of this machine's.
pub fn listen(address: SocketAddr) -> Result<TcpListener, ScrapeError> {
    TcpListener::bind(address).map_err(|source| ScrapeError { address, source })
}

/// Serves the labs that `labs` names at each request, in a thread of its own.
///
/// # Errors
/// The system gives no thread.
pub fn serve(listener: TcpListener, labs: impl Fn() -> Vec<String> + Send + 'static) -> io::Result<()> {
    let serve = move || {
        for stream in listener.incoming() {
            // One client after the other: each is done within some seconds, and a scrape comes every few.
            let answered = stream.and_then(|stream| answer(&stream, &labs));
            // A client that went away does not matter to the labs.
            let _ = answered;
        }
    };
    Builder::new().name("metrics".to_owned()).spawn(serve).map(|_| ())
}

fn answer(stream: &TcpStream, labs: &dyn Fn() -> Vec<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut request, mut exposition) = (None, Exposition::Plain);
    let mut lines = BufReader::new(stream.take(LONGEST));
    loop {
        let mut line = String::new();
        // Up to the empty line; what comes after it nobody wants.
        if lines.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        if line.to_ascii_lowercase().starts_with("accept:") {
            exposition = Exposition::wanted(&line);
        }
        request.get_or_insert(line);
    }
    let (status, kind, body) = match request.as_deref().and_then(|line| line.strip_prefix("GET ")) {
        Some(path) if path.starts_with("/metrics") => {
            ("200 OK", exposition.content_type(), text(exposition, &ask(&labs())))
        }
        Some(_) => ("404 Not Found", "text/plain", "Metrics of ethbus are at /metrics\n".to_owned()),
        None => ("405 Method Not Allowed", "text/plain", "Only GET is answered\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()))
}

/// The results of those labs that answer.
fn ask(labs: &[String]) -> Vec<(String, Results)> {
    let results = |name: &String| {
        let answer = control::ask(name, &Control::Stats).ok()?;
        Some((name.clone(), serde_json::from_str(&answer).ok()?))
    };
    labs.iter().filter_map(results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_the_loopbacks_unless_said() {
        assert_eq!(address("9610").expect("a port").to_string(), "127.0.0.1:9610");
        assert_eq!(address("0.0.0.0:9610").expect("an address").to_string(), "0.0.0.0:9610");
        assert_eq!(address("[::1]:9610").expect("an address").to_string(), "[::1]:9610");
        for wrong in ["", "localhost", "70000", "127.0.0.1"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_busy_port_is_told() {
        let first = listen(address("127.0.0.1:0").expect("an address")).expect("any port");
        let busy = listen(first.local_addr().expect("it is bound")).expect_err("somebody has it");
        assert!(busy.to_string().starts_with("cannot serve metrics at 127.0.0.1:"), "{busy}");
        assert_eq!(busy.source.kind(), io::ErrorKind::AddrInUse);
    }
}
