//! All about one table.

use super::inspection::{Filters, Inspection, KnownFilters};
use super::keys::KeyKind;
use super::shape::FilterShape;
use super::share::{percentage, ratio};
use super::verdict::counted;
use super::what_if;
use crate::terminal::grouped;

pub(crate) fn lines(name: &str, inspection: &Inspection) -> Vec<String> {
    let mut lines = vec![format!("{name}, {} bytes", shown(inspection.file_len))];
    lines.extend(
        rows(inspection).into_iter().map(|(label, value)| format!("  {label:<20}  {value}")),
    );
    lines.extend(inspection.what_if.iter().flat_map(what_if::lines));
    lines
}

fn rows(inspection: &Inspection) -> Vec<(&'static str, String)> {
    let policy = match &inspection.filters {
        Filters::None => "none: the table has no filter".into(),
        // Quoted, with escapes: a name from a file may hold anything.
        Filters::Unknown { policy_name } => format!("{policy_name:?}, which is unknown here"),
        Filters::Known(filters) => format!("{} ({})", filters.policy_name, filters.name_origin),
    };
    let mut rows = vec![
        ("filter policy", policy),
        ("data blocks", grouped(inspection.num_blocks)),
        ("keys", keys(inspection)),
    ];
    if inspection.key_kind == KeyKind::Internal && inspection.num_keys > 0 {
        rows.push(("user keys", user_keys(inspection)));
    }
    if let Filters::Known(filters) = &inspection.filters {
        rows.extend(rows_of_filters(inspection, filters));
    }
    rows
}

fn keys(inspection: &Inspection) -> String {
    let num_keys = inspection.num_keys;
    if num_keys == 0 {
        return "0".into();
    }
    match (inspection.key_kind, &inspection.filters) {
        (KeyKind::User, _) => counted(num_keys, "user key"),
        (KeyKind::Internal, Filters::Known(_)) => format!(
            "{}; the filters leave out the 8-byte trailers",
            counted(num_keys, "internal key")
        ),
        (KeyKind::Internal, _) => {
            format!("{}, with 8-byte trailers", counted(num_keys, "internal key"))
        }
    }
}

fn user_keys(inspection: &Inspection) -> String {
    let deletions = counted(inspection.num_deletions, "deletion");
    format!("{} distinct; {deletions} among the internal keys", grouped(inspection.num_user_keys))
}

fn rows_of_filters(inspection: &Inspection, filters: &KnownFilters) -> Vec<(&'static str, String)> {
    let num_keys = inspection.num_keys;
    let totals = &filters.totals;
    let share = percentage(filters.block_len, inspection.file_len);
    let mut rows = vec![
        (
            "filters",
            format!(
                "{}, {} of them empty; base_lg {}, {}",
                grouped(totals.filters),
                grouped(totals.empty),
                filters.base_lg,
                range(filters.base_lg)
            ),
        ),
        ("filter block", format!("{} bytes, {share} of the file", grouped(filters.block_len))),
    ];
    if let Some(bits_per_key) = ratio(totals.bits, num_keys) {
        let made_with = made_with(filters.shape.as_ref());
        let num_found = grouped(num_keys - filters.num_hidden);
        let rate = filters.false_positives;
        rows.extend([
            ("bits per key", format!("{bits_per_key:.2} measured; {made_with}")),
            ("keys found", format!("{num_found} of {}", grouped(num_keys))),
            ("false-positive rate", format!("{rate} of absent keys read a data block")),
        ]);
    }
    let rebuilt = if filters.rebuilt_is_identical { "identical" } else { "different" };
    rows.push(("rebuilt filter block", rebuilt.into()));
    rows
}

/// What one filter is for.
fn range(base_lg: u8) -> String {
    match 1u64.checked_shl(base_lg.into()) {
        Some(len @ 0..1_024) => format!("one for each {len} bytes"),
        Some(len) => format!("one for each {} KiB of the file", shown(len >> 10)),
        None => "which no writer uses".into(),
    }
}

fn made_with(shape: Option<&FilterShape>) -> String {
    let Some(FilterShape { num_probes, millibits_per_key }) = shape else {
        return "no policy makes such filters".into();
    };
    let [fewest, most] = [millibits_per_key.start(), millibits_per_key.end()].map(|millibits| {
        match millibits % 1_000 {
            0 => (millibits / 1_000).to_string(),
            rest => format!("{}.{rest:03}", millibits / 1_000),
        }
    });
    let to_most = if fewest == most { String::new() } else { format!(" to {most}") };
    match num_probes {
        Some(num_probes) => format!("made with {fewest}{to_most}, and {num_probes} probes"),
        None => format!("made with {fewest}, tuned"),
    }
}

fn shown(len: u64) -> String {
    usize::try_from(len).map_or_else(|_| len.to_string(), grouped)
}
