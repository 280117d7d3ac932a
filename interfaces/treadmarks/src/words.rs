//! The names that tools print for waits, counters and kinds of sharing of TreadMarks.

parvum_api::words! {
    "interface treadmarks";
    /// For a lock, whose number is the tag.
    lock = WAIT, "memory:lock Tmk_lock_acquire";
    /// In a barrier, likewise.
    barrier = WAIT, "memory:barrier Tmk_barrier";
    /// For a page of shared memory, likewise.
    page = WAIT, "memory:page shared page";
    /// In `Tmk_exit`, for the others.
    exit = WAIT, "memory:exit Tmk_exit";
    /// For what others do to the shared heap, or to a variable that is distributed.
    heap = WAIT, "memory shared heap";
    /// In `Tmk_reduce`.
    reduce = WAIT, "memory Tmk_reduce";
    /// In `Tmk_startup`.
    startup = WAIT, "memory Tmk_startup";
    // The counts in the order of `shown::numbers`, then the ways in that of `Way::number`.
    => "\
count messages for shared memory
count bytes of them
count first writes to pages
count misses
count twins made
count diffs made
count bytes of diffs made
count diffs applied
count whole pages fetched
count requests for diffs or pages
count intervals
count pages made invalid
count locks taken that were here
count locks waited for
count barriers
count collections of old records
count bytes of records now
count bytes of records at most
way one memory
way pages, lazily
way pages, as in 1994 (classic)
way pages with homes
way one memory on a host, pages between hosts
way pages, lazily; by userfaultfd
way pages, as in 1994 (classic); by userfaultfd
way pages with homes; by userfaultfd
";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::numbers;
    use parvum_consistency::Counts;

    #[test]
    fn counters_and_waits_all_have_names() {
        let counts = numbers(&Counts::default()).len();
        assert_eq!((counts, WORDS.text().matches("\ncount ").count()), (counts, counts));
        assert_eq!(WORDS.text().matches("\nway ").count(), 8);
    }
}
