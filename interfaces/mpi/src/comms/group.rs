//! Groups: ordered sets of processes.

use crate::errors::{Error, Mpi, class};
use crate::objects::handles::Objects;
use crate::objects::numbers::{CONGRUENT, GROUP_EMPTY, IDENT, Kind, SIMILAR, UNDEFINED, UNEQUAL};
use crate::process::machine;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// An ordered set of processes, each by its task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Unset: this process alone, which is in no machine yet.
    tasks: OnceLock<Arc<[i32]>>,
    own: Option<usize>,
    /// The handle of the session that it comes from; 0 if it comes from none.
    session: i32,
}

pub(crate) static GROUPS: Objects<Group> = Objects::new(Kind::Group);

/// The group of a handle.
pub(crate) fn group(handle: i32) -> Mpi<Arc<Group>> {
    if handle == GROUP_EMPTY {
        return Ok(Arc::new(Group { tasks: OnceLock::from(Arc::from([])), own: None, session: 0 }));
    }
    GROUPS.get(handle).ok_or_else(|| Error::new(class::GROUP, "the handle names no group"))
}

/// Keeps a group for the program.
pub(crate) fn keep(group: Group) -> Mpi<i32> {
    if group.size() == 0 {
        return Ok(GROUP_EMPTY);
    }
    GROUPS.insert(Arc::new(group)).ok_or_else(|| Error::new(class::OTHER, "there are too many groups"))
}

impl Group {
    /// The group of these tasks; `me` is this process's.
    pub(crate) fn new(tasks: Vec<i32>, me: i32) -> Group {
        let own = tasks.iter().position(|&task| task == me);
        Group { tasks: OnceLock::from(Arc::from(tasks)), own, session: 0 }
    }

    /// The same, from a session.
    pub(crate) fn of_session(mut self, session: i32) -> Group {
        self.session = session;
        self
    }

    /// The handle of its session, or 0.
    pub(crate) fn session(&self) -> i32 {
        self.session
    }

    /// This process alone, which joins a machine when somebody asks for its task.
    pub(crate) fn alone() -> Group {
        Group { tasks: OnceLock::new(), own: Some(0), session: 0 }
    }

    /// The tasks for a plan. One alone sends nothing, so nobody looks at who it is.
    pub(crate) fn tasks_in_plan(&self) -> Arc<[i32]> {
        self.tasks.get().cloned().unwrap_or_else(|| Arc::new([0]))
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.tasks.get().map_or(1, |tasks| tasks.len())
    }

    #[inline]
    pub(crate) fn tasks(&self) -> &Arc<[i32]> {
        self.tasks.get_or_init(|| Arc::new([machine::me()]))
    }

    /// This process's rank, if it is a member.
    pub(crate) fn own(&self) -> Option<usize> {
        self.own
    }

    /// The rank of a task.
    pub(crate) fn rank_of(&self, task: i32) -> Option<usize> {
        // Ids are mostly given in a row.
        let guess = task.wrapping_sub(*self.tasks().first()?) as usize;
        match self.tasks().get(guess) {
            Some(&there) if there == task => Some(guess),
            _ => self.tasks().iter().position(|&there| there == task),
        }
    }

    /// All of them.
    pub(crate) fn include_all(&self) -> Group {
        Group { tasks: self.tasks.clone(), own: self.own, session: self.session }
    }

    fn with(&self, tasks: Vec<i32>) -> Group {
        match self.own.map(|own| self.tasks()[own]) {
            Some(me) => Group::new(tasks, me).of_session(self.session),
            None => Group { tasks: OnceLock::from(Arc::from(tasks)), own: None, session: self.session },
        }
    }

    /// Which of them, in the order of the ranks given.
    pub(crate) fn include(&self, ranks: &[i32]) -> Mpi<Group> {
        let places = self.places(ranks)?;
        Ok(self.with(places.iter().map(|&place| self.tasks()[place]).collect()))
    }

    /// All but those.
    pub(crate) fn exclude(&self, ranks: &[i32]) -> Mpi<Group> {
        let out: HashSet<usize> = self.places(ranks)?.into_iter().collect();
        let kept = self.tasks().iter().enumerate().filter(|(place, _)| !out.contains(place));
        Ok(self.with(kept.map(|(_, &task)| task).collect()))
    }

    /// The ranks as places: each of a member, and none twice.
    fn places(&self, ranks: &[i32]) -> Mpi<Vec<usize>> {
        let mut seen = HashSet::new();
        let place = |&rank: &i32| match usize::try_from(rank) {
            Ok(place) if place >= self.size() => {
                Err(Error::new(class::RANK, format!("rank {rank} of a group of {}", self.size())))
            }
            Ok(place) if seen.insert(place) => Ok(place),
            Ok(_) => Err(Error::new(class::RANK, format!("rank {rank} is named twice"))),
            Err(_) => Err(Error::new(class::RANK, format!("rank {rank} is negative"))),
        };
        ranks.iter().map(place).collect()
    }

