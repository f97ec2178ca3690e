//! A server for agents: the Model Context Protocol over standard input and output.
//!
//! The runtime lives only here, on one thread: other commands never start it. Tools are commands
//! and changes by another name, so that an agent gets the documents and the errors that the command
//! line gives.

mod arguments;
mod command_line;
mod frames;
mod kind;
mod pipes;
mod prompts;
mod resources;
mod server;
mod tools;
mod verb;
mod worker;

use std::{io, path::PathBuf, sync::Arc};

use rmcp::service::{ServerInitializeError, serve_server};

use self::{pipes::Pipes, server::Server, worker::Worker};

/// What the server is started with.
#[derive(Debug)]
pub(super) struct Settings {
    /// The directory that was named, if any.
    pub(super) dir: Option<PathBuf>,
    /// Who acts, if a call does not say; else the client.
    pub(super) actor: Option<String>,
}

/// Serves one client until its input ends.
///
/// # Errors
/// A thread or the runtime cannot be started.
pub(super) fn serve(settings: Settings) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (worker, working) = Worker::start()?;
    let server = Arc::new(Server::new(settings.dir, settings.actor, worker));
    let (pipes, written) = Pipes::open()?;
    runtime.block_on(converse(&server, pipes));
    drop(runtime);
    drop(server);
    // A change that was begun is finished; what waits behind it is not begun.
    let _ = working.join();
    written.wait();
    Ok(())
}

/// Reads bytes as what a client sends, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn fuzz_frames(mut bytes: &[u8]) {
    let most = 1 << 12;
    let mut lines = 0;
    while let Ok(Some(line)) = frames::read_line(&mut bytes, most) {
        lines += 1;
        let _ = frames::read(&line);
    }
    assert!(bytes.is_empty(), "{lines} lines were read, and {} bytes were not", bytes.len());
}

/// Talks to the client. One that begins with something else than a request is asked again.
async fn converse(server: &Arc<Server>, pipes: Pipes) {
    loop {
        match serve_server(Arc::clone(server), pipes.clone()).await {
            Ok(running) => {
                let _ = running.waiting().await;
                return;
            }
            Err(
                ServerInitializeError::ExpectedInitializeRequest(_)
                | ServerInitializeError::InitializeFailed(_),
            ) => {}
            Err(_) => return,
        }
    }
}
