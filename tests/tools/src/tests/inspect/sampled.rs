//! The keys of a sample, and the missing ones that it makes up.

use crate::database::Group;
use crate::database::ranges::Ranges;
use crate::survey::lookups::Kinds;
use crate::survey::neighbours::in_gaps;
use crate::survey::sample::Sample;
use crate::tests::directories::database_of_keys;

#[test]
fn a_sample_has_fewer_keys_where_they_are_long() {
    let key = |i: u32| [&vec![b'k'; 100_000][..], &(3 * i * i).to_be_bytes()].concat();
    let tables = [0..60, 60..120].map(|numbers| (1, numbers.map(key).collect()));
    let directory = database_of_keys(20, tables.into());
    let group = Group::of_directory(&directory).unwrap();
    let sample = Sample::draw(Ranges::of(&group).unwrap());
    let Kinds { missing, existing } = sample.num_telling();
    assert!((20.0..90.0).contains(&missing) && (20.0..90.0).contains(&existing));
}

#[test]
fn missing_keys_lie_as_far_from_present_ones_as_these_from_each_other() {
    // Gaps of 2, 1 and 4, in turns.
    let is_present = |number: &usize| [0, 2, 3].contains(&(number % 7));
    let keys = (0..10_000).filter(is_present).map(|number| format!("{number:04}").into_bytes());
    let keys: Vec<_> = keys.collect();
    let alike: Vec<_> = keys.windows(2).map(|two| (&two[0][..], Some(&two[1][..]))).collect();
    let mut counts = [0; 7];
    for key in in_gaps(&alike, 9_000) {
        counts[String::from_utf8(key).unwrap().parse::<usize>().unwrap() % 7] += 1;
    }
    // All that are missing, and most in the wide gap: behind its start, before its end, between.
    let [0, one, 0, 0, four, five, six] = counts else { panic!("{counts:?}") };
    assert!([four, five, six].iter().all(|&count| count > one && one > 500), "{counts:?}");
}

#[test]
fn the_next_key_of_a_form_is_known_though_others_and_newer_tables_lie_between() {
    let key = |number: u64| format!("user:{number}").into_bytes();
    let [older, newer] = [3, 7].map(|step| (1..9_000).step_by(step));
    let tables = vec![(0, newer.clone().map(key).collect()), (1, older.clone().map(key).collect())];
    let directory = database_of_keys(100, tables);
    let group = Group::of_directory(&directory).unwrap();
    let sample = Sample::draw(Ranges::of(&group).unwrap());
    let mut numbers: Vec<_> = older.chain(newer).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for (key_there, next) in sample.existing_keys() {
        let number: u64 = std::str::from_utf8(&key_there[5..]).unwrap().parse().unwrap();
        let behind = numbers[numbers.binary_search(&number).unwrap() + 1..].first();
        let behind = behind.map(|&number| key(number)).filter(|key| key.len() == key_there.len());
        assert_eq!(next, behind.as_deref(), "{number}");
    }
}
