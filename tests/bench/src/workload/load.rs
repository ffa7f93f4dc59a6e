//! What a client and its servers do while a workload is settled.

use std::time::{Duration, Instant};

use crate::{measure::client_cpu, server::Site, system::Kind};

/// Commands and seconds of CPU time, each per second.
pub(super) struct Load {
    /// The commands that clients of dlock send.
    pub(super) sent: f64,
    pub(super) scripts: f64,
    pub(super) client_cpu: f64,
    pub(super) server_cpu: f64,
}

impl Load {
    /// Measures from now on, for so long.
    pub(super) async fn measure(site: &Site, window: Duration) -> Self {
        let (start, client) = (Instant::now(), client_cpu());
        let (server, before) = (site.cpu().await, site.commands().await);
        tokio::time::sleep(window).await;
        let took = start.elapsed().as_secs_f64();
        let client_cpu = (client_cpu() - client) / took;
        let server_cpu = (site.cpu().await - server) / took;
        let commands = site.commands().await.since(&before);
        let (sent, _) = commands.sent_and_inside(Kind::Dlock);
        Self {
            sent: sent / took,
            scripts: commands.scripts() / took,
            client_cpu,
            server_cpu,
        }
    }
}
