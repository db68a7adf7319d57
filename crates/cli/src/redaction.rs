//! Keeps passwords and tokens in arguments out of errors, by the same rules as `redaction.ts` of terrace-core: whatever
//! could be a password of a URL is one, and no run of six characters of it is printed.

use std::collections::HashSet;
use std::ffi::OsString;
use std::mem;

const MASK: &str = "***";

/// No run of so many characters of a secret is left in a redacted text.
const RUN: usize = 6;

/// The secrets of a command line.
#[derive(Default)]
pub(crate) struct Redaction {
    /// All runs of [`RUN`] characters of the longer secrets.
    runs: HashSet<Vec<char>>,
    /// Shorter secrets, which are masked as whole words.
    short: HashSet<Vec<char>>,
}

impl Redaction {
    /// Remembers the secrets of all URLs among some arguments.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let mut redaction = Self::default();
        for argument in arguments {
            redaction.add_url(&argument.to_string_lossy());
        }
        redaction
    }

    fn add_url(&mut self, text: &str) {
        let Some((scheme, rest)) = url_within(text) else { return };
        let is_mysql = ["mysql", "mysqls"].contains(&scheme.to_ascii_lowercase().as_str());
        let (at, query) = (rest.rfind('@'), rest.find(['?', '#']));
        match (at, query) {
            // A password with a question mark, or a parameter with an @: ambiguous.
            (Some(at), Some(query)) if query < at => return self.add(rest),
            (Some(at), _) => {
                let user_info = &rest[..at];
                match user_info.split_once(':') {
                    Some((user, password)) if is_mysql && !user.contains(['/', '@']) => self.add(password),
                    Some((user, password)) => {
                        [user_info, user, password].into_iter().for_each(|each| self.add(each))
                    }
                    None if is_mysql && !user_info.contains('/') => {}
                    None => self.add(user_info),
                }
            }
            (None, _) => {}
        }
        let Some(query) = query else { return };
        for parameter in rest[query + 1..].split(['&', '#', '?']) {
            self.add(parameter.split_once('=').map_or(parameter, |(_, value)| value));
        }
    }

    fn add(&mut self, secret: &str) {
        for form in [secret.chars().collect(), View::percent_decoded(secret).chars] {
            let form: Vec<char> = form.into_iter().map(|c| c.to_ascii_lowercase()).collect();
            self.runs.extend(form.windows(RUN).map(<[char]>::to_vec));
            if !form.is_empty() && form.len() < RUN {
                self.short.insert(form);
            }
        }
    }

    /// A text in which no run of six characters of a secret is left, however it is escaped.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut is_secret = vec![false; text.len()];
        for view in [View::plain(text), View::percent_decoded(text), View::unescaped(text)] {
            self.mark(&view, &mut is_secret);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut is_masked = false;
        for (at, c) in text.char_indices() {
            if !is_secret[at] {
                redacted.push(c);
            } else if !is_masked {
                redacted.push_str(MASK);
            }
            is_masked = is_secret[at];
        }
        redacted
    }

    fn mark(&self, view: &View, is_secret: &mut [bool]) {
        let folded: Vec<char> = view.chars.iter().map(char::to_ascii_lowercase).collect();
        let mut mark = |start: usize, end: usize| is_secret[view.starts[start]..view.starts[end]].fill(true);
        for (at, run) in folded.windows(RUN).enumerate() {
            if self.runs.contains(run) {
                mark(at, at + RUN);
            }
        }
        let is_in_word = |at: usize| {
            at > 0 && at < folded.len() && folded[at - 1].is_alphanumeric() && folded[at].is_alphanumeric()
        };
        for secret in &self.short {
            for (at, found) in folded.windows(secret.len()).enumerate() {
                if found == secret && !is_in_word(at) && !is_in_word(at + secret.len()) {
                    mark(at, at + secret.len());
                }
            }
        }
    }
}

/// The scheme of a URL with a host in an argument, and what follows it. The argument may be an option with its value.
fn url_within(text: &str) -> Option<(&str, &str)> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    let (before, rest) = match text.split_once("://") {
        Some((before, rest)) if !rest.starts_with('/') => (before, rest),
        // Some clients take a token without slashes before it.
        _ => text.split_once(':').filter(|(before, _)| {
            let name = before.rsplit(|c| !is_scheme(c)).next().unwrap_or_default().trim_start_matches('-');
            ["mysql", "mysqls", "tcp", "tls", "ws", "wss"].contains(&name.to_ascii_lowercase().as_str())
        })?,
    };
    let scheme = before.rsplit(|c| !is_scheme(c)).next().unwrap_or_default().trim_start_matches('-');
    Some((scheme, rest))
}

