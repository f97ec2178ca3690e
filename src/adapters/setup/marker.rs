//! What the opening marker of a block notes.

use std::fmt;

/// The notes of an opening marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marker {
    /// Whether the file was created for the block.
    pub(super) new: bool,
    /// How many line ends were put before it.
    pub(super) gap: usize,
    /// How many of the folders above a new file were there, the last of them empty.
    pub(super) folders: usize,
    /// The sum of the text as it was put; earlier versions noted none.
    pub(super) sum: Option<String>,
    /// The clients that asked for it; earlier versions noted none.
    pub(super) clients: Vec<String>,
}

impl Marker {
    /// Reads what follows `statedir:begin`.
    pub(super) fn parse(text: &str) -> Self {
        let mut marker = Self::default();
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some(("gap", gap)) => marker.gap = gap.parse().unwrap_or(0),
                Some(("folders", folders)) => marker.folders = folders.parse().unwrap_or(0),
                Some(("sum", sum)) => marker.sum = Some(sum.to_owned()),
                Some(_) => {}
                None if word == "new" => marker.new = true,
                // Also a client that only a later version knows.
                None => marker.add(Some(word)),
            }
        }
        marker
    }

    /// Notes a client.
    pub(super) fn add(&mut self, client: Option<&str>) {
        let client = client.filter(|client| !self.clients.iter().any(|known| known == client));
        self.clients.extend(client.map(str::to_owned));
        self.clients.sort();
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for client in &self.clients {
            write!(f, " {client}")?;
        }
        match self.new {
            true => f.write_str(" new")?,
            false => write!(f, " gap={}", self.gap)?,
        }
        if self.new && self.folders > 0 {
            write!(f, " folders={}", self.folders)?;
        }
        self.sum.iter().try_for_each(|sum| write!(f, " sum={sum}"))
    }
}
