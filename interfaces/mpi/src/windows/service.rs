//! The service of this process, which answers what others ask of its windows and files while the program computes.

use crate::errors::{Error, Mpi, class};
use crate::files::places::{self, Deed};
use crate::process::this::Process;
use crate::windows::elements::{ElementOp, Work};
use crate::windows::questions::NUMBERS;
use crate::windows::serving::Exposed;
use parvum_datatypes::Basic;
use parvum_service::Service;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Questions come in this context of the second endpoint, answers in the next.
const CONTEXT: u32 = 0x7d69_0010;
/// The service, once it is open.
static SERVICE: Mutex<Option<Arc<Service>>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Arc<Service>>> {
    SERVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service of this process, from its first window on.
pub(crate) fn service(process: &Process) -> Mpi<Arc<Service>> {
    let mut service = lock();
    if let Some(service) = &*service {
        return Ok(service.clone());
    }
    let handler = Box::new(|_: i32, question: &[u8]| Some(answer(question)));
    let opened = Service::open(process.api, "MPI", CONTEXT, Some(handler));
    let opened = Arc::new(opened.map_err(|status| process.failed(status, None))?);
    *service = Some(opened.clone());
    Ok(opened)
}

/// Ends the service, if there is one.
pub(crate) fn end() {
    let service = lock().take();
    drop(service);
}

/// What is answered: 0 and what was wanted, or an error's class.
fn answer(question: &[u8]) -> Vec<u8> {
    let malformed = || Error::new(class::INTERN, "no question");
    let said = answered(question).unwrap_or_else(|| Err(malformed()));
    match said {
        Ok(bytes) => [&0_u32.to_le_bytes()[..], &bytes].concat(),
        Err(error) => error.class().to_le_bytes().to_vec(),
    }
}

fn answered(question: &[u8]) -> Option<Mpi<Vec<u8>>> {
    let (head, rest) = question.split_at_checked(4 * NUMBERS)?;
    let number = |place: usize| u32::from_le_bytes(head[4 * place..][..4].try_into().expect("four"));
    if let 7 | 8 = number(1) {
        let place = i64::from_le_bytes(rest.try_into().ok()?);
        let deed = if number(1) == 7 { Deed::Advance(place) } else { Deed::Set(place) };
        let closed = || Error::new(class::FILE, "the file was closed");
        let before = places::act(number(0), deed).unwrap_or_else(|| Err(closed()));
        return Some(before.map(|before| before.to_le_bytes().to_vec()));
    }
    let Some(exposed) = Exposed::of(number(0)) else {
        return Some(Err(Error::new(class::WIN, "no such window")));
    };
    let what = match number(1) {
        1 => return Some(Ok(vec![exposed.lock(number(2) != 0, number(3) as usize).into()])),
        2 => {
            exposed.unlock(number(2) != 0);
            return Some(Ok(Vec::new()));
        }
        3 => ElementOp::Put,
        4 => ElementOp::Get,
        5 => ElementOp::Combine(number(3) as i32),
        6 => ElementOp::Swap,
        _ => return None,
    };
    let basic = *Basic::ALL.get(number(4) as usize)?;
    let work = Work { what, basic, fetches: number(2) != 0 };
    let (runs, data) = rest.split_at_checked(number(5) as usize * 16)?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight"));
    let runs: Vec<_> = runs.chunks_exact(16).map(|run| (word(&run[..8]), word(&run[8..]))).collect();
    let mut said = exposed.work(&work, &runs, data);
    if let Ok(old) = &mut said
        && !work.fetches
    {
        old.clear();
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_window_questions_get_error_answer() {
        for question in [&[][..], &[0; 27], &[0xff; 28]] {
            assert_ne!(answer(question)[..4], [0; 4]);
        }
    }
}
