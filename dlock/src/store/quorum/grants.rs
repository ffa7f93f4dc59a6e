//! What members answer to one attempt, and what follows.

use super::count::Count;
use super::members::Members;
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
    /// Those who remember it, or a larger one.
    remembering: Members,
    /// Those who have not granted, and have not been told the token.
    refused: Members,
}

impl Grants {
    pub(super) fn new(members: usize, fences: bool) -> Self {
        Self {
            tokens: vec![None; members],
            fences,
            token: None,
            remembering: Members::default(),
            refused: Members::default(),
        }
    }

    /// A member has granted; to whom the token has to be told now.
    pub(super) fn granted(&mut self, member: usize, token: ServerToken, count: &Count) -> Members {
        self.tokens[member] = Some(token);
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
                Some(_) => self.remembering.put(member),
                None => {}
            }
        }
        told
    }

    /// A member has not granted; whether the token has to be told to it all the same. The more know it, the more may be
    /// replaced by empty ones.
    pub(super) fn refused(&mut self, member: usize) -> Members {
        self.refused.put(member);
        if self.token.is_some() {
            self.take_refused()
        } else {
            Members::default()
        }
    }

    /// Those who have not granted, to be told the token.
    pub(super) fn take_refused(&mut self) -> Members {
        let refused = std::mem::take(&mut self.refused);
        if self.fences {
            refused
        } else {
            Members::default()
        }
    }

    /// A member remembers the token.
    pub(super) fn raised(&mut self, member: usize) {
        self.remembering.put(member);
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

    #[test]
    fn nobody_is_told_what_all_have_named_or_what_readers_have() {
        let (told, grants) = play(true, &[7, 7, 7]);
        assert!(told.concat().is_empty() && grants.remembering() == 3);
        let (told, grants) = play(false, &[7, 9, 8]);
        assert!(told.concat().is_empty() && grants.remembering() == 3);
    }
}
