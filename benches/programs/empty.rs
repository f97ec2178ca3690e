//! The cheapest program there is: what a read is measured against. It is linked as ours is, by the
//! compiler's defaults.
fn main() {}
