//! What a decision of the backoff core costs: `cargo bench -p ethbus-backoff-bench`, and `table.sh` for the table, C beside Rust.
