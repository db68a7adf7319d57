//! Entries as lines of JSON: `{"key":…,"value":…}`. Bytes are a string if they are UTF-8, otherwise `{"hex":"00ff"}`.
//!
//! A line with `"type":"del"` deletes its key; `"type":"put"` is optional. Operations of abstract-level's batches
//! have this form.

use std::io::{self, Write};

use serde_json::Value;

use super::{EntryWriter, Operation};
use crate::text::json::{bytes_of, write_bytes};

/// Writes entries as lines.
pub(crate) struct JsonLinesWriter;

impl EntryWriter for JsonLinesWriter {
    fn write(&mut self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> io::Result<()> {
        out.write_all(b"{\"key\":")?;
        write_bytes(out, key)?;
        out.write_all(b",\"value\":")?;
        write_bytes(out, value)?;
        out.write_all(b"}\n")
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Parses the operation of a line.
///
/// # Errors
///
/// A sentence that describes the problem.
pub(crate) fn parse_line(line: &[u8]) -> Result<Operation, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let Value::Object(members) = &value else {
        return Err("expected an object with \"key\" and \"value\"".into());
    };
    let member = |name: &str| members.get(name).ok_or_else(|| format!("there is no \"{name}\""));
    let of = |name: &str| bytes_of(member(name)?).map_err(|problem| format!("\"{name}\": {problem}"));
    if let Some(unknown) = members.keys().find(|name| !matches!(name.as_str(), "type" | "key" | "value")) {
        return Err(format!("unknown member \"{unknown}\"; use key, value and type"));
    }
    match members.get("type").map(|kind| kind.as_str()) {
        None | Some(Some("put")) => Ok(Operation::Put { key: of("key")?, value: of("value")? }),
        Some(Some("del")) => Ok(Operation::Delete { key: of("key")? }),
        Some(_) => Err("\"type\" must be \"put\" or \"del\"".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back() {
        for (key, value) in [(&b"k"[..], &b"v"[..]), (b"", b""), (b"\0\xff", b"\"\\\n")] {
            let mut line = Vec::new();
            JsonLinesWriter.write(&mut line, key, value).unwrap();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            let expected = Operation::Put { key: key.to_vec(), value: value.to_vec() };
            assert_eq!(parse_line(&line).unwrap(), expected);
        }
        let deletion = parse_line(b"{\"type\":\"del\",\"key\":\"a\"}").unwrap();
        assert_eq!(deletion, Operation::Delete { key: b"a".to_vec() });
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "1",
            "{",
            "{}",
            "{\"key\":\"a\"}",
            "{\"key\":1,\"value\":\"b\"}",
            "{\"key\":\"a\",\"value\":\"b\",\"type\":\"set\"}",
            "{\"key\":\"a\",\"value\":\"b\",\"ttl\":1}",
            "{\"key\":\"a\",\"value\":\"b\"} x",
        ] {
            assert!(parse_line(line.as_bytes()).is_err(), "{line}");
        }
    }
}
