//! How large a sweep is to be: small in the check, as large as wanted in `cargo xtask prove`.

/// A part of a larger whole.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// How much is to be tried.
    pub size: u64,
    /// Where the generator begins.
    pub seed: u64,
}

impl Slice {
    /// What `cargo xtask prove` asks for, if it is that which runs.
    pub fn wanted() -> Option<Self> {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        Some(Self { size: number("STATEDIR_PROVE_SIZE")?, seed: number("STATEDIR_PROVE_SEED")? })
    }
}