/// A reading of a text, and where each of its characters begins in the text.
struct View {
    chars: Vec<char>,
    /// One more than there are characters.
    starts: Vec<usize>,
}

impl View {
    fn plain(text: &str) -> Self {
        Self::of(text, |_| None)
    }

    fn percent_decoded(text: &str) -> Self {
        Self::of(text, |rest| {
            let mut bytes = Vec::new();
            while let Some(byte) =
                rest[3 * bytes.len()..].strip_prefix('%').and_then(|hex| byte_of(hex.get(..2)?))
            {
                bytes.push(byte);
            }
            let length = 3 * bytes.len();
            let decoded = String::from_utf8(bytes).ok().filter(|decoded| !decoded.is_empty())?;
            Some((decoded, length))
        })
    }

    /// With what follows a backslash instead of it.
    fn unescaped(text: &str) -> Self {
        Self::of(text, |rest| {
            let escaped = rest.strip_prefix('\\')?;
            if let Some(byte) = escaped.strip_prefix('x').and_then(|hex| byte_of(hex.get(..2)?)) {
                return Some((char::from(byte).to_string(), 4));
            }
            let c = escaped.chars().next()?;
            Some((c.to_string(), 1 + c.len_utf8()))
        })
    }

    /// `escape` returns what the escape at the beginning of a text stands for, and its length.
    fn of(text: &str, escape: impl Fn(&str) -> Option<(String, usize)>) -> Self {
        let (mut chars, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(c) = text[at..].chars().next() {
            let (decoded, length) = escape(&text[at..]).unwrap_or_else(|| (c.to_string(), c.len_utf8()));
            starts.extend(decoded.chars().map(|_| at));
            chars.extend(decoded.chars());
            at += length;
        }
        starts.push(mem::take(&mut at));
        Self { chars, starts }
    }
}

fn byte_of(hex: &str) -> Option<u8> {
    u8::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redacted(argument: &str, text: &str) -> String {
        Redaction::of(&[argument.into()]).redact(text)
    }

    #[test]
    fn what_may_be_a_secret_is_masked_and_the_rest_stays() {
        for (argument, expected) in [
            ("no URL: a@b:c", "no URL: a@b:c"),
            ("mysql://u:pw@h:3306/s", "mysql://u:***@h:3306/s"),
            ("MYSQL://u:p/w@w@h", "MYSQL://u:***@h"),
            ("mysql://u@h/s", "mysql://u@h/s"),
            ("tcp://h:1", "tcp://h:1"),
            ("tcp://TOKEN@h:1", "tcp://***@h:1"),
            ("tcp:TOKEN@h:1", "tcp:***@h:1"),
            ("slatedb:s3://AKIA:a/b@bucket/path", "slatedb:s3://***@bucket/path"),
            ("slatedb:az://account/c?sv=2024&sig=x%2Fyz12", "slatedb:az://account/c?sv=***&sig=***"),
            ("--gte=mysql://u:hunter2@h/s", "--gte=mysql://u:***@h/s"),
            ("level:a@b", "level:a@b"),
            ("user:me@example.org", "user:me@example.org"),
        ] {
            assert_eq!(redacted(argument, argument), expected);
        }
        assert_eq!(redacted("mysql://u:p%40ss%20word@h", "'p@ss word'"), "'***'");
        assert_eq!(redacted("mysql://u:a@h", "bananas are a: fruit"), "bananas are ***: fruit");
    }

    proptest! {
        #[test]
        fn no_run_of_six_characters_of_a_secret_is_left(secret in "[a-zA-Z0-9/@:?#&=%+ \\\\\"'ä]{6,30}", place in 0..6_usize) {
            let arguments = [
                format!("mysql://ada:{secret}@h/s"),
                format!("MYSQL://ada:{secret}@h/s"),
                format!("slatedb:s3://ID:{secret}@bucket"),
                format!("tcp://{secret}@h"),
                format!("--prefix=tcp:{secret}@h"),
                format!("wss://h/path#{}", secret.replace(['#', '&', '=', '?', '@'], "_")),
            ];
            let is_last = place == 5;
            let secret = if is_last { secret.replace(['#', '&', '=', '?', '@'], "_") } else { secret };
            let argument = &arguments[place];
            let chars: Vec<char> = secret.to_lowercase().chars().collect();
            for text in [argument.clone(), format!("'{argument}' is not a file"), secret.clone(), format!("{:?}", secret)] {
                let shown = redacted(argument, &text).to_lowercase();
                for run in chars.windows(RUN) {
                    let run: String = run.iter().collect();
                    prop_assert!(!shown.contains(&run), "{argument}: {shown}");
                }
            }
        }
    }
}
