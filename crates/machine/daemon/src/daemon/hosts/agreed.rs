//! The daemon's part in what the hosts agree on: hands changes to the agreement, and agreed ones to the machine.

use crate::daemon::hosts::network::Network;
use crate::daemon::shell::Shell;
use crate::state::{Change, Input};
use parvum_agreement::{Agreed, Agreement, Bytes, Keeper, Member, Settings, Standing};
use parvum_wire::control::{Between, Blob};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

/// So long a host that is out of the machine may take to hear it from those it agreed with.
const TO_PART: Duration = Duration::from_secs(5);

/// What the agreement sees of the daemon.
struct Desk(Weak<Shell>);

impl Desk {
    fn input(&self, input: Input<crate::daemon::tasks::io::Fd>) {
        if let Some(shell) = self.0.upgrade() {
            shell.input(input);
        }
    }

    fn log(&self, line: &str) {
        if let Some(shell) = self.0.upgrade() {
            shell.log.line(line);
        }
    }
}

impl Keeper for Desk {
    fn agreed(&self, Agreed { index, by, leader, change }: Agreed) {
        match postcard::from_bytes::<Change>(&change) {
            Ok(change) => self.input(Input::Agreed { by, leader, change: Box::new(change) }),
            Err(error) => self.log(&format!("change {index} cannot be read: {error}")),
        }
    }

    fn snapshot(&self) -> Vec<u8> {
        self.0.upgrade().map(|shell| shell.snapshot()).unwrap_or_default()
    }

    fn install(&self, snapshot: &[u8]) {
        self.input(Input::Install(snapshot.to_vec()));
    }

    fn send(&self, host: u32, bytes: Bytes) {
        if let Some(shell) = self.0.upgrade() {
            shell.say(host, Between::Agreement(Blob(bytes.into())));
        }
    }

    fn released(&self, Member { life, host }: Member) {
        if let Some(shell) = self.0.upgrade().filter(|shell| shell.identity().1 != life) {
            shell.forget_host(host, life);
        }
    }

    fn stands(&self, standing: Standing) {
        match standing {
            Standing::Leading => self.log("this host leads the machine"),
            Standing::Minority => {
                self.log("this host is of the smaller part of the machine: nothing can be changed")
            }
            Standing::Waiting | Standing::Following(_) => {}
        }
        self.input(Input::Stands(standing));
    }

    fn voters(&self, voters: Vec<Member>) {
        self.input(Input::Voters(voters.into_iter().map(|member| member.host).collect()));
    }

    fn failed(&self, why: String) {
        self.log(&format!("the agreement with other hosts has ended: {why}"));
        self.input(Input::Removed);
    }
}

impl Shell {
    /// Agrees with others from now on: the first host of a machine founds the agreement.
    pub(crate) fn start_to_agree(self: &Rc<Shell>, founds: bool) {
        let (host, life, _) = self.identity();
        let begin = if founds { Agreement::found } else { Agreement::join };
        let keeper = Rc::new(Desk(Rc::downgrade(self)));
        *self.agreement.borrow_mut() = Some(begin(Member { life, host }, keeper, Settings::default()));
        self.input(Input::Agreeing);
    }

    fn with_agreement(&self, tell: impl FnOnce(&Agreement)) {
        if let Some(agreement) = &*self.agreement.borrow() {
            tell(agreement);
        }
    }

    pub(crate) fn propose(&self, change: &Change) {
        match postcard::to_stdvec(change) {
            Ok(bytes) => self.with_agreement(|agreement| agreement.propose(bytes)),
            Err(error) => self.log.line(&format!("a change that cannot be written: {error}")),
        }
    }

    pub(crate) fn have_members(&self, members: Vec<Member>) {
        self.with_agreement(|agreement| agreement.members(members));
    }

    pub(crate) fn on_agreement(&self, host: u32, piece: Blob) {
        self.with_agreement(|agreement| agreement.heard(host, piece.0.into()));
    }

    /// A host does not answer any more.
    pub(crate) fn lose_host(self: &Rc<Shell>, host: u32) {
        self.with_agreement(|agreement| agreement.lost(host));
        // Both may come at once when this daemon did not run for a while: first how long that was.
        self.input(Input::Late(self.lateness.worst(Instant::now()).as_nanos() as u64));
        self.input(Input::HostLost(host));
    }

    /// A host is connected.
    pub(crate) fn find_host(self: &Rc<Shell>, host: u32) {
        self.with_agreement(|agreement| agreement.found_again(host));
        self.input(Input::HostFound(host));
    }

    /// A host is out of the table. It hears so when it need not vote any more, or has had time enough.
    pub(crate) fn part_with(self: &Rc<Shell>, host: u32, life: u64) {
        let shell = self.clone();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(TO_PART).await;
            shell.forget_host(host, life);
        });
    }

    /// Breaks with a life of a host that is out of the machine, and takes no word of it any more.
    pub(crate) fn forget_host(self: &Rc<Shell>, host: u32, life: u64) {
        let Some(network) = self.network() else { return };
        if self.record_of(host).is_none() {
            self.give_up_words(&network, host);
        }
        tokio::task::spawn_local(forget(network, host, life));
    }
}

async fn forget(network: Rc<Network>, host: u32, life: u64) {
    let is_it = |link: &parvum_mesh::LinkRow| link.host == host && link.incarnation <= life;
    if network.mesh.links().iter().any(is_it) {
        network.mesh.close(host, parvum_mesh::Farewell::Removed).await;
    }
    network.mesh.require(host, life + 1);
}
