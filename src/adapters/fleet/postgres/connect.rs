//! Reaching a server: its address, the password, TLS, and what keeps the connection going.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, task::JoinHandle};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection,
    config::{Host, SslMode},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::adapters::fleet::{
    FleetError,
    password::{Login, password},
};

/// How long a connection may be idle before the system asks whether the server is still there.
const KEPT_ALIVE: Duration = Duration::from_secs(30);

pub(super) async fn start<T>(
    config: &Config,
    tls: T,
    sender: mpsc::UnboundedSender<()>,
) -> Result<(Client, JoinHandle<()>), FleetError>
where
    T: MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    Ok((client, tokio::spawn(drive(connection, sender))))
}

/// Keeps a connection going and passes on what the server announces.
async fn drive<S, T>(mut connection: Connection<S, T>, sender: mpsc::UnboundedSender<()>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        match std::future::poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => {
                // Nobody may listen any more.
                let _ = sender.send(());
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

/// How a connection is protected.
pub(super) enum Security {
    /// Not encrypted: a socket, this machine, or an address that asks for it.
    Plain,
    /// By TLS, with the server's certificate verified.
    Verified(MakeRustlsConnect),
}

/// The settings that an address means, with the user's password.
///
/// A server on another machine is spoken to by verified TLS unless the address says
/// `sslmode=disable`; `sslrootcert` names a file with the authorities that are trusted instead of the
/// system's.
pub(super) fn settings(url: &str, patience: Duration) -> Result<(Config, Security), FleetError> {
    let (plain, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut kept, mut mode, mut roots) = (Vec::new(), None, None);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value.to_owned()),
            Some(("sslrootcert", value)) => roots = Some(value.to_owned()),
            _ => kept.push(part),
        }
    }
    let bad = |why: String| FleetError::Database(format!("its address: {why}"));
    let mut config: Config = format!("{plain}?{}", kept.join("&"))
        .parse()
        .map_err(|error: tokio_postgres::Error| bad(error.to_string()))?;
    if config.get_user().is_none() {
        let user = std::env::var("PGUSER").or_else(|_| std::env::var("USER"));
        config.user(user.unwrap_or_else(|_| "postgres".to_owned()));
    }
    if config.get_hosts().is_empty() {
        config.host("localhost");
    }
    let is_local = config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    });
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    if config.get_password().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let login = Login { host: &host, port, database: &database, user: &user };
        if let Some(password) = password(login) {
            config.password(password);
        }
    }
    config.connect_timeout(patience).application_name("statedir").keepalives_idle(KEPT_ALIVE);
    let security = match mode.as_deref() {
        Some("disable") => Security::Plain,
        None | Some("prefer" | "allow") if is_local => Security::Plain,
        None | Some("prefer" | "allow" | "require" | "verify-ca" | "verify-full") => {
            Security::Verified(verified(roots.as_deref())?)
        }
        Some(other) => return Err(bad(format!("sslmode `{other}` is not known"))),
    };
    config.ssl_mode(match security {
        Security::Plain => SslMode::Disable,
        Security::Verified(_) => SslMode::Require,
    });
    Ok((config, security))
}

fn verified(roots: Option<&str>) -> Result<MakeRustlsConnect, FleetError> {
    use rustls::pki_types::{CertificateDer, pem::PemObject as _};
    let failed = |why: String| FleetError::Database(format!("TLS: {why}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?;
    let mut store = rustls::RootCertStore::empty();
    match roots {
        Some(path) => {
            let found = CertificateDer::pem_file_iter(path)
                .map_err(|error| failed(format!("`{path}`: {error}")))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| failed(error.to_string()))?;
                store.add(certificate).map_err(|error| failed(error.to_string()))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
        }
    }
    let config = builder.with_root_certificates(store).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
