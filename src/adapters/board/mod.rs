//! The board: a state in the terminal, live, with commands to run on it.
//!
//! `model` is what is shown and `update` how keys and news change it, both without I/O; `draw`
//! makes a frame of a model; `source` reads states and runs commands, in its own thread. This
//! module ties them to a terminal.

mod actions;
mod dialog;
mod draw;
mod editor;
mod layout;
mod lists;
mod model;
mod prompt;
mod source;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use ratatui::crossterm::{
    event,
    terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate},
};

pub(crate) use self::text::Charset;
use self::{
    model::{Model, Settings},
    source::{News, Request, Source},
    terminal::Screen,
    update::Effect,
};
use crate::adapters::{cli::in_process::Caller, watch::follow};

/// How long a command may still run after the board was left; waiting for the lock takes 10
/// seconds.
const LAST_COMMAND: Duration = Duration::from_secs(15);

/// How often to poll where changes are not reported.
const BLIND: Duration = Duration::from_secs(1);

/// What the board shows, and how.
pub(crate) struct Options {
    /// The state; else those below `root`.
    pub(crate) dir: Option<PathBuf>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) charset: Charset,
    pub(crate) has_colour: bool,
    pub(crate) is_read_only: bool,
    pub(crate) is_dry_run: bool,
    /// Whether commands need `-C DIR` to refer to this state.
    pub(crate) names_directory: bool,
}

/// Shows the board until the user ends it.
///
/// # Errors
/// The terminal cannot be used.
pub(in crate::adapters) fn run(options: Options, caller: Caller) -> io::Result<()> {
    let mut model = Model {
        settings: Settings {
            charset: options.charset,
            has_colour: options.has_colour,
            is_read_only: options.is_read_only,
            is_dry_run: options.is_dry_run,
            names_directory: options.names_directory,
        },
        root: options.root.clone(),
        dir: options.dir.clone(),
        ..Model::default()
    };
    let source = Source {
        caller,
        root: options.root,
        dir: options.dir,
        names_directory: options.names_directory,
    };
    let (wake, woken) = UnixStream::pair()?;
    for end in [&wake, &woken] {
        end.set_nonblocking(true)?;
    }
    let is_ended = terminal::end_on_signals(&wake)?;
    let (requests, news) = begin(source, wake)?;
    let mut screen = Screen::take()?;
    let area = screen.terminal.size()?;
    model.size = (area.width, area.height);
    let _ = requests.send(Request::Look);
    event_loop(&mut model, &mut screen, &requests, &news, &woken, &is_ended)
}

/// Has the terminal as the board does while something else is done; for tests of what a panic leaves.
///
/// # Errors
/// The terminal cannot be used.
pub(crate) fn with_terminal<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let screen = Screen::take()?;
    let done = work();
    drop(screen);
    Ok(done)
}

/// Draws, waits, answers.
fn event_loop(
    model: &mut Model,
    screen: &mut Screen,
    requests: &Sender<Request>,
    news: &Receiver<News>,
    woken: &UnixStream,
    is_ended: &AtomicBool,
) -> io::Result<()> {
    let mut is_stale = true;
    while !model.is_over && !is_ended.load(Ordering::SeqCst) {
        if !terminal::is_taken() {
            return Err(io::Error::other("a thread of the board has panicked"));
        }
        if std::mem::take(&mut is_stale) {
            frame(model, screen)?;
        }
        wait(woken)?;
        let mut effects = Vec::new();
        while event::poll(Duration::ZERO)? {
            effects.extend(update::update(model, event::read()?));
            is_stale = true;
        }
        for one in news.try_iter() {
            effects.extend(update::on_news(model, one));
            is_stale = true;
        }
        for effect in effects {
            perform(effect, model, screen, requests)?;
        }
        let size = screen.terminal.size()?;
        if model.size != (size.width, size.height) {
            let resized = event::Event::Resize(size.width, size.height);
            update::update(model, resized);
            is_stale = true;
        }
    }
    // A command that was asked for before the end is not cut off.
    while model.running.is_some()
        && let Ok(one) = news.recv_timeout(LAST_COMMAND)
    {
        update::on_news(model, one);
    }
    Ok(())
}

