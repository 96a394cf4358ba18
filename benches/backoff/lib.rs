//! What a decision of the backoff core costs: `cargo bench --bench backoff`, each row beside its yardstick.
