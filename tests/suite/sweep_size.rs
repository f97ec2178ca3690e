//! The size of a sweep: small in the check, any size in `cargo xtask prove`.

/// A part of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The number of cases.
    pub size: u64,
    /// The seed of the generator.
    pub seed: u64,
}

impl Slice {
    /// The slice that `cargo xtask prove` asks for; `None` in the check.
    pub fn wanted() -> Option<Self> {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        Some(Self { size: number("STATEDIR_PROVE_SIZE")?, seed: number("STATEDIR_PROVE_SEED")? })
    }
}