/// Shows a frame at once, so that nothing of the one before is seen beside it.
fn frame(model: &Model, screen: &mut Screen) -> io::Result<()> {
    use ratatui::crossterm::execute;
    execute!(io::stdout(), BeginSynchronizedUpdate)?;
    screen.terminal.draw(|frame| {
        if let Some(cursor) = draw::draw(model, frame.buffer_mut()) {
            frame.set_cursor_position(cursor);
        }
    })?;
    execute!(io::stdout(), EndSynchronizedUpdate)
}

/// Waits for a key, for news, or for a second: a change of the size may have been missed.
fn wait(woken: &UnixStream) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut ways = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    match poll(&mut ways, Some(&second)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    // The terminal is gone.
    if ways[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    let mut bytes = [0; 64];
    while matches!((&mut &*woken).read(&mut bytes), Ok(1..)) {}
    Ok(())
}

fn perform(
    effect: Effect,
    model: &mut Model,
    screen: &mut Screen,
    requests: &Sender<Request>,
) -> io::Result<()> {
    match effect {
        Effect::Ask(request) => {
            let _ = requests.send(request);
        }
        Effect::Edit { path, line } => {
            let edited = screen.lend(|| editor::edit(&path, line))?;
            if let Err(text) = edited {
                model.message = Some(model::Message { is_refusal: true, text });
            }
            let _ = requests.send(Request::Look);
        }
        Effect::Suspend => screen.lend(terminal::suspend)?,
    }
    Ok(())
}

/// Begins to answer requests, and to look whenever something has changed.
fn begin(source: Source, wake: UnixStream) -> io::Result<(Sender<Request>, Receiver<News>)> {
    let (requests, requested) = channel();
    let (sender, news) = channel();
    let looks = requests.clone();
    let thread = std::thread::Builder::new().name("source".into());
    thread.spawn(move || answer(source, &requested, &looks, &sender, &wake))?;
    Ok((requests, news))
}

fn answer(
    mut source: Source,
    requested: &Receiver<Request>,
    looks: &Sender<Request>,
    news: &Sender<News>,
    mut wake: &UnixStream,
) {
    let mut followed: Option<(PathBuf, Arc<AtomicBool>)> = None;
    let mut patience = BLIND;
    loop {
        if followed.as_ref().map(|(dir, _)| dir) != source.dir.as_ref() {
            if let Some((_, is_over)) = followed.take() {
                is_over.store(true, Ordering::SeqCst);
            }
            followed = source.dir.as_ref().and_then(|dir| look_at_changes(dir, looks).ok());
        }
        // The list of states is looked at now and then.
        let first = match followed {
            Some(_) => requested.recv().map_err(|_| RecvTimeoutError::Disconnected),
            None => requested.recv_timeout(patience),
        };
        let mut wanted = match first {
            Ok(request) => vec![request],
            Err(RecvTimeoutError::Timeout) => vec![Request::Look],
            Err(RecvTimeoutError::Disconnected) => return,
        };
        wanted.extend(requested.try_iter());
        // One look shows everything that has happened.
        if let Some(last) = wanted.iter().rposition(|request| *request == Request::Look) {
            let mut at = 0;
            wanted.retain(|request| {
                at += 1;
                *request != Request::Look || at == last + 1
            });
        }
        for request in wanted {
            if request == Request::States {
                source.dir = None;
            }
            let began = Instant::now();
            for one in source.answer(request) {
                if news.send(one).is_err() {
                    return;
                }
                let _ = wake.write(&[1]);
            }
            // Looking takes a tenth of the time at most.
            patience = BLIND.max(began.elapsed() * 10);
        }
    }
}

/// Asks for a look whenever something changes in a directory.
fn look_at_changes(dir: &Path, looks: &Sender<Request>) -> io::Result<(PathBuf, Arc<AtomicBool>)> {
    let (looks, is_over) = (looks.clone(), Arc::new(AtomicBool::new(false)));
    let ended = Arc::clone(&is_over);
    follow(dir, move || !ended.load(Ordering::SeqCst) && looks.send(Request::Look).is_ok())?;
    Ok((dir.to_owned(), is_over))
}
