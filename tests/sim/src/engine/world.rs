//! What the client sees of the engine.

use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use dlock::sim::{Task, World};

use super::Random;
use super::core::Engine;
use super::network::Parcel;
use super::stream::State;

impl World for Engine {
    fn instant(&self) -> Duration {
        let clock = self.processes.borrow()[self.current().0].clock;
        Duration::from_nanos(clock.instant(self.now()))
    }

    fn boot(&self) -> Duration {
        let clock = self.processes.borrow()[self.current().0].clock;
        Duration::from_nanos(clock.boot(self.now()))
    }

    fn random(&self) -> u64 {
        self.processes.borrow_mut()[self.current().0].random.any()
    }

    fn spawn(&self, task: Task) -> u64 {
        let of = self.current();
        if self.is_alive(of) {
            return self.spawn_in(of, task);
        }
        0
    }

    fn abort(&self, task: u64) {
        let aborted = self.tasks.borrow_mut().abort(task);
        drop(aborted);
    }

    fn set_timer(&self, at: Duration, waker: &Waker) -> u64 {
        let clock = self.processes.borrow()[self.current().0].clock;
        let at = clock.world(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        self.timers.borrow_mut().set(at, waker.clone())
    }

    fn clear_timer(&self, timer: u64) {
        let waker = self.timers.borrow_mut().clear(timer);
        drop(waker);
    }

    fn connect(&self, host: &str, port: u16) -> u64 {
        let of = self.current();
        let node = self.fleet(|fleet| fleet.node_at(host, port));
        let Some(node) = node.filter(|_| self.is_alive(of)) else {
            return 0;
        };
        let number = self.processes.borrow_mut()[of.0].random.any();
        let random = Random::of(self.seed, "stream", number);
        let stream = self.net.borrow_mut().streams.open(of, node, random);
        self.send_up(stream, Parcel::Open(stream));
        stream
    }

    fn poll_connected(&self, stream: u64, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut net = self.net.borrow_mut();
        match net.streams.get(stream) {
            Some(one) if one.state == State::Opening => {
                one.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(one) if one.state == State::Open => Poll::Ready(Ok(())),
            _ => Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
        }
    }

    fn poll_read(
        &self,
        stream: u64,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<io::Result<Vec<u8>>> {
        let mut net = self.net.borrow_mut();
        let Some(one) = net.streams.get(stream) else {
            return Poll::Ready(Ok(Vec::new()));
        };
        if !one.inbox.is_empty() {
            let most = most.min(one.inbox.len());
            let rest = one.inbox.split_off(most);
            return Poll::Ready(Ok(std::mem::replace(&mut one.inbox, rest)));
        }
        match one.state {
            State::Open => {
                one.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            State::Ended => Poll::Ready(Ok(Vec::new())),
            State::Opening | State::Refused | State::Reset => {
                Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
            }
        }
    }

    fn write(&self, stream: u64, bytes: &[u8]) -> io::Result<()> {
        let open = {
            let mut net = self.net.borrow_mut();
            let one = net.streams.get(stream);
            one.is_some_and(|one| one.state == State::Open && !one.hung_up)
        };
        if !open {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.send_up(stream, Parcel::Request(stream, bytes.to_vec()));
        Ok(())
    }

    fn close(&self, stream: u64) {
        self.hang_up(stream);
    }
}
