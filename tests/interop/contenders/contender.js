// node-redlock's side: contender.js JUDGE-PORT REDIS-PORT,... KEY LEASE-MS SLOT careful|careless.
"use strict";

const net = require("net");
const readline = require("readline");
const { setTimeout: sleep } = require("timers/promises");
const Redis = require("ioredis").default;
const { default: Redlock, Lock, ExecutionError } = require("redlock");
const { version } = require(require.resolve("redlock").replace(/dist.*/, "package.json"));

const [judgePort, redisPorts, key, leaseMs, slot, manner] = process.argv.slice(2);
const lease = Number(leaseMs);
// What clocks may differ by, and a millisecond each way for how Redis rounds.
const drift = BigInt(lease * 1e4 + 2e6);

const ports = redisPorts.split(",").map(Number);
// Of several servers one may fail. What is meant for it must not wait until it comes back, nor be waited for.
const several = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, commandTimeout: lease / 10 };
const clients = ports.map((port) => new Redis(port, ports.length > 1 ? several : {}));
if (ports.length > 1) for (const client of clients) client.on("error", () => {});
// The library takes the time before its first try; what counts is the one that succeeded. Each begins with the first server.
let sent;
const evalsha = clients[0].evalsha.bind(clients[0]);
clients[0].evalsha = (...words) => {
  sent = process.hrtime.bigint();
  return evalsha(...words);
};
const redlock = new Redlock(clients);
const until = () => sent + BigInt(lease) * 1000000n - drift;

const judge = net.connect(Number(judgePort), "127.0.0.1").setNoDelay();
const answers = readline.createInterface({ input: judge })[Symbol.asyncIterator]();

async function say(...words) {
  judge.write(words.join(" ") + "\n");
  const { value } = await answers.next();
  return value === undefined ? [] : value.split(" ");
}

// What careless processes do in place of giving back what is theirs, be it a hold or a part of one.
const free = () => Promise.allSettled(clients.map((client) => client.del(key)));

// It gives up after ten tries, which is not the end here. What it got on a minority of several servers it keeps from one try to
// the next, and so keeps everybody out; so each is made to be the last then, with the library's pauses in between.
async function acquire() {
  for (;;) {
    try {
      return await redlock.acquire([key], lease, ports.length > 1 ? { retryCount: 0 } : {});
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
    }
    if (manner === "careless") await free();
    if (ports.length > 1) await sleep(100 + 200 * Math.random());
  }
}

// Whether it was carried out; what is refused is not tried again.
async function attempt(what) {
  try {
    await what();
    return "released";
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    return "refused";
  }
}

async function release(lock) {
  if (manner === "careless") {
    await free();
    return "released";
  }
  return attempt(() => redlock.release(lock, { retryCount: 0 }));
}

const stale = async (what) => say("stale", await attempt(what));

async function holdOnce() {
  let lock = await acquire();
  // It reckons from before it waited, so that it would refuse by itself to extend what it has just got; and the server is
  // to refuse what comes too late.
  lock.expiration = Infinity;
  const [plan, us] = await say("enter", lock.value, until());
  const pause = Number(us) / 1000;
  if (plan === "late") await stale(() => redlock.extend(lock, lease, { retryCount: 0 }));
  if (plan === "extend") {
    for (let turn = 0; turn < 3; turn++) {
      await sleep(pause);
      const extended = await attempt(async () => {
        lock = await redlock.extend(lock, lease, { retryCount: 0 });
      });
      if (extended === "refused") break; // Lost on a slow machine; the release will say so, too.
      await say("extended", until());
    }
  } else {
    await sleep(pause);
  }
  await say("leave");
  await say(await release(lock));
  if (plan === "again") {
    await stale(() => redlock.release(lock, { retryCount: 0 }));
    const forged = new Lock(redlock, [key], "0".repeat(32), [], Infinity);
    await stale(() => redlock.release(forged, { retryCount: 0 }));
  }
}

async function main() {
  await say("hello", slot, version);
  while ((await say("ask"))[0] === "ok") {
    await holdOnce();
    await sleep(Number((await say("rest"))[1]) / 1000);
  }
  await Promise.allSettled(clients.map((client) => client.quit()));
  for (const client of clients) client.disconnect();
  judge.destroy();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
