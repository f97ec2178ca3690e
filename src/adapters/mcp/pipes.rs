//! Standard input and output as a transport: a thread reads, a thread writes, the server waits for
//! neither.

use std::{
    io::{self, BufReader, Write as _},
    sync::{Arc, mpsc as blocking},
    thread,
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::{Mutex, mpsc};

use super::frames::{self, Frame, MOST_BYTES};

/// How long a client that does not read its last answers is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Both ends; a clone shares them.
#[derive(Clone, Debug)]
pub(super) struct Pipes {
    /// `None` says that there is nothing more to come or nobody who reads.
    incoming: Arc<Mutex<mpsc::Receiver<Option<ClientJsonRpcMessage>>>>,
    outgoing: blocking::Sender<Vec<u8>>,
}

/// Told when everything is written.
pub(super) struct Written(blocking::Receiver<()>);

impl Pipes {
    /// Starts to read and to write.
    pub(super) fn open() -> io::Result<(Self, Written)> {
        let (message, incoming) = mpsc::channel(64);
        let (outgoing, line) = blocking::channel::<Vec<u8>>();
        let (done, written) = blocking::sync_channel(1);
        let gone = message.clone();
        thread::Builder::new().name("writer".into()).spawn(move || {
            let result = write(&line);
            let _ = done.send(());
            if result.is_err() {
                let _ = gone.blocking_send(None);
            }
        })?;
        let refusals = outgoing.clone();
        thread::Builder::new().name("reader".into()).spawn(move || {
            read(&message, &refusals);
            let _ = message.blocking_send(None);
        })?;
        Ok((Self { incoming: Arc::new(Mutex::new(incoming)), outgoing }, Written(written)))
    }
}

impl Written {
    /// Waits until the client has got all answers, or has kept us waiting for too long.
    pub(super) fn wait(self) {
        let _ = self.0.recv_timeout(PATIENCE);
    }
}

fn read(
    messages: &mpsc::Sender<Option<ClientJsonRpcMessage>>,
    refusals: &blocking::Sender<Vec<u8>>,
) {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    // What cannot be read any more has ended.
    while let Ok(Some(line)) = frames::read_line(&mut input, MOST_BYTES) {
        for frame in frames::read(&line) {
            let open = match frame {
                Frame::Message(message) => messages.blocking_send(Some(*message)).is_ok(),
                Frame::Refused(answer) => {
                    line_of(&answer).is_ok_and(|line| refusals.send(line).is_ok())
                }
            };
            if !open {
                return;
            }
        }
    }
}

fn write(lines: &blocking::Receiver<Vec<u8>>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in lines {
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

fn line_of(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl Transport<RoleServer> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Answers wait in memory: a client may send all its requests before it reads.
        let sent = line_of(&message).and_then(|line| {
            self.outgoing.send(line).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
        });
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.lock().await.recv().await.flatten()
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
