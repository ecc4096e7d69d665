//! Opens a table file of LevelDB and reports on its filters: what they cost, what they save, and
//! whether this crate makes the same ones.
//!
//! ```sh
//! cargo run --release --example inspect_table [-- FILE]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use inspection::{AbsentLookups, FilterShape, FilterTotals, Inspection, KeyKind};
use terminal::{exit_code, grouped, print};

#[path = "inspect_table/inspection.rs"]
mod inspection;
#[path = "../common/table.rs"]
mod table;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str = "usage: inspect_table [FILE]";
const HELP: &str = "Reports on the filters of an uncompressed LevelDB table, by default";
const GOLDEN_TABLE: &str = "tests/golden/tables/db_bloom10.ldb";

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let outcome = match &args[..] {
        [] => report(&Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN_TABLE)),
        [arg] if arg == "-h" || arg == "--help" => print(&[USAGE, HELP, GOLDEN_TABLE]),
        [arg] if !arg.as_encoded_bytes().starts_with(b"-") => report(Path::new(arg)),
        _ => Err(USAGE.into()),
    };
    exit_code(outcome)
}

fn report(path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display();
    let (file_len, inspection) = read_regular_file(path)
        .and_then(|file| Ok((file.len(), Inspection::of(&file)?)))
        .map_err(|error| format!("{name}: {error}"))?;

    let mut lines = vec![format!("{name}, {} bytes", grouped(file_len))];
    lines.extend(
        rows(&inspection).into_iter().map(|(label, value)| format!("  {label:<20}  {value}")),
    );
    print(&lines)?;
    match inspection.num_keys - inspection.num_found {
        0 => Ok(()),
        lost => Err(format!("{name}: the filters hide {} of the keys", grouped(lost)).into()),
    }
}

fn read_regular_file(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err("is a directory".into());
    }
    // Devices and pipes may never end.
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    Ok(fs::read(path)?)
}

fn rows(inspection: &Inspection) -> Vec<(&'static str, String)> {
    let Inspection { policy_name, name_origin, num_keys, num_found, .. } = inspection;
    let mut rows = vec![
        ("filter policy", format!("{policy_name} ({name_origin})")),
        ("data blocks", grouped(inspection.num_blocks)),
        ("keys", keys(*num_keys, inspection.key_kind)),
        ("filters", filters(&inspection.filters)),
        ("filter bytes", grouped(inspection.filters.bytes)),
    ];
    if *num_keys > 0 {
        let measured = ratio(inspection.filters.bits, *num_keys);
        let made_with = made_with(inspection.shape.as_ref());
        rows.extend([
            ("bits per key", format!("{measured:.2} measured; {made_with}")),
            ("keys found", format!("{} of {}", grouped(*num_found), grouped(*num_keys))),
        ]);
        rows.extend(absent_rows(&inspection.absent));
    }
    let rebuilt = if inspection.rebuilt_is_identical { "identical" } else { "different" };
    rows.push(("rebuilt filter block", rebuilt.into()));
    rows
}

fn keys(num_keys: usize, kind: KeyKind) -> String {
    let kind = match kind {
        _ if num_keys == 0 => "",
        KeyKind::User => " user keys",
        KeyKind::Internal => " internal keys; the filters leave out their 8-byte trailers",
    };
    format!("{}{kind}", grouped(num_keys))
}

fn filters(totals: &FilterTotals) -> String {
    format!("{}, {} of them empty", grouped(totals.filters), grouped(totals.empty))
}

fn made_with(shape: Option<&FilterShape>) -> String {
    let Some(FilterShape { num_probes, bits_per_key }) = shape else {
        return "no policy makes such filters".into();
    };
    let (fewest, most) = (bits_per_key.start(), bits_per_key.end());
    let to_most = if fewest == most { String::new() } else { format!(" to {most}") };
    format!("made with {fewest}{to_most}, and {num_probes} probes")
}

fn absent_rows(absent: &AbsentLookups) -> [(&'static str, String); 3] {
    let AbsentLookups { above, asked, matched } = *absent;
    let num_absent = grouped(above + asked);
    let above = grouped(above);
    [
        (
            "absent keys",
            format!("{num_absent}; {above} of them lie above the last block and need no read"),
        ),
        ("false-positive rate", share(matched, asked, "filter look-ups")),
        ("reads saved", share(asked - matched, asked, "data block reads")),
    ]
}

fn share(part: usize, whole: usize, unit: &str) -> String {
    if whole == 0 {
        return format!("no {unit}");
    }
    let percent = 100.0 * ratio(part, whole);
    format!("{percent:.2} %: {} of {} {unit}", grouped(part), grouped(whole))
}

#[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
