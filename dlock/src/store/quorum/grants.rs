//! What members answer to one attempt, and what follows.

use std::time::Duration;

use super::contention::TOGETHER;
use super::members::{Count, Members, majority};
use crate::clock::Instant;
use crate::token::ServerToken;

/// The grants of one attempt. Tokens have to grow from grant to grant, whichever members make the next majority: so, once
/// a majority has granted, a majority has to remember a token as large as the largest of them.
#[derive(Debug)]
pub(super) struct Grants {
    tokens: Vec<Option<ServerToken>>,
    /// Whether tokens are to grow: readers' need not.
    fences: bool,
    /// The token to hand out.
    pub(super) token: Option<ServerToken>,
    /// The members that remember the token, or a larger one.
    remembering: Members,
    /// The members that have not granted, and have not received the token.
    refused: Members,
    /// The members that have not granted because other clients hold.
    holding: Members,
    /// Until when others hold there, as far as is known.
    ends: Vec<Option<Instant>>,
    /// The members that will name no smaller token: they remember it, or their clock has reached it.
    sure: Members,
}

impl Grants {
    pub(super) fn new(members: usize, fences: bool) -> Self {
        Self {
            tokens: vec![None; members],
            fences,
            token: None,
            remembering: Members::default(),
            refused: Members::default(),
            holding: Members::default(),
            ends: vec![None; members],
            sure: Members::default(),
        }
    }

    /// A member has granted; returns the members that must be sent the token now.
    pub(super) fn granted(&mut self, member: usize, token: ServerToken, count: &Count) -> Members {
        self.tokens[member] = Some(token);
        self.refused.take(member);
        self.holding.take(member);
        let mut behind = Members::default();
        if self.token.is_none() && count.is_yes() {
            self.token = self.tokens.iter().flatten().max().copied();
            (0..self.tokens.len()).for_each(|member| behind.put(member));
        } else {
            behind.put(member);
        }
        let Some(largest) = self.token else {
            return Members::default();
        };
        let mut told = Members::default();
        for member in behind.iter() {
            match self.tokens[member] {
                Some(token) if self.fences && token < largest => told.put(member),
                Some(_) => {
                    self.remembering.put(member);
                    self.sure.put(member);
                }
                None => {}
            }
        }
        told
    }

    /// A member has not granted; returns the members that must be sent the token all the same. The more members know it, the more
    /// of them may be replaced by empty ones.
    pub(super) fn refused(&mut self, member: usize, end: Option<Instant>) -> Members {
        self.refused.put(member);
        self.holding.put(member);
        self.ends[member] = end;
        if self.token.is_some() {
            self.take_refused()
        } else {
            Members::default()
        }
    }

    /// The members that have not granted, and are to receive the token.
    pub(super) fn take_refused(&mut self) -> Members {
        let refused = std::mem::take(&mut self.refused);
        if self.fences {
            refused
        } else {
            Members::default()
        }
    }

    /// Members where others hold, to be asked once more.
    pub(super) fn take_holding(&mut self) -> Members {
        self.refused = Members::default();
        std::mem::take(&mut self.holding)
    }

    /// The members where other clients hold.
    pub(super) fn holding(&self) -> Members {
        self.holding
    }

    /// Until when others hold at a member.
    pub(super) fn end(&self, member: usize) -> Option<Instant> {
        self.ends[member]
    }

    /// The members that have the lock's hold, if a majority has one that ends at one time: the hold of a contender that has
    /// died while it asked stands at others, and ends at another time.
    pub(super) fn of_one_hold(&self) -> Option<Members> {
        let together = |end: Instant| {
            let mut some = Members::default();
            for member in self.holding.iter() {
                let other = self.ends[member];
                if other.is_some_and(|other| end.max(other) - end.min(other) < TOGETHER) {
                    some.put(member);
                }
            }
            some
        };
        let ends = self.holding.iter().filter_map(|member| self.ends[member]);
        let largest = ends.map(together).max_by_key(|some| some.count());
        largest.filter(|some| some.count() >= majority(self.ends.len()))
    }

    /// A member has received the token; `by_hold`: from this hold.
    pub(super) fn raised(&mut self, member: usize, by_hold: bool) {
        self.sure.put(member);
        if by_hold {
            self.remembering.put(member);
        }
    }

    /// The members that may name a smaller token later.
    pub(super) fn unsure(&self) -> Members {
        if self.fences {
            Members::first(self.tokens.len()).without(self.sure)
        } else {
            Members::default()
        }
    }

    /// By how much the clocks of the members that have granted disagree.
    pub(super) fn apart(&self) -> Duration {
        let named = || self.tokens.iter().flatten().map(|token| token.as_u64());
        let apart = named().max().unwrap_or(0) - named().min().unwrap_or(0);
        Duration::from_micros(apart)
    }

    /// How many remember it.
    pub(super) fn remembering(&self) -> usize {
        self.remembering.count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Grants};
    use crate::token::ServerToken;

    fn play(fences: bool, tokens: &[u64]) -> (Vec<Vec<usize>>, Grants) {
        let (mut grants, mut count) = (Grants::new(5, fences), Count::of(5));
        let mut told = Vec::new();
        for (member, token) in tokens.iter().enumerate() {
            count.yes += 1;
            let behind = grants.granted(member, ServerToken::new(*token), &count);
            told.push(behind.iter().collect());
        }
        (told, grants)
    }

    #[test]
    fn who_is_behind_is_told_once_there_is_a_majority() {
        let (told, grants) = play(true, &[7, 9, 8, 6, 10]);
        assert_eq!(told, [vec![], vec![], vec![0, 2], vec![3], vec![]]);
        assert_eq!(grants.token, Some(ServerToken::new(9)));
        assert_eq!(grants.remembering(), 2);
    }

    /// The two may be replaced by empty servers.
    #[test]
    fn who_is_behind_is_told_although_two_have_named_the_same() {
        let (told, grants) = play(true, &[7, 9, 9]);
        assert_eq!(told, [vec![], vec![], vec![0]]);
        assert_eq!(grants.remembering(), 2);
    }

    #[test]
    fn who_has_not_answered_is_unsure_for_as_long_as_clocks_are_apart() {
        let (_, mut grants) = play(true, &[7, 9, 8]);
        grants.raised(0, false);
        assert_eq!(grants.unsure().iter().collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(grants.apart(), std::time::Duration::from_micros(2));
        assert_eq!(play(false, &[7, 9, 8]).1.unsure().count(), 0);
    }

    #[test]
    fn nobody_is_told_what_all_have_named_or_what_readers_have() {
        let (told, grants) = play(true, &[7, 7, 7]);
        assert!(told.concat().is_empty() && grants.remembering() == 3);
        let (told, grants) = play(false, &[7, 9, 8]);
        assert!(told.concat().is_empty() && grants.remembering() == 3);
    }
}
