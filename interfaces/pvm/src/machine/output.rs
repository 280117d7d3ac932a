//! Output of other tasks that this one catches: `pvm_catchout`.

use crate::buffers::buffer::Buffer;
use crate::calls::CFile;
use crate::errors::Pvm;
use crate::machine::attend::{Attention, Run};
use crate::options;
use crate::state::Locked;
use parvum_wire::Tid;
use parvum_wire::control::{Reply, Request};
use std::collections::BTreeMap;

/// PVM's tag and context of output.
pub(crate) const TAG: i32 = 0x8003_0005_u32 as i32;
pub(crate) const CONTEXT: u32 = 0x7_ffff;

/// Prints what tasks write, line by line.
pub(crate) struct Catcher {
    file: CFile,
    handler: i32,
    /// The begun line of each task that may still write.
    tasks: BTreeMap<i32, Vec<u8>>,
}

impl Locked {
    /// Prints the output of tasks that this task spawns from now on; `None` ends this.
    pub(crate) fn catch_output(&mut self, file: Option<CFile>) -> Pvm<i32> {
        let me = self.me()?.tid;
        let Some(file) = file else {
            self.options().set_output(0, 0, 0);
            return Ok(0);
        };
        self.options().set_output(me, CONTEXT as i32, TAG);
        match &mut self.attention {
            Attention { catcher: Some(catcher), .. } => catcher.file = file,
            attention => {
                let from = Tid::LOCAL_DAEMON.0;
                let handler = attention.add(from, TAG, CONTEXT as i32, Run::CatchOutput)?;
                attention.catcher = Some(Catcher { file, handler, tasks: BTreeMap::new() });
            }
        }
        Ok(0)
    }

    /// Whether tasks may still write what is to be printed.
    pub(crate) fn awaits_output(&self) -> bool {
        self.attention.catcher.as_ref().is_some_and(|catcher| !catcher.tasks.is_empty())
    }

    /// Ends the output of tasks whose hosts are not in the machine any more.
    pub(crate) fn end_output_of_lost_hosts(&mut self) {
        let with_tids = self.options().get(options::SHOW_TIDS).is_ok_and(|show| show != 0);
        let Ok(Reply::Hosts(rows)) = self.ask(&Request::Hosts) else { return };
        let Some(catcher) = &mut self.attention.catcher else { return };
        let is_lost = |tid: &i32| !rows.iter().any(|host| host.tid.host() == Tid(*tid).host());
        let lost: Vec<i32> = catcher.tasks.keys().copied().filter(is_lost).collect();
        lost.into_iter().for_each(|tid| catcher.hear(tid, 0, &[], with_tids));
    }

    /// Prints the news in that buffer.
    pub(crate) fn show_output(&mut self, id: i32) {
        let with_tids = self.options().get(options::SHOW_TIDS).is_ok_and(|show| show != 0);
        let Ok(Buffer::Arrived(arrived)) = self.buffer(id) else { return };
        let bytes = crate::calls::bytes_of(&arrived.message).to_vec();
        let number = |at: usize| {
            let word = bytes.get(4 * at..)?.first_chunk()?;
            Some(i32::from_be_bytes(*word))
        };
        let (Some(tid), Some(kind)) = (number(0), number(1)) else { return };
        if let Some(catcher) = &mut self.attention.catcher {
            catcher.hear(tid, kind, bytes.get(8..).unwrap_or_default(), with_tids);
        }
    }

    /// Stops printing, when the task leaves the machine.
    pub(crate) fn forget_catcher(&mut self) {
        if let Some(catcher) = self.attention.catcher.take() {
            let _ = self.attention.remove(catcher.handler);
        }
    }
}

impl Catcher {
    fn hear(&mut self, tid: i32, kind: i32, data: &[u8], with_tids: bool) {
        let name = if with_tids { format!("[t{tid:x}] ") } else { String::new() };
        match kind {
            -2 => {
                self.tasks.entry(tid).or_default();
            }
            -1 => {
                self.tasks.entry(tid).or_default();
                if with_tids {
                    self.file.write(format!("{name}BEGIN\n").as_bytes());
                }
            }
            0 => {
                let rest = self.tasks.remove(&tid).unwrap_or_default();
                if !rest.is_empty() {
                    self.file.write(&[name.as_bytes(), &rest, b"\n"].concat());
                }
                if with_tids {
                    self.file.write(format!("{name}EOF\n").as_bytes());
                }
            }
            length => {
                let line = self.tasks.entry(tid).or_default();
                line.extend_from_slice(&data[..data.len().min(length.max(0) as usize)]);
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let whole: Vec<u8> = line.drain(..=end).collect();
                    self.file.write(&[name.as_bytes(), &whole].concat());
                }
            }
        }
    }
}
