//! What the servers say of the key, and whether most of them can know a hold.

use std::fmt;

use crate::clock::Moment;

/// What one server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Says(String),
    Nothing,
    /// It does not answer; since when that was bound to be, if it is known.
    Silent(Option<Moment>),
}

impl Answer {
    /// Whether it has the token, or may have it: who was silent when the hold was recorded has not.
    fn may_have(&self, token: &str, recorded: Moment) -> bool {
        match self {
            Self::Says(value) => value == token || is_marked(value, token),
            Self::Nothing => false,
            Self::Silent(since) => since.is_none_or(|since| since > recorded),
        }
    }
}

/// Whether a client of dlock has told the holder, who is one, too, that it waits.
fn is_marked(value: &str, token: &str) -> bool {
    token.contains('/') && value.strip_suffix('+') == Some(token)
}

/// Whether most of the servers have the token, or may have it.
pub(crate) fn majority_may_have(answers: &[Answer], token: &str, recorded: Moment) -> bool {
    let may = |answer: &&Answer| answer.may_have(token, recorded);
    2 * answers.iter().filter(may).count() > answers.len()
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Says(value) => value,
            Self::Nothing => "nothing",
            Self::Silent(_) => "no answer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::parse(&(ms * 1_000_000).to_string()).expect("a number")
    }

    fn own() -> Answer {
        Answer::Says("own".to_owned())
    }

    fn other() -> Answer {
        Answer::Says("other".to_owned())
    }

    #[test]
    fn one_server_has_to_say_it() {
        assert!(majority_may_have(&[own()], "own", at(0)));
        assert!(!majority_may_have(&[other()], "own", at(0)));
        assert!(!majority_may_have(&[Answer::Nothing], "own", at(0)));
    }

    #[test]
    fn only_a_hold_of_dlock_may_be_marked() {
        let says = |value: &str| [Answer::Says(value.to_owned())];
        assert!(majority_may_have(&says("a/1/2+"), "a/1/2", at(0)));
        assert!(!majority_may_have(&says("a/1/2-"), "a/1/2", at(0)));
        assert!(!majority_may_have(&says("a/1/2"), "a/1/2+", at(0)));
        assert!(!majority_may_have(&says("own+"), "own", at(0)));
    }

    #[test]
    fn a_minority_may_say_something_else() {
        let mut five = [own(), own(), own(), Answer::Nothing, other()];
        assert!(majority_may_have(&five, "own", at(0)));
        five[0] = other();
        assert!(!majority_may_have(&five, "own", at(0)));
    }

    #[test]
    fn the_silent_may_have_it_if_they_answered_when_it_was_recorded() {
        let five = |since| {
            [
                own(),
                own(),
                Answer::Silent(since),
                Answer::Nothing,
                other(),
            ]
        };
        assert!(majority_may_have(&five(None), "own", at(10)));
        assert!(majority_may_have(&five(Some(at(11))), "own", at(10)));
        assert!(!majority_may_have(&five(Some(at(9))), "own", at(10)));
    }
}
