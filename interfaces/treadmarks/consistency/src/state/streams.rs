//! Streams: runs of pages that the program misses one after the other, and how many pages come with the next miss.

/// The number of streams that a node follows at the same time. A merge reads two or three.
const STREAMS: usize = 8;

/// The first further pages of a stream. The number doubles with each miss that goes on where the last pages ended.
const FIRST: u32 = 2;

/// Misses that follow each other.
#[derive(Clone, Copy)]
struct Stream {
    /// The page of the next miss, if the program goes on.
    next: u32,
    /// The number of further pages that came with the last miss.
    further: u32,
}

/// The streams of a node, the latest first.
#[derive(Default)]
pub(crate) struct Streams(Vec<Stream>);

impl Streams {
    /// The program misses a page. Returns how many further pages it will probably miss next, at most `most`.
    pub(crate) fn missed(&mut self, page: u32, most: u32) -> u32 {
        let stream = match self.0.iter().position(|stream| stream.next == page) {
            Some(at) => {
                let further = (self.0.remove(at).further * 2).clamp(FIRST, most.max(FIRST));
                Stream { next: page.saturating_add(1), further }
            }
            None => {
                self.0.truncate(STREAMS - 1);
                Stream { next: page.saturating_add(1), further: 0 }
            }
        };
        self.0.insert(0, stream);
        stream.further.min(most)
    }

    /// The latest stream has been asked for up to, and without, this page.
    pub(crate) fn asked_up_to(&mut self, page: u32) {
        if let Some(stream) = self.0.first_mut() {
            stream.next = page;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_further_pages_doubles_along_a_stream() {
        let mut streams = Streams::default();
        let (mut page, mut asked) = (10, Vec::new());
        for _ in 0..6 {
            let further = streams.missed(page, 31);
            asked.push(further);
            page += 1 + further;
            streams.asked_up_to(page);
        }
        assert_eq!(asked, [0, 2, 4, 8, 16, 31]);
    }

    #[test]
    fn scattered_misses_are_no_stream() {
        let mut streams = Streams::default();
        assert!(
            [5, 9, 100, 4, 7, 99, 8, 2].into_iter().map(|page| streams.missed(page, 31)).all(|n| n <= FIRST)
        );
        let mut streams = Streams::default();
        assert_eq!((0..200).map(|page| streams.missed(page * 3, 31)).max(), Some(0));
    }

    #[test]
    fn several_streams_grow_beside_each_other() {
        let mut streams = Streams::default();
        for round in 0..4 {
            for first in [0, 1000, 2000] {
                let further = streams.missed(first + round, 31);
                assert_eq!(further, [0, 2, 4, 8][round as usize]);
                streams.asked_up_to(first + round + 1);
            }
        }
    }

    #[test]
    fn limit_of_zero_asks_for_nothing() {
        let mut streams = Streams::default();
        assert!((0..50).all(|page| streams.missed(page, 0) == 0));
    }
}
