//! What several test crates share.

#[allow(dead_code, reason = "each test crate uses a part")]
pub(crate) mod table;