    /// First all of this, then those of the other that are not among them.
    pub(crate) fn union(&self, other: &Group) -> Group {
        let here: HashSet<i32> = self.tasks().iter().copied().collect();
        let more = other.tasks().iter().filter(|task| !here.contains(task));
        let tasks = self.tasks().iter().chain(more).copied().collect();
        if self.own.is_some() { self.with(tasks) } else { other.with(tasks) }
    }

    /// Those of this that are in the other.
    pub(crate) fn intersection(&self, other: &Group) -> Group {
        let there: HashSet<i32> = other.tasks().iter().copied().collect();
        self.with(self.tasks().iter().copied().filter(|task| there.contains(task)).collect())
    }

    /// Those of this that are not in the other.
    pub(crate) fn difference(&self, other: &Group) -> Group {
        let there: HashSet<i32> = other.tasks().iter().copied().collect();
        self.with(self.tasks().iter().copied().filter(|task| !there.contains(task)).collect())
    }

    /// How alike two are: as `MPI_Group_compare` says it.
    pub(crate) fn compare(&self, other: &Group) -> i32 {
        if self.tasks() == other.tasks() {
            return IDENT;
        }
        let (here, there): (HashSet<_>, HashSet<_>) =
            (self.tasks().iter().collect(), other.tasks().iter().collect());
        if here == there { SIMILAR } else { UNEQUAL }
    }

    /// The ranks that members of this have in the other.
    pub(crate) fn translate(&self, rank: i32, other: &Group) -> Mpi<i32> {
        let place = self.places(&[rank])?[0];
        Ok(other.rank_of(self.tasks()[place]).map_or(UNDEFINED, |rank| rank as i32))
    }
}

/// The ranks of triples (first, last, stride).
pub(crate) fn ranks_of(ranges: &[[i32; 3]]) -> Mpi<Vec<i32>> {
    let mut ranks = Vec::new();
    for &[first, last, stride] in ranges {
        if stride == 0 || (last < first) != (stride < 0) && last != first {
            let text = format!("no ranks go from {first} to {last} by steps of {stride}");
            return Err(Error::new(class::ARG, text));
        }
        let (mut rank, last, stride) = (i64::from(first), i64::from(last), i64::from(stride));
        while if stride > 0 { rank <= last } else { rank >= last } {
            ranks.push(rank as i32);
            rank += stride;
        }
    }
    Ok(ranks)
}

/// How alike two communicators are, whose groups are so much alike.
pub(crate) fn as_communicators(groups: i32, same: bool) -> i32 {
    match groups {
        IDENT if !same => CONGRUENT,
        groups => groups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(tasks: &[i32]) -> Group {
        Group::new(tasks.to_vec(), 3)
    }

    #[test]
    fn group_operations_keep_order() {
        let (one, other) = (some(&[5, 3, 7]), some(&[7, 9, 5]));
        assert_eq!(one.union(&other).tasks()[..], [5, 3, 7, 9]);
        assert_eq!(one.intersection(&other).tasks()[..], [5, 7]);
        assert_eq!(one.difference(&other).tasks()[..], [3]);
        assert_eq!((one.own(), one.union(&other).own(), other.own()), (Some(1), Some(1), None));
        assert_eq!(other.union(&one).own(), Some(3));
        assert_eq!((one.compare(&some(&[7, 3, 5])), one.compare(&other)), (SIMILAR, UNEQUAL));
        assert_eq!(one.translate(0, &other), Ok(2));
        assert_eq!(one.translate(1, &other), Ok(UNDEFINED));
    }

    #[test]
    fn invalid_ranks_are_refused() {
        let group = some(&[5, 3, 7]);
        assert_eq!(group.include(&[2, 0]).expect("members").tasks()[..], [7, 5]);
        assert_eq!(group.exclude(&[1]).expect("members").tasks()[..], [5, 7]);
        for wrong in [&[3][..], &[-1], &[0, 0]] {
            assert_eq!(group.include(wrong).expect_err("none").code, class::RANK);
        }
        assert_eq!(ranks_of(&[[0, 4, 2], [3, 1, -1], [6, 6, 5]]), Ok(vec![0, 2, 4, 3, 2, 1, 6]));
        assert!(ranks_of(&[[0, 4, 0]]).is_err() && ranks_of(&[[0, 4, -1]]).is_err());
    }
}
