//! The trace mask: which events tasks are to tell of. This release keeps and shows the mask; it traces nothing yet.

use super::commands::printable;
use super::line::Words;
use super::{Console, Done, Next};

/// PVM's events, in the order of the alphabet; a star marks those that XPVM shows, and a console begins with.
const EVENTS: &str = "addhosts *addmhf archcode *barrier *bcast bufinfo catchout config delete delhosts delinfo \
    *delmhf *exit freebuf freecontext gather getcontext getfds getinfo getinst getmboxinfo getminfo getmwid getopt \
    getrbuf getsbuf gettid gettmask gsize halt hostsync initsend insert *joingroup *kill lookup *lvgroup *mcast *mhf_invoke \
    mkbuf mstat *mytid newcontext notify *nrecv packf *parent perror pkbyte pkcplx pkdcplx pkdouble pkfloat pkint pklong \
    pkshort pkstr pkuint pkulong pkushort *precv *probe *psend pstat putinfo *recv *recvf reduce reg_hoster reg_rm \
    reg_tasker reg_tracer scatter *send *sendsig setcontext setminfo setmwid setopt setrbuf setsbuf settmask *siblings \
    *spawn start_pvmd tasks tickle tidtohost *trecv unpackf upkbyte upkcplx upkdcplx upkdouble upkfloat upkint \
    upklong upkshort upkstr upkuint upkulong upkushort *user_defined version";

const COLUMNS: usize = 4;

/// What `trace opt` may be; PVM counts them from 1.
const AMOUNTS: [&str; 3] = ["full", "time", "count"];

fn events() -> impl Iterator<Item = (&'static str, bool)> {
    EVENTS.split_whitespace().map(|word| word.strip_prefix('*').map_or((word, false), |name| (name, true)))
}

/// The names of the events, and the words beside them.
pub fn names() -> impl Iterator<Item = &'static str> {
    events().map(|(name, _)| name).chain(["+", "-", "*", "xpvm", "buf", "opt"])
}

/// For each event, whether it is traced.
pub struct Trace(Vec<bool>);

impl Default for Trace {
    fn default() -> Trace {
        Trace(events().map(|(_, shown)| shown).collect())
    }
}

impl Trace {
    /// Sets or clears the named events; gives back the names that are none.
    fn change(&mut self, named: &[String], on: bool) -> Vec<String> {
        let mut unknown = Vec::new();
        for name in named {
            let short = name.strip_prefix("pvm_").unwrap_or(name);
            match events().position(|(known, _)| known == short) {
                Some(at) => self.0[at] = on,
                None if name == "*" => self.0.fill(on),
                None => unknown.push(name.clone()),
            }
        }
        unknown
    }

    /// The events with their marks, in columns.
    fn table(&self) -> Vec<String> {
        let cells: Vec<_> = events()
            .zip(&self.0)
            .map(|((name, _), on)| format!(" {} {name:<15}", if *on { '*' } else { ' ' }))
            .collect();
        let height = cells.len().div_ceil(COLUMNS);
        let row = |at| cells.iter().skip(at).step_by(height).cloned().collect::<Vec<_>>().join(" ");
        (0..height).map(row).collect()
    }
}

impl Console {
    pub(super) fn trace(&mut self, words: &Words) -> Done {
        let named: Vec<String> = words.texts().map(|word| word.into_owned()).collect();
        match (named.first().map(String::as_str), named.len()) {
            (None, _) => self.trace.table().iter().for_each(|row| self.screen.line(row)),
            (Some("xpvm"), 1) => self.trace = Trace::default(),
            (Some("buf"), 1 | 2) => self.trace_buffer(named.get(1)),
            (Some("opt"), 1 | 2) => self.trace_amount(named.get(1)),
            (Some(sign @ ("+" | "-")), _) => self.trace_events(&named[1..], sign == "+"),
            _ => self.trace_events(&named, true),
        }
        Ok(Next::Go)
    }

    fn trace_events(&mut self, named: &[String], on: bool) {
        for unknown in self.trace.change(named, on) {
            self.screen.line(&format!("no such event \"{}\"", printable(&unknown)));
            self.hint("`trace` lists the events");
        }
    }

    fn trace_buffer(&mut self, bytes: Option<&String>) {
        match bytes.map(|text| text.parse::<i32>()) {
            None => {
                let bytes = self.options.get("PvmTraceBuffer").unwrap_or(0);
                self.screen.text(&format!("\nTrace Buffering set to {bytes} bytes\n\n"));
            }
            Some(Ok(bytes)) if bytes >= 0 => self.options.put("PvmTraceBuffer", bytes),
            Some(_) => self.hint("trace buf wants a number of bytes"),
        }
    }

    fn trace_amount(&mut self, amount: Option<&String>) {
        match amount {
            None => {
                let at = self.options.get("PvmTraceOptions").unwrap_or(1);
                let amount = AMOUNTS.get((at - 1).max(0) as usize).unwrap_or(&AMOUNTS[0]);
                self.screen.text(&format!("\nTrace Options set to \"{amount}\"\n\n"));
            }
            Some(amount) => match AMOUNTS.iter().position(|known| known == amount) {
                Some(at) => self.options.put("PvmTraceOptions", at as i32 + 1),
                None => {
                    let amount = printable(amount);
                    self.screen.text(&format!("\nError:  Unknown Trace Option \"{amount}\"\n\n"));
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn trace_events_are_set_and_cleared_by_name() {
        let mut trace = Trace::default();
        assert!(trace.change(&names("bufinfo pvm_config"), true).is_empty());
        assert_eq!(trace.change(&names("bufinfos send -x"), false), ["bufinfos", "-x"]);
        let at = |name| events().position(|(known, _)| known == name).expect("it is one");
        assert!(
            trace.0[at("bufinfo")] && trace.0[at("config")] && !trace.0[at("send")] && trace.0[at("recv")]
        );
        trace.change(&names("*"), true);
        assert!(trace.0.iter().all(|on| *on));
        trace.change(&names("*"), false);
        assert!(!trace.0.iter().any(|on| *on));
    }

    #[test]
    fn trace_table_has_layout_of_pvm() {
        let table = Trace::default().table();
        assert_eq!(table.len(), 26);
        assert_eq!(table[0], "   addhosts           gettid             pkfloat            setopt         ");
        assert_eq!(table[1], " * addmhf             gettmask           pkint              setrbuf        ");
    }
}
