// What src/workload/contest.rs has its processes do, for node-redlock:
// node-redlock.js KEY URLS AS-SHIPPED TASKS WRITES HOLD-US THINK-US LASTS-US LEASE-US.
"use strict";

const { once } = require("events");
const Redis = require("ioredis").default;
const { default: Redlock, ExecutionError } = require("redlock");

const [key, urls, asShipped, , , hold, , lasts, lease] = process.argv.slice(2);
const clients = urls.split(",").map((url) => new Redis(url));
const [delay, jitter] = asShipped === "1" ? [200, 100] : [1, 1];
const redlock = new Redlock(clients, { retryCount: 0 });
const now = () => performance.now() * 1000;

// Node's timers know whole milliseconds only, and are late.
async function keepFor(us) {
  const end = now() + us;
  while (now() < end) await new Promise(setImmediate);
}

// What it got on a minority of the servers it gives back only when it gives up: with tries of its own, ten of them, those who
// meet keep each other out for a lease. So each try is one of ours, with its pauses in between.
async function acquire(end) {
  while (now() < end) {
    try {
      return await redlock.acquire([key], Number(lease) / 1000);
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
    }
    const pause = delay + (2 * Math.random() - 1) * jitter;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function compete() {
  const begun = now();
  const report = [];
  while (now() - begun < Number(lasts)) {
    const asked = now();
    const lock = await acquire(begun + Number(lasts));
    if (!lock) break;
    const granted = now();
    await keepFor(Number(hold));
    report.push(`write ${granted - asked}`, `hold ${now() - granted}`);
    if (granted - begun < Number(lasts)) report.push("in-time 1");
    try {
      await lock.release();
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
    }
  }
  return report;
}

async function main() {
  await Promise.all(clients.map((client) => client.ping()));
  process.stdout.write("ready\n");
  const [go] = await once(process.stdin, "data");
  if (String(go) === "go\n") {
    const before = process.cpuUsage();
    const report = await compete();
    const { user, system } = process.cpuUsage(before);
    report.push(`cpu ${user + system}`);
    // What does not fit into the pipe is lost if it ends before it is read.
    await new Promise((resolve) => process.stdout.write(report.join("\n") + "\n", resolve));
  }
  await redlock.quit();
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
