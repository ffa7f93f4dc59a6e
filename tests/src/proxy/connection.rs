//! One client's connection through the proxy.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

use super::{
    counters::increment,
    dialogue::{Dialogue, Next},
    kept::Kept,
    rules::{Leg, Rules, Weather},
    travelling::Travelling,
    users::Users,
};

/// Serves one client until either side or a rule closes the connection.
pub(crate) async fn serve(
    client: TcpStream,
    server: SocketAddr,
    rules: Arc<Rules>,
    users: &Users,
    storm: watch::Receiver<u64>,
) {
    let Ok(server) = TcpStream::connect(server).await else {
        return;
    };
    if client.set_nodelay(true).is_err() || server.set_nodelay(true).is_err() {
        return;
    }
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let connection = Connection {
        rules: watch::Sender::new(rules),
        users,
        dialogue: Mutex::default(),
    };
    let next = tokio::select! {
        next = connection.requests(&mut from_client, &mut to_server) => next,
        next = connection.replies(&mut from_server, &mut to_client) => next,
        () = connection.storm(storm.clone()) => Next::GoOn,
    };
    let rules = connection.rules();
    match next {
        Next::GoOn => {}
        Next::Cut => increment(&rules.count.cuts),
        Next::Keep(request) => rules.keep(Kept::new(from_server, to_server, request)),
        Next::Mute => {
            increment(&rules.count.cuts);
            tokio::select! {
                () = discard(from_client) => {}
                () = connection.storm(storm) => {}
            }
        }
    }
}

/// Reads until the other side closes.
async fn discard(mut from: OwnedReadHalf) {
    let mut bytes = [0; 512];
    while from.read(&mut bytes).await.is_ok_and(|len| len > 0) {}
}

struct Connection<'u> {
    /// Everybody's, or those of the user who has logged in.
    rules: watch::Sender<Arc<Rules>>,
    users: &'u Users,
    dialogue: Mutex<Dialogue>,
}

impl Connection<'_> {
    /// Returns why it ends; `GoOn` when either side has closed the connection.
    async fn requests(&self, from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf) -> Next {
        let mut input = Vec::new();
        let mut travelling = Travelling::default();
        let delay = || self.leg(|weather| weather.to_server).delay;
        while let Some(arrived) = travelling.next(from, delay).await {
            input.extend(arrived);
            self.wait_while_held(|weather| weather.to_server).await;
            let mut output = Vec::new();
            let rules = self.rules();
            let next = self.dialogue().requests(&rules, &mut input, &mut output);
            if to.write_all(&output).await.is_err() || next != Next::GoOn {
                return next;
            }
            if self.is_refused() {
                return Next::GoOn;
            }
        }
        Next::GoOn
    }

    async fn replies(&self, from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf) -> Next {
        let mut input = Vec::new();
        let mut travelling = Travelling::default();
        let delay = || self.leg(|weather| weather.to_client).delay;
        while let Some(arrived) = travelling.next(from, delay).await {
            input.extend(arrived);
            self.wait_while_held(|weather| weather.to_client).await;
            let mut output = Vec::new();
            let rules = self.rules();
            let next = self.dialogue().replies(&rules, &mut input, &mut output);
            if to.write_all(&output).await.is_err() || next != Next::GoOn {
                return next;
            }
        }
        Next::GoOn
    }

    /// What the rules say of one direction now; nothing of a replica's link.
    fn leg(&self, leg: impl Fn(&Weather) -> Leg) -> Leg {
        if self.dialogue().replicates() {
            return Leg::default();
        }
        leg(&self.rules().weather.borrow())
    }

    /// Returns once the rules do not hold this direction.
    async fn wait_while_held(&self, leg: impl Fn(&Weather) -> Leg) {
        if self.dialogue().replicates() {
            return;
        }
        let mut weather = self.rules().weather.subscribe();
        // It only fails when the proxy is gone, and then this task ends too.
        let _ = weather.wait_for(|weather| !leg(weather).held).await;
    }

    /// Returns when all clients' connections are to be closed; a replica's link goes on.
    async fn storm(&self, mut storm: watch::Receiver<u64>) {
        let mut rules = self.rules.subscribe();
        loop {
            tokio::select! {
                Ok(()) = storm.changed() => {
                    if !self.dialogue().replicates() {
                        return;
                    }
                }
                Ok(()) = rules.changed() => storm = rules.borrow_and_update().storm.subscribe(),
                // It only fails when the proxy is gone, and then this task ends too.
                else => return,
            }
        }
    }

    /// Goes by the rules of who has logged in; true if those refuse connections.
    fn is_refused(&self) -> bool {
        let user = self.dialogue().take_user();
        let Some(own) = user.and_then(|user| self.users.find(&user)) else {
            return false;
        };
        let refuses = own.weather.borrow().refuse;
        self.rules.send_replace(own);
        refuses
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.borrow())
    }

    fn dialogue(&self) -> MutexGuard<'_, Dialogue> {
        self.dialogue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
