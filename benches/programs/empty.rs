//! The cheapest program there is: what a read is measured against.
fn main() {}
