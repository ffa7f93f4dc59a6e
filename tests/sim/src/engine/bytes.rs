//! Reading what is sent, without taking it apart.

/// The length of the first request; of all if it is not whole.
pub(super) fn length_of_request(bytes: &[u8]) -> usize {
    let number = |at: usize| {
        let line = bytes.get(at + 1..)?;
        let end = memchr::memchr(b'\r', line)?;
        let number: usize = std::str::from_utf8(&line[..end]).ok()?.parse().ok()?;
        Some((number, at + end + 3))
    };
    let whole = || {
        let (words, mut at) = number(0).filter(|_| bytes[0] == b'*')?;
        for _ in 0..words {
            let (length, start) = number(at)?;
            at = start + length + 2;
        }
        (at <= bytes.len()).then_some(at)
    };
    whole().unwrap_or(bytes.len())
}

/// Whether this is a message of pub/sub, not an answer.
pub(super) fn is_message(bytes: &[u8]) -> bool {
    bytes.starts_with(b">3\r\n$7\r\nmessage") || bytes.starts_with(b">3\r\n$8\r\nsmessage")
}

/// For readers.
pub(super) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<&str> = text
        .split("\r\n")
        .filter(|word| !word.starts_with(['$', '*']) && !word.is_empty())
        .collect();
    let mut line = words.join(" ");
    if line.len() > 300 {
        let end = (0..300)
            .rev()
            .find(|at| line.is_char_boundary(*at))
            .unwrap_or(0);
        line.truncate(end);
        line.push('…');
    }
    line.replace('\n', " ")
}
