//! What the servers say of the key, and whether most of them can know a hold.

use std::fmt;

use crate::clock::Moment;

/// What one server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Says(String),
    Nothing,
    /// The server does not answer; since when it is down, if that is known.
    Silent(Option<Moment>),
}

impl Answer {
    /// Whether the server has the token, or may have it. A server that was down when the hold was recorded has not.
    fn may_have(&self, token: &str, recorded: Moment) -> bool {
        match self {
            // A waiting client of dlock marks a hold of dlock.
            Self::Says(value) => {
                value == token || token.contains('/') && value.strip_suffix('+') == Some(token)
            }
            Self::Nothing => false,
            Self::Silent(since) => since.is_none_or(|since| since > recorded),
        }
    }
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

    fn says(value: &str) -> Answer {
        Answer::Says(value.to_owned())
    }

    /// For a hold that was recorded at 10 ms.
    fn may_have(answers: &[Answer], token: &str) -> bool {
        majority_may_have(answers, token, Moment::at_ms(10))
    }

    #[test]
    fn one_server_has_to_say_it() {
        assert!(may_have(&[says("own")], "own"));
        assert!(!may_have(&[says("other")], "own"));
        assert!(!may_have(&[Answer::Nothing], "own"));
    }

    #[test]
    fn only_a_hold_of_dlock_may_be_marked() {
        assert!(may_have(&[says("a/1/2+")], "a/1/2"));
        assert!(!may_have(&[says("a/1/2-")], "a/1/2"));
        assert!(!may_have(&[says("a/1/2")], "a/1/2+"));
        assert!(!may_have(&[says("own+")], "own"));
    }

    #[test]
    fn a_minority_may_say_something_else() {
        let [own, other] = ["own", "other"].map(says);
        let mut five = [own.clone(), own.clone(), own, Answer::Nothing, other];
        assert!(may_have(&five, "own"));
        five[0] = says("other");
        assert!(!may_have(&five, "own"));
    }

    #[test]
    fn the_silent_may_have_it_if_they_answered_when_it_was_recorded() {
        let may = |since: Option<u64>| {
            let silent = Answer::Silent(since.map(Moment::at_ms));
            let [own, other] = ["own", "other"].map(says);
            may_have(&[own.clone(), own, silent, Answer::Nothing, other], "own")
        };
        assert!(may(None));
        assert!(may(Some(11)));
        assert!(!may(Some(9)));
    }
}
