//! Sets of members, and the count of what they answer.

use crate::error::{Error, ErrorKind, TimeoutStep};

/// Some members, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Members(u32);

/// How many members a quorum may have.
pub(super) const MOST: usize = 31;

impl Members {
    /// The first so many.
    pub(super) fn first(count: usize) -> Self {
        Self((1 << count) - 1)
    }

    /// This one.
    pub(super) fn only(member: usize) -> Self {
        Self(1 << member)
    }

    /// The members of a number that `bits` has given.
    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn has(self, member: usize) -> bool {
        self.0 & (1 << member) != 0
    }

    pub(super) fn put(&mut self, member: usize) {
        self.0 |= 1 << member;
    }

    pub(super) fn take(&mut self, member: usize) {
        self.0 &= !(1 << member);
    }

    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(super) fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Members that are in both sets.
    pub(super) fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    pub(super) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(move |member| self.has(*member))
    }
}

/// How many members decide.
pub(super) fn majority(members: usize) -> usize {
    members / 2 + 1
}

/// The answers so far.
#[derive(Debug)]
pub(super) struct Count {
    members: usize,
    /// How many members say yes: granted, renewed, released.
    pub(super) yes: usize,
    /// How many members say no, or are known not to have the hold.
    pub(super) no: usize,
    failed: usize,
    /// Members that would have answered, had there been a majority of them to ask.
    pub(super) spared: usize,
    /// Why requests failed, preferably a failure with a reason.
    last: Option<Error>,
    /// How many have refused for a reason that no waiting removes.
    hopeless: usize,
}

impl Count {
    pub(super) fn of(members: usize) -> Self {
        Self {
            members,
            yes: 0,
            no: 0,
            failed: 0,
            spared: 0,
            last: None,
            hopeless: 0,
        }
    }

    pub(super) fn failed(&mut self, error: Error) {
        self.failed += 1;
        let hopeless = !(error.is_unavailable() || error.is_timeout());
        self.hopeless += usize::from(hopeless);
        if self.last.is_none() || hopeless || self.hopeless == 0 && !error.is_timeout() {
            self.last = Some(error);
        }
    }

    fn majority(&self) -> usize {
        majority(self.members)
    }

    /// A majority says yes.
    pub(super) fn is_yes(&self) -> bool {
        self.yes >= self.majority()
    }

    /// So many say no that the others are no majority.
    pub(super) fn is_no(&self) -> bool {
        self.members - self.no < self.majority()
    }

    /// Whatever the others answer, no majority will say yes.
    pub(super) fn is_vain(&self) -> bool {
        self.members - self.no - self.failed < self.majority()
    }

    /// A majority has answered.
    pub(super) fn is_answered(&self) -> bool {
        self.yes + self.no >= self.majority()
    }

    /// Other clients hold a majority. It is not divided among contenders.
    pub(super) fn is_held(&self) -> bool {
        self.no >= self.majority()
    }

    /// Why there is no majority, and whether it is no use to try again.
    pub(super) fn into_error(self) -> (Error, bool) {
        let answered = self.yes + self.no + self.spared;
        self.explain(&format!("{answered} of"), "answered in time", "")
    }

    /// Why it is not known whether a majority has released a hold.
    pub(super) fn into_release_error(self) -> Error {
        let confirmed = format!("the release is unconfirmed: {} of", self.yes);
        let then = ". The client goes on telling the others; where it cannot, the hold ends there with its lease";
        let (error, _) = self.explain(&confirmed, "confirmed it in time", then);
        error
    }

    fn explain(self, how_many: &str, did: &str, then: &str) -> (Error, bool) {
        let majority = self.majority();
        let vain = self.members - self.hopeless < majority;
        match self.last {
            Some(error) if vain => (error, true),
            last => {
                let message = format!(
                    "{how_many} {} servers of the quorum {did}, and {majority} have to{then}",
                    self.members
                );
                // Silence may mean that there was too little time.
                let silence = ErrorKind::Timeout(TimeoutStep::Request);
                let kind = match &last {
                    Some(last) if last.is_timeout() => silence,
                    _ => ErrorKind::Unavailable,
                };
                let error = match last {
                    Some(last) => Error::with_cause(
                        kind,
                        format!("{message}; of the others one says: {last}"),
                        &last,
                    ),
                    None => Error::new(kind, message),
                };
                (error, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Members, majority};
    use crate::error::{Error, ErrorKind, TimeoutStep};

    #[test]
    fn two_majorities_have_a_member_in_common() {
        for members in 1..=31 {
            assert!(2 * majority(members) > members);
            assert!(2 * (majority(members) - 1) <= members);
        }
    }

    #[test]
    fn members_come_and_go() {
        let mut some = Members::first(5);
        some.take(2);
        some.put(7);
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 1, 3, 4, 7]);
        assert_eq!(some.without(Members::first(4)).count(), 2);
        assert!(!some.has(2));
    }

    fn error(kind: ErrorKind) -> Error {
        Error::new(kind, "why")
    }

    #[test]
    fn a_majority_decides() {
        let mut count = Count::of(5);
        (count.yes, count.no) = (2, 2);
        assert!(!count.is_yes() && !count.is_no() && !count.is_vain() && count.is_answered());
        count.failed(error(ErrorKind::Unavailable));
        assert!(count.is_vain() && !count.is_no());
        count.no += 1;
        assert!(count.is_no() && count.is_held());
        let mut even = Count::of(4);
        even.yes = 2;
        assert!(!even.is_yes());
        even.no = 2;
        assert!(even.is_no() && !even.is_held());
    }

    #[test]
    fn an_error_says_how_many_answered() {
        let mut count = Count::of(5);
        count.yes = 2;
        for _ in 0..3 {
            count.failed(error(ErrorKind::Unavailable));
        }
        let (error, hopeless) = count.into_error();
        assert!(error.is_unavailable() && !hopeless);
        assert!(error.to_string().starts_with("2 of 5 servers"), "{error}");
    }

    #[test]
    fn the_error_of_a_release_says_what_is_unconfirmed() {
        let mut count = Count::of(3);
        count.yes = 1;
        count.failed(error(ErrorKind::Timeout(TimeoutStep::Request)));
        let error = count.into_release_error();
        let text = error.to_string();
        assert!(error.is_timeout());
        assert!(
            text.starts_with("the release is unconfirmed: 1 of 3 servers"),
            "{text}"
        );
        assert!(text.contains("ends there with its lease"), "{text}");
    }

    #[test]
    fn a_majority_that_refuses_for_good_is_not_asked_again() {
        let mut count = Count::of(3);
        count.failed(error(ErrorKind::Unauthorized));
        count.failed(error(ErrorKind::Unavailable));
        count.failed(error(ErrorKind::Unauthorized));
        let (error, hopeless) = count.into_error();
        assert!(error.is_unauthorized() && hopeless);
    }
}
