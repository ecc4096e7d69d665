//! A table's keys: how many, in what order, and of what kind.

use crate::table::{Table, TableError};

/// Which part of a table's keys its filters hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyKind {
    /// All of each key.
    User,
    /// Each key without its trailer.
    Internal,
}

impl KeyKind {
    const TRAILER_LEN: usize = 8;

    pub(crate) fn user_key(self, key: &[u8]) -> &[u8] {
        match self {
            Self::User => key,
            Self::Internal => &key[..key.len().saturating_sub(Self::TRAILER_LEN)],
        }
    }

    fn could_be_internal(key: &[u8]) -> bool {
        // The trailer begins with the value type: 0 for a deletion, 1 for a value.
        key.last_chunk::<{ Self::TRAILER_LEN }>().is_some_and(|trailer| trailer[0] <= 1)
    }
}

/// What a first look at all keys tells.
pub(crate) struct Survey {
    pub(crate) blocks: Vec<SurveyedBlock>,
    pub(crate) num_keys: usize,
    pub(crate) num_bytes: usize,
    could_be_internal: bool,
    /// Whether all keys and index keys are, taken as keys of each kind.
    in_order: [(KeyKind, bool); 2],
}

pub(crate) struct SurveyedBlock {
    pub(crate) offset: u64,
    pub(crate) num_keys: usize,
}

impl Survey {
    pub(crate) fn of(table: &Table<'_>) -> Result<Self, TableError> {
        let mut survey = Self {
            blocks: Vec::with_capacity(table.data_blocks().len()),
            num_keys: 0,
            num_bytes: 0,
            could_be_internal: true,
            in_order: [(KeyKind::User, true), (KeyKind::Internal, true)],
        };
        let mut previous = Vec::new();
        for block in table.data_blocks() {
            let num_keys_before = survey.num_keys;
            table.visit_keys(block, |key| {
                survey.num_keys += 1;
                survey.num_bytes = survey.num_bytes.saturating_add(key.len());
                survey.could_be_internal &= KeyKind::could_be_internal(key);
                survey.compare(&mut previous, key);
            })?;
            survey.compare(&mut previous, &block.index_key);
            let num_keys = survey.num_keys - num_keys_before;
            survey.blocks.push(SurveyedBlock { offset: block.offset(), num_keys });
        }
        Ok(survey)
    }

    fn compare(&mut self, previous: &mut Vec<u8>, key: &[u8]) {
        for (kind, in_order) in &mut self.in_order {
            *in_order &= kind.user_key(previous) <= kind.user_key(key);
        }
        previous.clear();
        previous.extend_from_slice(key);
    }

    /// User keys may end in what could be trailers, so where both kinds are possible the filters
    /// have to tell.
    pub(crate) fn candidates(&self) -> &'static [KeyKind] {
        if self.could_be_internal { &[KeyKind::User, KeyKind::Internal] } else { &[KeyKind::User] }
    }

    /// Where there are no filters to tell.
    pub(crate) fn likeliest_kind(&self) -> KeyKind {
        if self.could_be_internal { KeyKind::Internal } else { KeyKind::User }
    }

    pub(crate) fn is_in_order(&self, kind: KeyKind) -> bool {
        self.in_order.contains(&(kind, true))
    }
}
