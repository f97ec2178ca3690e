//! Running a program for its answer, bounded in time and size.

use std::{
    io::{self, Read, Write},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    /// It could not be started.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It took too long and was ended.
    #[error("it took longer than {} and was stopped", passed(*.0))]
    Timeout(Duration),
    /// It wrote too much and was ended.
    #[error("it wrote more than {0} bytes and was stopped")]
    TooMuch(usize),
    #[error("it ended with {status}{}", stderr_suffix(.stderr))]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// The end of what it complained about.
        stderr: String,
    },
    /// The pipes broke.
    #[error("its output cannot be read: {0}")]
    Io(#[from] io::Error),
}

fn passed(time: Duration) -> String {
    crate::domain::format_duration(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn stderr_suffix(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// How much of the complaints is kept.
const MOST_STDERR: usize = 2_000;

/// How long pipes may stay open once the program has ended.
const GRACE: Duration = Duration::from_millis(200);

/// Runs `command` with `input` and gives what it prints, if it ends well in time and size.
///
/// The program gets a process group of its own, so that whatever it started ends with it.
///
/// # Errors
/// It cannot be started, takes too long, writes too much, or fails.
pub(super) fn run(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
    most: usize,
) -> Result<Vec<u8>, ProcessError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let failed = |source| ProcessError::Start { program: program.clone(), source };
    let child = command.spawn().map_err(failed)?;
    let mut running = Running { child };
    // A program that does not read its input must not keep us from reading its output.
    if let Some(mut stdin) = running.child.stdin.take() {
        let feed = move || {
            let _ = stdin.write_all(&input);
        };
        std::thread::Builder::new().spawn(feed).map_err(failed)?;
    }
    let stdout = running.child.stdout.take().map(|pipe| read(pipe, most));
    let stdout = stdout.transpose().map_err(failed)?;
    let stderr = running.child.stderr.take().map(|pipe| read(pipe, MOST_STDERR));
    let stderr = stderr.transpose().map_err(failed)?;
    let deadline = Instant::now() + limit;
    let out = match stdout {
        Some(pipe) => wait(&pipe, deadline),
        None => Some(Ok((Vec::new(), false))),
    };
    let (bytes, more) = match out {
        Some(out) => out?,
        None => return Err(ProcessError::Timeout(limit)),
    };
    if more {
        return Err(ProcessError::TooMuch(most));
    }
    let status = loop {
        if let Some(status) = running.child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            return Err(ProcessError::Timeout(limit));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if status.success() {
        return Ok(bytes);
    }
    let complaint = stderr.and_then(|pipe| wait(&pipe, Instant::now() + GRACE));
    let complaint = complaint.and_then(Result::ok).map(|(bytes, _)| bytes).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&complaint).into_owned();
    Err(ProcessError::Failed { status, stderr })
}

type Piped = io::Result<(Vec<u8>, bool)>;

/// Reads a pipe to its end or to `most` bytes; says whether there was more.
///
/// # Errors
/// The system has no thread left for it.
fn read(pipe: impl Read + Send + 'static, most: usize) -> io::Result<mpsc::Receiver<Piped>> {
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(most as u64 + 1).read_to_end(&mut bytes);
        let more = bytes.len() > most;
        bytes.truncate(most);
        let _ = send.send(read.map(|_| (bytes, more)));
    })?;
    Ok(receive)
}

fn wait(pipe: &mpsc::Receiver<Piped>, deadline: Instant) -> Option<Piped> {
    pipe.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// A program that ends with this value, together with whatever it started.
struct Running {
    child: Child,
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
