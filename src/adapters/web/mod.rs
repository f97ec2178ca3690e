//! The page in the browser: a small server for this machine.
//!
//! One request for each connection, a thread for each, no runtime: what is served is a handful of
//! pages for the people at this machine, and ordinary commands should not carry more for it. The
//! pages are plain HTML with forms; the script only brings news and lets cards be dragged.

mod action;
mod events;
#[cfg(feature = "fleet")]
mod fleet;
mod guard;
mod http;
mod moments;
mod overview;
mod pages;

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::RecvTimeoutError,
    },
    time::{Duration, Instant},
};

use sha2::{Digest as _, Sha256};

use self::{
    events::Hub,
    guard::{Guard, Refusal},
    http::{Method, Request, Response, Timed, Unread},
};
use super::{
    Scan,
    cli::in_process::{self, Caller},
    scan,
};
use crate::workspace::Workspace;

/// How many connections are served at once, and how many of them may wait for updates.
const MOST_CONNECTIONS: usize = 192;
const MOST_LISTENERS: usize = 128;
/// How long a request may take to arrive, and an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a keep-alive is sent to a page that waits for updates.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Where to listen, and what to show.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The address; beyond this machine only if the user asks for it.
    pub address: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The one state to show, or
    pub state: Option<PathBuf>,
    /// the directory below which states are looked for.
    pub root: PathBuf,
    /// Whether nothing can be changed.
    pub is_read_only: bool,
}

/// A server that listens.
pub(crate) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    address: SocketAddr,
}

struct Site {
    settings: Settings,
    guard: Guard,
    /// Who acts; the directory, the command and the revision are added for each request.
    caller: Caller,
    hub: Arc<Hub>,
    #[cfg(feature = "fleet")]
    fleet: Arc<fleet::Projects>,
    /// States by their key in addresses.
    known: Mutex<BTreeMap<String, PathBuf>>,
    connections: AtomicUsize,
    listeners: AtomicUsize,
    turns: Turns,
}

/// How many states are read at once: many pages that hear the same news would otherwise hold as many
/// states in memory, and keep writers from the lock.
const MOST_READING: usize = 4;

/// Turns to read a state.
#[derive(Debug, Default)]
struct Turns {
    taken: Mutex<usize>,
    given_back: Condvar,
}

impl Turns {
    /// Does some work in turn.
    fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.given_back.wait_while(taken, |taken| *taken >= MOST_READING);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        let done = work();
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.given_back.notify_one();
        done
    }
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// The port is in use, or there is no source of randomness.
    pub(in crate::adapters) fn bind(settings: Settings, caller: Caller) -> io::Result<Self> {
        let listener = TcpListener::bind((settings.address, settings.port))?;
        let address = listener.local_addr()?;
        let mut chance = [0; 48];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut chance)?;
        let mut secrets =
            chance.chunks(16).map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        let is_public = !settings.address.is_loopback();
        let guard = Guard::new(address.port(), is_public, || secrets.next().unwrap_or_default());
        let site = Arc::new(Site {
            settings,
            guard,
            caller,
            hub: Arc::default(),
            #[cfg(feature = "fleet")]
            fleet: Arc::default(),
            known: Mutex::default(),
            connections: AtomicUsize::new(0),
            listeners: AtomicUsize::new(0),
            turns: Turns::default(),
        });
        Ok(Self { listener, site, address })
    }

    /// The address to open, with the token.
    pub(crate) fn url(&self) -> String {
        self.url_with(self.site.guard.token())
    }

    /// The same with a token that works once.
    pub(crate) fn url_once(&self) -> String {
        self.url_with(&self.site.guard.once().unwrap_or_default())
    }

    fn url_with(&self, token: &str) -> String {
        // From this machine, one that listens everywhere is reached here.
        let ip = match self.address.ip() {
            ip if ip.is_unspecified() && ip.is_ipv4() => IpAddr::from([127, 0, 0, 1]),
            ip if ip.is_unspecified() => IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("http://{}/?token={token}", SocketAddr::new(ip, self.address.port()))
    }

    /// Serves until the process ends.
    pub(crate) fn serve(self) -> io::Error {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return error,
                // Out of handles or memory for a moment.
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(50));
                    continue;
                }
            };
            let site = Arc::clone(&self.site);
            let taken = Counted::take(&self.site, |site| &site.connections, MOST_CONNECTIONS);
            let Some(counted) = taken else {
                let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
                let _ = Response::text(503, "too many connections\n").send(&mut &stream, true);
                continue;
            };
            let spawned = std::thread::Builder::new().name("page".into()).spawn(move || {
                site.handle_connection(stream);
                drop(counted);
            });
            if spawned.is_err() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// A slot of a limited number, released when dropped.
struct Counted {
    site: Arc<Site>,
    counter: fn(&Site) -> &AtomicUsize,
}

