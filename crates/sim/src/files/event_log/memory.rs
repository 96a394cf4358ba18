//! A trace that is in memory.

use super::EventLogReader;
use crate::files::json_lines::{LineReader, ReadError};
use std::io::Cursor;
use std::sync::Arc;

impl EventLogReader<Cursor<Arc<[u8]>>> {
    /// Reads a trace that is in memory. Errors call it `name`.
    ///
    /// # Errors
    /// The octets are no trace, or the medium of its header is impossible.
    pub fn in_memory(trace: Arc<[u8]>, name: &str) -> Result<EventLogReader<Cursor<Arc<[u8]>>>, ReadError> {
        let log = EventLogReader::new(LineReader::new(Cursor::new(trace.clone()), name.to_owned()))?;
        Ok(log.looking_ahead(|| Ok(Box::new(Cursor::new(trace)))))
    }
}
