//! What an inspection comes to: an exit status, and a line that says why.

use super::inspection::{Filters, Inspection};
use crate::terminal::grouped;

/// Tables by what is wrong with them, and the databases around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    tables: usize,
    unread: usize,
    unknown: usize,
    hiding: usize,
    different: usize,
    /// Directories that could not be read, or with a MANIFEST that could not.
    lost: usize,
}

impl Verdict {
    pub(crate) fn add(&mut self, inspection: &Inspection) {
        self.tables += 1;
        match &inspection.filters {
            Filters::None => (),
            Filters::Unknown { .. } => self.unknown += 1,
            Filters::Known(filters) if filters.num_hidden > 0 => self.hiding += 1,
            Filters::Known(filters) => {
                self.different += usize::from(!filters.rebuilt_is_identical);
            }
        }
    }

    pub(crate) fn add_unread(&mut self) {
        self.tables += 1;
        self.unread += 1;
    }

    pub(crate) fn add_lost(&mut self) {
        self.lost += 1;
    }

    pub(crate) fn and(self, other: &Self) -> Self {
        Self {
            tables: self.tables + other.tables,
            unread: self.unread + other.unread,
            unknown: self.unknown + other.unknown,
            hiding: self.hiding + other.hiding,
            different: self.different + other.different,
            lost: self.lost + other.lost,
        }
    }

    /// 0: all was read, and every filter block is what its policy makes. 1: something could not be
    /// read, or keys are hidden. 3: a filter block is another.
    pub(crate) fn exit_status(&self) -> u8 {
        match self.unread + self.unknown + self.hiding + self.lost {
            0 if self.different == 0 => 0,
            0 => 3,
            _ => 1,
        }
    }

    /// `None` where nothing is wrong.
    pub(crate) fn reason(&self) -> Option<String> {
        let of_all = counted(self.tables, "table");
        let tables = [
            (self.unread, "could not be read"),
            (self.unknown, "with filters of a policy that is unknown here"),
            (self.hiding, "with filters that hide keys"),
            (self.different, "with another filter block than the policy makes"),
        ];
        let tables = tables.iter().filter(|(number, _)| *number > 0);
        let tables =
            tables.map(|(number, what)| format!("{} of {of_all} {what}", grouped(*number)));
        let lost = (self.lost > 0).then(|| {
            let directories = counted_as(self.lost, "directory", "directories");
            format!("{directories} could not be read as a database")
        });
        let reasons: Vec<_> = lost.into_iter().chain(tables).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// The number and what it is of.
pub(crate) fn counted(number: usize, one: &str) -> String {
    counted_as(number, one, &format!("{one}s"))
}

fn counted_as(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
