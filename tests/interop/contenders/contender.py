"""redis-py's side: contender.py JUDGE-PORT REDIS-PORT KEY LEASE-MS SLOT careful|careless."""

import socket
import sys
import time

import redis
from redis.exceptions import LockError, LockNotOwnedError
from redis.lock import Lock

judge_port, redis_port, key, lease_ms, slot, manner = sys.argv[1:]
lease = int(lease_ms) / 1000
# What clocks may differ by, and a millisecond each way for how Redis rounds.
drift_ns = int(lease * 1e9 / 100) + 2_000_000


class TimedLock(Lock):
    """Knows when the try was sent that succeeded."""

    def do_acquire(self, token):
        self.sent = time.monotonic_ns()
        return super().do_acquire(token)


judge = socket.create_connection(("127.0.0.1", int(judge_port)))
judge.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
answers = judge.makefile()


def say(*words):
    judge.sendall((" ".join(map(str, words)) + "\n").encode())
    return answers.readline().split()


def until(sent):
    return sent + int(lease * 1e9) - drift_ns


def extend(lock, turn):
    """Extends in one of the two ways; returns until when the hold is certain."""
    sent = time.monotonic_ns()
    if turn % 2:
        lock.reacquire()
    else:
        lock.extend(lease, replace_ttl=True)
    return until(sent)


def refused(attempt):
    """What came of changing what one does not have."""
    try:
        attempt()
    except LockNotOwnedError:
        say("stale", "refused")
    else:
        say("stale", "released")


def release(lock):
    if manner == "careless":
        lock.redis.delete(key)
        return "released"
    try:
        lock.release()
    except LockNotOwnedError:
        return "refused"
    return "released"


def hold_once(lock):
    lock.acquire()
    token = lock.local.token
    plan, us = say("enter", token.decode(), until(lock.sent))
    pause = int(us) / 1e6
    if plan == "late":
        refused(lock.reacquire)
    if plan == "extend":
        try:
            for turn in range(3):
                time.sleep(pause)
                say("extended", extend(lock, turn))
        except LockError:
            pass  # Lost on a slow machine; the release will say so, too.
    else:
        time.sleep(pause)
    say("leave")
    say(release(lock))
    if plan == "again":
        refused(lambda: lock.do_release(token))
        refused(lambda: lock.do_release(b"0" * 32))


client = redis.Redis(port=int(redis_port))
lock = TimedLock(client, key, timeout=lease)
say("hello", slot, redis.__version__)
while say("ask") == ["ok"]:
    hold_once(lock)
    time.sleep(int(say("rest")[1]) / 1e6)
