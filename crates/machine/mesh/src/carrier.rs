//! The connection that carries a session: what its streams and messages know of it.

use quinn::Connection;
use tokio::sync::Notify;

pub(crate) struct Carrier {
    pub connection: Connection,
    wake: Notify,
}

impl Carrier {
    pub fn new(connection: Connection) -> Carrier {
        Carrier { connection, wake: Notify::new() }
    }

    /// The connection has ended.
    pub fn is_dead(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    /// It has something to write.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits until it has something to write.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }
}
