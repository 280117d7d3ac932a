//! Collectives on memory: the plans of `parvum-collectives`, executed with messages in a separate context.

use crate::objects::buffers::{Buffer, bytes_at, lent, room_at};
use crate::task::errors;
use crate::task::patience::{Looks, is_main_thread, until_signal};
use crate::task::process::{self, notes};
use parvum_api::{Buffering, Completion};
use parvum_api::{CoreApi, Notes, Pattern, SendTo, Status, TagKind, call};
use parvum_collectives::operators::{self, Kind, Operator};
use parvum_collectives::plans::{Area, Group as Place, Order, Plan, choose, in_a_row};
use parvum_collectives::{Combine, Exchange, Failure, Fault, Memory, none, run};
use pyo3::prelude::*;

/// The context of messages of groups; the tag of a group is computed from its members.
const CONTEXT: u32 = 0x7079_fff0;

/// An ordered set of tasks, which includes this one. The base of `parvum.Group`.
#[pyclass(subclass, frozen, module = "parvum._parvum", name = "Group")]
pub(crate) struct Group {
    tasks: Vec<i32>,
    own: usize,
    tag: i32,
}

#[pymethods]
impl Group {
    #[new]
    fn new(py: Python<'_>, tasks: Vec<i32>) -> PyResult<Group> {
        let (me, _) = process::identity(py)?;
        let Some(own) = tasks.iter().position(|&task| task == me) else {
            return Err(errors::bad_argument(py, "this task is not among the members"));
        };
        let mut sorted = tasks.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            return Err(errors::bad_argument(py, "a task is twice among the members"));
        }
        // FNV-1a: the same number on all members.
        let hash = tasks.iter().flat_map(|task| task.to_le_bytes());
        let hash = hash.fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Ok(Group { tasks, own, tag: (hash >> 1) as i32 })
    }

    /// The ids of the members, in order.
    fn _tasks(&self) -> Vec<i32> {
        self.tasks.clone()
    }

    /// This task's number among the members.
    #[getter]
    fn rank(&self) -> usize {
        self.own
    }

    /// The number of members.
    #[getter]
    fn size(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until all members have called it.
    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, &choose::barrier(self.place()), None, None, &mut none)
    }

    /// Copies the root's memory into every member's memory.
    fn _bcast(&self, py: Python<'_>, data: &Bound<'_, PyAny>, root: usize) -> PyResult<()> {
        let data = Buffer::writable(data)?;
        self.check(py, root)?;
        self.run(py, &choose::broadcast(self.place(), root, data.length()), None, Some(&data), &mut none)
    }

    /// Collects `mine` of all members in the root's `data`.
    fn _gather(
        &self,
        py: Python<'_>,
        mine: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
        root: usize,
    ) -> PyResult<()> {
        let mine = Buffer::of(mine)?;
        let data = data.map(Buffer::writable).transpose()?;
        self.check(py, root)?;
        self.run(
            py,
            &choose::gather(self.place(), root, mine.length()),
            Some(&mine),
            data.as_ref(),
            &mut none,
        )
    }

    /// Copies each member's part of the root's `mine` into its `data`.
    fn _scatter(
        &self,
        py: Python<'_>,
        mine: Option<&Bound<'_, PyAny>>,
        data: &Bound<'_, PyAny>,
        root: usize,
    ) -> PyResult<()> {
        let mine = mine.map(Buffer::of).transpose()?;
        let data = Buffer::writable(data)?;
        self.check(py, root)?;
        self.run(
            py,
            &choose::scatter(self.place(), root, data.length()),
            mine.as_ref(),
            Some(&data),
            &mut none,
        )
    }

    /// Collects `mine` of all members in every member's `data`.
    fn _allgather(&self, py: Python<'_>, mine: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let mine = Buffer::of(mine)?;
        let data = Buffer::writable(data)?;
        let parts = in_a_row(std::iter::repeat_n(mine.length(), self.tasks.len()));
        self.run(py, &choose::allgather(self.place(), &parts), Some(&mine), Some(&data), &mut none)
    }

    /// Copies each member's part of every `mine` into its `data`.
    fn _alltoall(&self, py: Python<'_>, mine: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let mine = Buffer::of(mine)?;
        let data = Buffer::writable(data)?;
        let plan = choose::alltoall(self.place(), mine.length() / self.tasks.len());
        self.run(py, &plan, Some(&mine), Some(&data), &mut none)
    }

    /// Combines all `data` at the root, or for `None` at every member. `operator` names an operator of the engine. Otherwise
    /// `combine` is called with two pieces of memory, and combines the second into the first. `item` is the size of an element in bytes.
    #[expect(clippy::too_many_arguments, reason = "they are named where a person calls it, in Python")]
    fn _reduce(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        root: Option<usize>,
        operator: &str,
        kind: &str,
        item: usize,
        combine: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let data = Buffer::writable(data)?;
        self.check(py, root.unwrap_or(0))?;
        let known = operator_of(operator).zip(kind_of(kind));
        let known = known.and_then(|(operator, kind)| {
            operators::combine(operator, kind).map(|combine| (combine, operators::order(operator, kind)))
        });
        let order = known.map_or(Order::Members, |known| known.1);
        let plan = match root {
            Some(root) => choose::reduce(self.place(), root, data.length(), item, order),
            None => choose::allreduce(self.place(), data.length(), item, order),
        };
        let Some(combine) = combine else {
            let Some((mut combine, _)) = known else {
                return Err(errors::bad_argument(py, format!("{operator} is not defined for {kind}")));
            };
            return self.run(py, &plan, None, Some(&data), &mut combine);
        };
        let mut raised = None;
        let mut by_python = |into: &mut [u8], with: &[u8]| {
            let combined = Python::attach(|py| {
                let views = (
                    lent(py, into.as_mut_ptr(), into.len())?,
                    lent(py, with.as_ptr().cast_mut(), with.len())?,
                );
                combine.call1(py, views).map(|_| ())
            });
            if let Err(why) = combined {
                raised.get_or_insert(why);
            }
        };
        let done = self.run(py, &plan, None, Some(&data), &mut by_python);
        raised.map_or(done, Err)
    }
}