impl Counted {
    fn take(site: &Arc<Site>, counter: fn(&Site) -> &AtomicUsize, most: usize) -> Option<Self> {
        let before = counter(site).fetch_add(1, Ordering::SeqCst);
        let place = Self { site: Arc::clone(site), counter };
        (before < most).then_some(place)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.site).fetch_sub(1, Ordering::SeqCst);
    }
}

impl Site {
    fn handle_connection(self: &Arc<Self>, stream: TcpStream) {
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let _ = stream.set_nodelay(true);
        let end = Instant::now() + PATIENCE;
        let (response, with_body) = match http::read(&mut Timed { stream: &stream, end }) {
            Ok(request) => match self.answer(&request) {
                Reply::Page(response) => (*response, request.method != Method::Head),
                Reply::Events(dir) => return self.stream_changes(&stream, &request, &dir),
            },
            Err(Unread::Gone) => return,
            Err(Unread::Malformed(why)) => {
                (Response::text(400, format!("not understood: {why}\n")), true)
            }
            Err(Unread::Method) => {
                let mut response = Response::text(405, "only GET, HEAD and POST are answered\n");
                response.headers.push(("Allow", "GET, HEAD, POST".to_owned()));
                (response, true)
            }
            Err(Unread::TooLarge) => (Response::text(413, "the request is too large\n"), true),
        };
        let _ = response.send(&mut &stream, with_body);
        // Unread input would otherwise reset the connection before the answer arrives.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Timed { stream: &stream, end: Instant::now() + Duration::from_millis(300) };
        let mut taken = 0;
        let mut bytes = [0; 8192];
        while let Ok(count) = rest.read(&mut bytes) {
            taken += count;
            if count == 0 || taken > 1 << 20 {
                break;
            }
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        if let Err(refusal) = self.guard.check_origin(request) {
            return refused(refusal);
        }
        if let Some(token) = request.parameter("token").filter(|_| request.path == "/") {
            if request.method != Method::Get || !self.guard.admits(token) {
                return refused(Refusal::Token);
            }
            let mut response = Response::html(200, pages::landing_page());
            response.headers.push(("Set-Cookie", self.guard.cookie()));
            return response.into();
        }
        if let Err(refusal) = self.guard.check_session(request) {
            return refused(refusal);
        }
        let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
        match (request.method, parts.as_slice()) {
            (Method::Get | Method::Head, [""]) => self.turns.with(|| self.overview()),
            (Method::Get | Method::Head, ["style.css"]) => {
                Response::new(200, "text/css; charset=utf-8", pages::style()).into()
            }
            (Method::Get | Method::Head, ["favicon.ico"]) => {
                Response::new(200, "image/svg+xml", pages::ICON).into()
            }
            (Method::Get | Method::Head, ["app.js"]) => {
                Response::new(200, "text/javascript; charset=utf-8", pages::SCRIPT).into()
            }
            (method, ["s", key, view]) => {
                let Some(dir) = self.find(key) else { return missing() };
                match (method, *view) {
                    (Method::Get, "events") => Reply::Events(dir),
                    (Method::Get | Method::Head, "do") => method_not_allowed(),
                    (Method::Get | Method::Head, view) => {
                        self.turns.with(|| self.view(request, key, &dir, view))
                    }
                    (Method::Post, "do") => self.change(request, key, &dir),
                    (Method::Post, _) => method_not_allowed(),
                }
            }
            (Method::Post, ["" | "style.css" | "app.js"]) => method_not_allowed(),
            _ => missing(),
        }
    }

    /// The states, by their key in addresses.
    fn states(&self) -> Vec<(String, PathBuf)> {
        let directories = match &self.settings.state {
            Some(dir) => vec![dir.clone()],
            None => scan(&self.settings.root, Scan::QUICK).directories,
        };
        let states: Vec<(String, PathBuf)> =
            directories.into_iter().map(|dir| (key_of(&dir), dir)).collect();
        if let Ok(mut known) = self.known.lock() {
            *known = states.iter().cloned().collect();
        }
        states
    }

    fn find(&self, key: &str) -> Option<PathBuf> {
        let known = || self.known.lock().ok()?.get(key).cloned();
        known().or_else(|| {
            self.states();
            known()
        })
    }

    fn caller(&self, dir: &Path) -> Caller {
        Caller { dir: Some(dir.to_owned()), ..self.caller.clone() }
    }

    /// A state to look at.
    fn open(&self, dir: &Path) -> Result<Workspace, String> {
        in_process::open(&self.caller(dir))
    }

    fn overview(&self) -> Reply {
        let states = self.states();
        if let (Some(_), [(key, _)]) = (&self.settings.state, states.as_slice()) {
            return Response::redirect(&format!("/s/{key}/")).into();
        }
        let seen = states.into_iter().map(|(key, dir)| {
            let overview = in_process::overview(&self.caller(&dir));
            let name = dir.strip_prefix(&self.settings.root).unwrap_or(&dir).display().to_string();
            overview::State { key, name, overview }
        });
        let root = &self.settings.root;
        let whole = std::path::absolute(root).unwrap_or_else(|_| root.clone());
        let page = overview::page(&whole, seen.collect(), &self.fleet());
        Response::html(200, page).into()
    }

    #[cfg(feature = "fleet")]
    fn fleet(&self) -> String {
        self.fleet.section()
    }

    #[cfg(not(feature = "fleet"))]
    fn fleet(&self) -> String {
        String::new()
    }

    fn view(&self, request: &Request, key: &str, dir: &Path, view: &str) -> Reply {
        let shown = pages::Shown {
            key,
            view,
            at: moments::named(request, "at"),
            is_read_only: self.settings.is_read_only,
            is_one_of_several: self.settings.state.is_none(),
        };
        if !pages::is_view(view) {
            return missing();
        }
        match self.open(dir) {
            Ok(workspace) => pages::state(&shown, &workspace, request).into(),
            Err(message) => Response::html(
                500,
                pages::failure(&shown, "The state cannot be read", &message, &[]),
            )
            .into(),
        }
    }

    fn change(&self, request: &Request, key: &str, dir: &Path) -> Reply {
        if self.settings.is_read_only {
            return Response::text(403, "this page is read-only\n").into();
        }
        let Some(form) = request.form() else {
            return Response::text(415, "a change is sent as a form\n").into();
        };
        let wanted = match action::PageCommand::read(&form) {
            Ok(wanted) => wanted,
            Err(why) => return Response::text(400, format!("{why}\n")).into(),
        };
        let answer = wanted.run(self.caller(dir));
        let back = wanted.back.as_deref().filter(|view| pages::is_view(view)).unwrap_or_default();
        if answer.exit == 0 {
            return Response::redirect(&format!("/s/{key}/{back}")).into();
        }
        let status = match answer.exit {
            3 => 409,
            4 | 255 => 500,
            2 => 400,
            _ => 422,
        };
        let shown = pages::Shown {
            key,
            view: back,
            at: None,
            is_read_only: false,
            is_one_of_several: self.settings.state.is_none(),
        };
        Response::html(status, pages::refusal(&shown, &answer)).into()
    }

    /// Tells of changes as long as somebody listens.
    fn stream_changes(self: &Arc<Self>, mut stream: &TcpStream, request: &Request, dir: &Path) {
        let Some(_place) = Counted::take(self, |site| &site.listeners, MOST_LISTENERS) else {
            let _ = Response::text(503, "too many pages are open\n").send(&mut stream, true);
            return;
        };
        let news = self.hub.listen(dir);
        if http::begin_events(&mut stream).is_err() {
            return;
        }
        let revision = || {
            self.turns.with(|| {
                let workspace = self.open(dir).ok()?;
                workspace.read().ok().map(|snapshot| snapshot.revision().to_string())
            })
        };
        // What happened between loading the page and subscribing to updates.
        let mut is_new = request.parameter("revision").map(str::to_owned) != revision();
        loop {
            let line = if is_new { "event: change\ndata: {}\n\n" } else { ": nothing new\n\n" };
            if stream.write_all(line.as_bytes()).and_then(|()| stream.flush()).is_err() {
                return;
            }
            is_new = match news.recv_timeout(SIGN_OF_LIFE) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while news.try_recv().is_ok() {}
        }
    }
}

/// Reads bytes as a request, and its form as a change, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn fuzz_http_request(mut bytes: &[u8]) {
    let Ok(request) = http::read(&mut bytes) else { return };
    assert!(request.path.starts_with('/') && !request.path.split('/').any(|part| part == ".."));
    if let Some(form) = request.form() {
        let _ = action::PageCommand::read(&form);
    }
}

/// How a request is answered.
enum Reply {
    Page(Box<Response>),
    Events(PathBuf),
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self::Page(Box::new(response))
    }
}

fn refused(refusal: Refusal) -> Reply {
    match refusal {
        Refusal::Host => Response::text(421, "the request names another host\n"),
        Refusal::Origin => Response::text(403, "the request comes from another site\n"),
        Refusal::Token => Response::text(401, "open the address that `statedir web` printed\n"),
    }
    .into()
}

fn missing() -> Reply {
    Response::text(404, "there is nothing here\n").into()
}

fn method_not_allowed() -> Reply {
    Response::text(405, "this method is not allowed here\n").into()
}

/// A key for a directory that does not reveal its path.
fn key_of(dir: &Path) -> String {
    let digest = Sha256::digest(dir.as_os_str().as_encoded_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
