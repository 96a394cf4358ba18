//! What a decision of the backoff core costs: `cargo bench -p ethbus-backoff-bench`, and `c_bench.sh` from C.
