//! Seeing to channels that are lost or no longer needed.

use std::sync::Arc;
use std::time::Duration;

use super::hearing::PubSub;
use super::jobs::Job;
use crate::clock::{Instant, sleep, timeout};

/// How often to look without being told.
const INTERVAL: Duration = Duration::from_millis(250);

/// The least time between two looks: what fails at once is not tried at once for ever.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends with the store's tasks.
pub(super) async fn keep(pubsub: Arc<PubSub>) {
    let mut away = pubsub.env.home.is_left();
    loop {
        if pubsub.channels.is_empty() {
            pubsub.nudge.notified().await;
        } else {
            // Either way it is time.
            let _ = timeout(INTERVAL, pubsub.nudge.notified()).await;
        }
        let now_away = pubsub.env.home.is_left();
        if std::mem::replace(&mut away, now_away) != now_away {
            pubsub.start_over();
        }
        let chores = pubsub.channels.sweep(Instant::now());
        for (name, node, number) in chores.unsubscribe {
            pubsub.job(node, Job::Unsubscribe(name, number));
        }
        for (name, slot) in chores.subscribe {
            pubsub.subscribe(&name, slot);
        }
        sleep(PAUSE).await;
    }
}
