//! What an agent and its client use.

pub(in crate::adapters) mod hook;
pub(in crate::adapters) mod mcp;
pub(in crate::adapters) mod memory;
pub(in crate::adapters) mod setup;
mod setup_check;