/// A callback that may run without the interpreter's lock.
struct Free<'c>(Combine<'c>);

// SAFETY: only the thread that made it calls it.
unsafe impl Send for Free<'_> {}

impl Group {
    fn place(&self) -> Place {
        Place { own: self.own, size: self.tasks.len() }
    }

    fn check(&self, py: Python<'_>, root: usize) -> PyResult<()> {
        match root < self.tasks.len() {
            true => Ok(()),
            false => {
                Err(errors::bad_argument(py, format!("there is no member {root} of {}", self.tasks.len())))
            }
        }
    }

    fn run(
        &self,
        py: Python<'_>,
        plan: &Plan,
        mine: Option<&Buffer>,
        data: Option<&Buffer>,
        combine: Combine<'_>,
    ) -> PyResult<()> {
        let api = process::api(py)?;
        let dense = |buffer: &&Buffer| buffer.is_in_rows();
        if !mine.iter().all(dense) || !data.iter().all(dense) {
            return Err(errors::new(
                py,
                "WrongShape",
                "the items of the array do not lie one behind the other",
            ));
        }
        let mut talk = Talk { api, group: self, raised: None, looks: is_main_thread() };
        let mut scratch = vec![0; plan.needs(Area::Scratch)];
        let combine = Free(combine);
        let ended = process::outside(py, || {
            let combine = combine;
            // SAFETY: the buffers hold the memory. The program must not use the memory at the same time, as with any array.
            let (mine, data) = unsafe {
                let mine = mine.map_or(&[][..], |mine| bytes_at(mine.start(), mine.length()));
                (mine, data.map_or(&mut [][..], |data| room_at(data.start(), data.length())))
            };
            run(&mut talk, plan, Memory { mine, data, scratch: &mut scratch }, combine.0)
        });
        match ended {
            Ok(()) => Ok(()),
            Err(_) if talk.raised.is_some() => {
                Err(talk.raised.take().unwrap_or_else(|| errors::bad_argument(py, "")))
            }
            Err(Failure::Fault(Fault::Gone(member))) => {
                Err(errors::of(py, Status::Gone, self.tasks[member], String::new))
            }
            Err(Failure::Fault(Fault::Disagreed)) => {
                let cause = "the members do not agree on what they do, or how long it is";
                Err(errors::new(py, "WrongShape", cause))
            }
            Err(Failure::Engine(Status::BadArgument)) => Err(errors::new(
                py,
                "WrongShape",
                "an array is too short for this operation of so many members",
            )),
            Err(Failure::Engine(status)) => Err(errors::of(py, status, 0, || api.last_error())),
        }
    }
}

/// The messages of the members in one collective.
struct Talk<'g> {
    api: CoreApi,
    group: &'g Group,
    /// The exception of a signal handler during the collective.
    raised: Option<PyErr>,
    looks: bool,
}

impl Talk<'_> {
    fn notes(&self, member: usize) -> Notes {
        Notes { limit: -1, ..notes(call::WAIT, self.group.tasks[member], self.group.tag, CONTEXT) }
    }
}

impl Exchange for Talk<'_> {
    fn group(&self) -> Place {
        self.group.place()
    }

    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status> {
        let (tag, context) = (self.group.tag, CONTEXT);
        let how = SendTo {
            to: self.group.tasks[to],
            tag,
            context,
            meta: word,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        };
        self.api.send_one(how, data, &self.notes(to))
    }

    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        let (tags, context) = (TagKind::Exactly, CONTEXT.into());
        let pattern = Pattern { from: self.group.tasks[from], tags, tag: self.group.tag, other: 0, context };
        let mut looks = Looks::new();
        loop {
            let notes = match self.looks {
                true => Notes { limit: looks.next().as_nanos() as i64, ..until_signal(self.notes(from)) },
                false => self.notes(from),
            };
            let seen = self.api.receive_seen(&pattern, room, &notes, |came| (came.meta, came.length));
            match seen {
                Err(Status::Pending) => {}
                other => return other,
            }
            if let Err(why) = Python::attach(|py| py.check_signals()) {
                self.raised = Some(why);
                return Err(Status::Cancelled);
            }
        }
    }
}

/// The engine's operator for a ufunc with this name.
fn operator_of(name: &str) -> Option<Operator> {
    Some(match name {
        "add" => Operator::Sum,
        "multiply" => Operator::Product,
        "minimum" => Operator::Min,
        "maximum" => Operator::Max,
        "bitwise_and" => Operator::And,
        "bitwise_or" => Operator::Or,
        "bitwise_xor" => Operator::Xor,
        _ => return None,
    })
}

/// The element type for NumPy's name.
fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "i1" => Kind::I8,
        "u1" => Kind::U8,
        "i2" => Kind::I16,
        "u2" => Kind::U16,
        "i4" => Kind::I32,
        "u4" => Kind::U32,
        "i8" => Kind::I64,
        "u8" => Kind::U64,
        "f4" => Kind::F32,
        "f8" => Kind::F64,
        "c8" => Kind::Complex32,
        "c16" => Kind::Complex64,
        _ => return None,
    })
}
