//! A listening port for Prometheus: each request is answered with what labs tell at that moment.
//!
//! The supervisor has the port and asks as `ethbus stats` does, so the data plane needs no more rights.

use crate::clients::{InTime, Place, side_by_side, write_in_time};
use crate::control;
use crate::control::request::Control;
use say::metrics::{Exposition, text};
use sim::figures::results::Results;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// How long a client may take to say what it wants, and as long again to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a lab may take to answer: a scrape comes every few seconds, and the next one asks again.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);
/// Octets of the longest request that is read.
const LONGEST: usize = 8 << 10;
/// Headers of a request.
const HEADERS: usize = 64;

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

/// Serves the labs that `labs` names at each request, clients side by side.
///
/// # Errors
/// The system gives no thread.
pub fn serve(listener: TcpListener, labs: impl Fn() -> Vec<String> + Send + Sync + 'static) -> io::Result<()> {
    let clients = move |serve: &mut dyn FnMut(TcpStream)| listener.incoming().flatten().for_each(serve);
    // A client that went away does not matter to the labs.
    side_by_side("metrics", clients, move |place| _ = answer(place, &labs))
}

fn answer(place: &Place<TcpStream>, labs: &dyn Fn() -> Vec<String>) -> io::Result<()> {
    let stream = &*place.stream;
    let request = read(InTime { stream, end: Instant::now() + PATIENCE })?;
    if !place.answers() {
        return Ok(());
    }
    let body = match request.status {
        OK => text(request.exposition, &ask(&labs())),
        NOT_FOUND => "Metrics of ethbus are at /metrics\n".to_owned(),
        NOT_ALLOWED => "Only GET and HEAD are answered\n".to_owned(),
        status => format!("{status}\n"),
    };
    let kind = if request.status == OK { request.exposition.content_type() } else { "text/plain" };
    let allow = if request.status == NOT_ALLOWED { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\r\n",
        request.status,
        body.len()
    );
    let answer = if request.is_head { head } else { head + &body };
    write_in_time(stream, answer.as_bytes(), Instant::now() + PATIENCE)
}

/// What a client wants, and what it gets.
struct Wanted {
    status: &'static str,
    is_head: bool,
    exposition: Exposition,
}

const OK: &str = "200 OK";
const NOT_FOUND: &str = "404 Not Found";
const NOT_ALLOWED: &str = "405 Method Not Allowed";

/// Reads a request up to its empty line.
///
/// # Errors
/// The client went away.
fn read(mut input: impl Read) -> io::Result<Wanted> {
    let mut octets = Vec::new();
    loop {
        let (before, mut piece) = (octets.len(), [0; 1024]);
        match input.read(&mut piece) {
            Ok(count) => octets.extend_from_slice(&piece[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                return Ok(refused("408 Request Timeout"));
            }
            Err(error) => return Err(error),
        }
        if let Some(wanted) = parse(&octets) {
            return Ok(wanted);
        }
        if octets.len() == before {
            return Ok(refused("400 Bad Request"));
        }
        if octets.len() > LONGEST {
            return Ok(refused("431 Request Header Fields Too Large"));
        }
    }
}

fn refused(status: &'static str) -> Wanted {
    Wanted { status, is_head: false, exposition: Exposition::Plain }
}

/// The request of a client; `None` if it is not complete yet.
fn parse(octets: &[u8]) -> Option<Wanted> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(octets) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(_) => return Some(refused("400 Bad Request")),
    }
    let (method, path) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    let status = match (method, path.split('?').next()) {
        ("GET" | "HEAD", Some("/metrics")) => OK,
        ("GET" | "HEAD", _) => NOT_FOUND,
        _ => NOT_ALLOWED,
    };
    let accept = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("accept"));
    let accept = accept.map_or(String::new(), |header| String::from_utf8_lossy(header.value).into_owned());
    Some(Wanted { status, is_head: method == "HEAD", exposition: Exposition::wanted(&accept) })
}

/// The results of those labs that answer in time.
fn ask(labs: &[String]) -> Vec<(String, Results)> {
    let results =
        |name: &String| Some((name.clone(), control::results_within(name, &Control::Stats, LONGEST_ANSWER).ok()?));
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

    /// As clients write it, and what comes back.
    #[test]
    fn requests_are_answered_as_http_has_it() {
        for (request, status) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", OK),
            ("GET /metrics?lab=a HTTP/1.0\r\n\r\n", OK),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", OK),
            ("GET /metricsand HTTP/1.1\r\n\r\n", NOT_FOUND),
            ("POST /metrics HTTP/1.1\r\n\r\n", NOT_ALLOWED),
            ("nonsense\r\n\r\n", "400 Bad Request"),
            ("GET /metrics HTTP/1.1\r\nHost", "400 Bad Request"),
            ("", "400 Bad Request"),
        ] {
            assert_eq!(read(request.as_bytes()).expect("a client").status, status, "{request:?}");
        }
        let long = format!("GET /metrics HTTP/1.1\r\nx: {}\r\n", "x".repeat(LONGEST));
        assert!(read(long.as_bytes()).expect("a client").status.starts_with("431"));
        let open = b"GET /metrics HTTP/1.1\r\nACCEPT: application/openmetrics-text;version=1.0.0\r\n\r\n";
        assert_eq!(read(&open[..]).expect("a client").exposition, Exposition::OpenMetrics);
    }

    #[test]
    fn a_busy_port_is_told() {
        let first = listen(address("127.0.0.1:0").expect("an address")).expect("any port");
        let busy = listen(first.local_addr().expect("it is bound")).expect_err("somebody has it");
        assert!(busy.to_string().starts_with("cannot serve metrics at 127.0.0.1:"), "{busy}");
        assert_eq!(busy.source.kind(), io::ErrorKind::AddrInUse);
    }
}
