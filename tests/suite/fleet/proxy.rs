//! A proxy before a server that delays, truncates, drops, falls silent, and counts.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// What happens to one direction of a connection.
#[derive(Clone, Copy)]
pub enum Fault {
    /// Every piece comes late.
    Delay(Duration),
    /// Only the first half of this piece comes, and nothing after it.
    Halve(u64),
    /// After so many bytes the connection breaks.
    Cut(u64),
    /// After so many bytes nothing comes any more, though the connection stays open.
    Silence(u64),
}

impl Fault {
    fn kind(self) -> usize {
        match self {
            Self::Delay(_) => 0,
            Self::Halve(_) => 1,
            Self::Cut(_) => 2,
            Self::Silence(_) => 3,
        }
    }
}

/// The faults of requests and of answers on a connection.
type Faults = (Option<Fault>, Option<Fault>);

/// What the proxy has seen.
#[derive(Default)]
pub struct Seen {
    /// How often each kind of fault has struck.
    faults: [AtomicU64; 4],
    /// How often the server answered after it was asked.
    trips: AtomicU64,
    was_asked: AtomicBool,
}

/// A running proxy; dropping it ends it.
pub struct Proxy {
    pub port: u16,
    stop: Arc<AtomicBool>,
    seen: Arc<Seen>,
}

impl Proxy {
    /// A proxy for a port, with the faults of each connection by its number.
    pub fn start(to: u16, plan: impl Fn(u64) -> Faults + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let seen: Arc<Seen> = Arc::default();
        let (ended, noted) = (stop.clone(), seen.clone());
        std::thread::spawn(move || {
            for (number, client) in (1..).zip(listener.incoming().flatten()) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let (asked, answered) = plan(number);
                let both = (client.try_clone().unwrap(), server.try_clone().unwrap());
                pass(both, asked, noted.clone(), true);
                pass((server, client), answered, noted.clone(), false);
            }
        });
        Self { port, stop, seen }
    }

    /// How often it delayed, halved, cut and fell silent.
    pub fn faults(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|kind: usize| self.seen.faults[kind].load(Ordering::Relaxed))
    }

    /// How often the server has answered since the last time.
    pub fn trips(&self) -> u64 {
        self.seen.trips.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Passes bytes on as the fault lets it; then both ends are closed.
fn pass(
    (mut from, mut to): (TcpStream, TcpStream),
    fault: Option<Fault>,
    seen: Arc<Seen>,
    asks: bool,
) {
    std::thread::spawn(move || {
        let (mut pieces, mut passed) = (0, 0);
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if !asks && seen.was_asked.swap(false, Ordering::Relaxed) {
                seen.trips.fetch_add(1, Ordering::Relaxed);
            }
            if asks {
                seen.was_asked.store(true, Ordering::Relaxed);
            }
            pieces += 1;
            let room = match fault {
                Some(Fault::Delay(time)) => {
                    std::thread::sleep(time);
                    read
                }
                Some(Fault::Halve(piece)) if pieces == piece => read / 2,
                Some(Fault::Cut(limit) | Fault::Silence(limit)) => {
                    read.min((limit - passed) as usize)
                }
                _ => read,
            };
            passed += room as u64;
            if let Some(fault) = fault.filter(|fault| room < read || fault.kind() == 0) {
                seen.faults[fault.kind()].fetch_add(1, Ordering::Relaxed);
            }
            let is_silent = matches!(fault, Some(Fault::Silence(_)));
            if to.write_all(&buffer[..room]).is_err() || (room < read && !is_silent) {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
