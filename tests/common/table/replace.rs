//! Puts another filter block into a table.

use super::block::{BLOCK_TRAILER_LEN, UNCOMPRESSED, as_indices};
use super::writer::{append_block, append_footer, block, handle};
use super::{FILTER, FOOTER_LEN, Table, filters};

/// A table's file with another filter block, under the same name. `None` if the new block does not
/// fit into the old one's place, or if the file is not laid out as LevelDB does it: data blocks,
/// filters, metaindex block, index block, footer.
///
/// The file keeps its length, by which LevelDB finds the footer. Data blocks and the index block
/// are left in place, byte for byte, and zeros fill what the filter block leaves of its place.
pub(crate) fn with_filter_block(file: &[u8], filter_block: &[u8]) -> Option<Vec<u8>> {
    let table = Table::open(file).ok()?;
    let [meta_block] = table.meta_blocks().ok()?.try_into().ok()?;
    let (policy_name, old) = filters(meta_block)?;
    let place = |block: super::BlockHandle| Some(as_indices(&block.range(file.len() as u64).ok()?));
    let data_end = table.data_blocks.last().map_or(Some(0), |&block| Some(place(block)?.end))?;
    let (old, metaindex) = (place(old?)?, place(table.footer.metaindex)?);
    let index = place(table.footer.index)?;
    let is_usual = data_end <= old.start
        && old.end <= metaindex.start
        && metaindex.end <= index.start
        && index.end + FOOTER_LEN == file.len();
    if !is_usual {
        return None;
    }
    let mut new = file[..old.start].to_vec();
    let filters = append_block(&mut new, filter_block, UNCOMPRESSED);
    let name = format!("{FILTER}{policy_name}");
    let metaindex = block(&[(0, name.as_bytes(), &filters)]);
    let metaindex = append_block(&mut new, &metaindex, UNCOMPRESSED);
    if new.len() > index.start {
        return None;
    }
    new.resize(index.start, 0);
    new.extend(&file[index.clone()]);
    let index = handle(index.start, index.len() - BLOCK_TRAILER_LEN);
    append_footer(&mut new, &[metaindex, index].concat());
    Some(new)
}
