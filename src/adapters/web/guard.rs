//! Which requests are allowed: only those from a page of this server, on this machine, with the
//! secret of this run.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Mutex,
};

use super::http::{Method, Request};

/// The secrets of one run, and the host names under which the server answers.
#[derive(Debug)]
pub(super) struct Guard {
    /// In the address that is printed.
    token: String,
    /// In the address that a browser is opened with, which others may see: it works once.
    once: Mutex<Option<String>>,
    /// In the cookie.
    session: String,
    port: u16,
    /// Whether it can be reached from other machines.
    is_public: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The `Host` is not ours, as in DNS rebinding.
    Host,
    /// Asked by a page from elsewhere.
    Origin,
    /// Without the secret.
    Token,
}

impl Guard {
    /// New secrets. `random` gives bits that nobody can guess.
    pub(super) fn new(port: u16, is_public: bool, mut random: impl FnMut() -> String) -> Self {
        Self {
            token: random(),
            once: Mutex::new(Some(random())),
            session: random(),
            port,
            is_public,
        }
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The token that works once, while it does.
    pub(super) fn once(&self) -> Option<String> {
        self.once.lock().map(|once| once.clone()).unwrap_or_default()
    }

    /// The cookie that replaces the token. Servers on other ports have other cookies.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.session)
    }

    fn cookie_name(&self) -> String {
        format!("statedir-{}", self.port)
    }

    /// Whether a request comes from one of our pages. The token has to be checked as well.
    pub(super) fn check_origin(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.header("host").unwrap_or_default();
        if !self.is_ours(host) {
            return Err(Refusal::Host);
        }
        let is_ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|asked| asked == host);
        match request.header("origin") {
            Some(origin) if !is_ours(origin) => return Err(Refusal::Origin),
            None if request.method == Method::Post => return Err(Refusal::Origin),
            _ => {}
        }
        match (request.header("sec-fetch-site"), request.header("sec-fetch-mode")) {
            (None | Some("same-origin" | "none"), _) => Ok(()),
            // A link that was followed; it carries no cookie, so only the token lets it in.
            (Some(_), Some("navigate")) if request.method == Method::Get => Ok(()),
            _ => Err(Refusal::Origin),
        }
    }

    /// Whether a request has the cookie.
    pub(super) fn check_session(&self, request: &Request) -> Result<(), Refusal> {
        let cookies = request.header("cookie").unwrap_or_default();
        let name = self.cookie_name();
        let mut own = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
        match own
            .any(|(known, value)| known == name && equal_in_constant_time(value, &self.session))
        {
            true => Ok(()),
            false => Err(Refusal::Token),
        }
    }

    /// Whether a token lets somebody in.
    pub(super) fn admits(&self, token: &str) -> bool {
        if equal_in_constant_time(token, &self.token) {
            return true;
        }
        let Ok(mut once) = self.once.lock() else { return false };
        let fits = once.as_deref().is_some_and(|once| equal_in_constant_time(token, once));
        if fits {
            *once = None;
        }
        fits
    }

    /// Whether that is a name of this server: an IP address, which cannot be rebound, or
    /// `localhost`.
    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        if port != self.port.to_string() {
            return false;
        }
        let address = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            None => name.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
        };
        match address {
            Some(address) => self.is_public || address.is_loopback(),
            None => name == "localhost",
        }
    }
}

/// Compares in constant time.
fn equal_in_constant_time(given: &str, secret: &str) -> bool {
    let differs =
        given.bytes().zip(secret.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == secret.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::{super::http, *};

    fn guard(is_public: bool) -> Guard {
        let mut count = 0;
        Guard::new(8080, is_public, || {
            count += 1;
            format!("secret{count}")
        })
    }

    fn request(method: &str, headers: &[&str]) -> Request {
        let text = format!(
            "{method} / HTTP/1.1\r\n{}\r\n",
            headers.iter().map(|h| format!("{h}\r\n")).collect::<String>()
        );
        http::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for (host, local, public) in [
            ("127.0.0.1:8080", true, true),
            ("localhost:8080", true, true),
            ("[::1]:8080", true, true),
            ("192.168.1.7:8080", false, true),
            ("evil.example:8080", false, false),
            ("localhost.evil.example:8080", false, false),
            ("127.0.0.1:8081", false, false),
            ("127.0.0.1", false, false),
            ("", false, false),
        ] {
            let request = request("GET", &[&format!("Host: {host}")]);
            assert_eq!(guard(false).check_origin(&request).is_ok(), local, "{host}");
            assert_eq!(guard(true).check_origin(&request).is_ok(), public, "{host}");
        }
        assert_eq!(guard(false).check_origin(&request("GET", &[])), Err(Refusal::Host));
    }

    #[test]
    fn only_our_own_pages_may_change_something() {
        let host = "Host: 127.0.0.1:8080";
        for (method, more, fits) in [
            ("POST", vec!["Origin: http://127.0.0.1:8080"], true),
            ("POST", vec![], false),
            ("POST", vec!["Origin: null"], false),
            ("POST", vec!["Origin: http://localhost:8080"], false),
            ("POST", vec!["Origin: https://evil.example"], false),
            ("POST", vec!["Origin: http://127.0.0.1:8080", "Sec-Fetch-Site: cross-site"], false),
            ("POST", vec!["Origin: http://127.0.0.1:8080", "Sec-Fetch-Site: same-origin"], true),
            ("GET", vec!["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], false),
            ("GET", vec!["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], true),
            ("GET", vec!["Origin: http://evil.example"], false),
        ] {
            let headers: Vec<&str> = std::iter::once(host).chain(more.iter().copied()).collect();
            assert_eq!(
                guard(false).check_origin(&request(method, &headers)).is_ok(),
                fits,
                "{method} {more:?}"
            );
        }
    }

    #[test]
    fn the_secret_is_needed_and_the_one_for_opening_works_once() {
        let guard = guard(false);
        assert!(guard.admits("secret1") && guard.admits("secret1"));
        assert!(guard.admits("secret2") && !guard.admits("secret2"));
        assert!(!guard.admits("") && !guard.admits("secret3") && !guard.admits("secret"));
        let with =
            |cookie: &str| guard.check_session(&request("GET", &[&format!("Cookie: {cookie}")]));
        assert!(with("a=b; statedir-8080=secret3").is_ok());
        assert!(with("statedir-8080=secret1").is_err());
        assert!(with("statedir-8081=secret3").is_err());
        assert!(guard.cookie().contains("HttpOnly; SameSite=Strict"));
    }
}
