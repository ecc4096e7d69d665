//! All about one table.

use super::absent::AbsentLookups;
use super::inspection::{Filters, Inspection};
use super::keys::KeyKind;
use super::shape::{FilterShape, FilterTotals};
use super::share::{Share, ratio};
use super::what_if;
use crate::terminal::grouped;

pub(crate) fn lines(name: &str, inspection: &Inspection) -> Vec<String> {
    let mut lines = vec![format!("{name}, {} bytes", grouped(inspection.file_len))];
    lines.extend(
        rows(inspection).into_iter().map(|(label, value)| format!("  {label:<20}  {value}")),
    );
    lines.extend(inspection.what_if.iter().flat_map(what_if::lines));
    lines
}

fn rows(inspection: &Inspection) -> Vec<(&'static str, String)> {
    let Inspection { num_keys, filters, .. } = inspection;
    let policy = filters.as_ref().map_or_else(
        || "none: the table has no filter".into(),
        |filters| format!("{} ({})", filters.policy_name, filters.name_origin),
    );
    let mut rows = vec![
        ("filter policy", policy),
        ("data blocks", grouped(inspection.num_blocks)),
        ("keys", keys(inspection)),
    ];
    if let Some(filters) = filters {
        rows.extend([
            ("filters", totals(&filters.totals)),
            ("filter bytes", grouped(filters.totals.bytes)),
        ]);
        if *num_keys > 0 {
            rows.extend(rows_with_keys(*num_keys, filters, &inspection.absent));
        }
        let rebuilt = if filters.rebuilt_is_identical { "identical" } else { "different" };
        rows.push(("rebuilt filter block", rebuilt.into()));
    }
    rows
}

fn keys(inspection: &Inspection) -> String {
    let kind = match (inspection.key_kind, &inspection.filters) {
        _ if inspection.num_keys == 0 => "",
        (KeyKind::User, _) => " user keys",
        (KeyKind::Internal, None) => " internal keys, which end in 8-byte trailers",
        (KeyKind::Internal, Some(_)) => {
            " internal keys; the filters leave out their 8-byte trailers"
        }
    };
    format!("{}{kind}", grouped(inspection.num_keys))
}

fn totals(totals: &FilterTotals) -> String {
    format!("{}, {} of them empty", grouped(totals.filters), grouped(totals.empty))
}

fn rows_with_keys(
    num_keys: usize,
    filters: &Filters,
    absent: &AbsentLookups,
) -> [(&'static str, String); 5] {
    let AbsentLookups { above, ref asked, matched } = *absent;
    let asked = asked.len();
    let measured = ratio(filters.totals.bits, num_keys);
    let made_with = made_with(filters.shape.as_ref());
    let (num_absent, above) = (grouped(above + asked), grouped(above));
    [
        ("bits per key", format!("{measured:.2} measured; {made_with}")),
        ("keys found", format!("{} of {}", grouped(filters.num_found), grouped(num_keys))),
        (
            "absent keys",
            format!("{num_absent}; {above} of them lie above the last block and need no read"),
        ),
        ("false-positive rate", share(matched, asked, "filter look-ups")),
        ("reads saved", share(asked - matched, asked, "data block reads")),
    ]
}

fn made_with(shape: Option<&FilterShape>) -> String {
    let Some(FilterShape { num_probes, bits_per_key }) = shape else {
        return "no policy makes such filters".into();
    };
    let (fewest, most) = (bits_per_key.start(), bits_per_key.end());
    let to_most = if fewest == most { String::new() } else { format!(" to {most}") };
    format!("made with {fewest}{to_most}, and {num_probes} probes")
}

fn share(part: usize, whole: usize, unit: &str) -> String {
    if whole == 0 {
        return format!("no {unit}");
    }
    format!("{}: {} of {} {unit}", Share::new(part, whole), grouped(part), grouped(whole))
}
