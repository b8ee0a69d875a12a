/* Time on a machine that may have other work.
 *
 * A wall clock tells what a page takes as long as the machine has a core to spare. Where others compute beside the test
 * it tells what they take; then a page is judged by what does not depend on them: its bytes on the line, the questions
 * that wait for one another's answers, and its own processor time. That sum leaves out what the page spends on waiting
 * for nothing, so it counts only where the clock cannot. */
import { cpus } from "node:os";

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* The share of all cores that nobody used for a moment. */
async function idleShare(ms = 300) {
  const read = () =>
    cpus().reduce(
      ([idle, all], { times }) => {
        const sum = Object.values(times).reduce((a, b) => a + b);
        return [idle + times.idle, all + sum];
      },
      [0, 0],
    );
  const [idleBefore, allBefore] = read();
  await wait(ms);
  const [idle, all] = read();
  return (idle - idleBefore) / Math.max(1, all - allBefore);
}

/* What this process gets of a core when it wants all of one: less than 1 where a container's share is used up. */
function spinShare(ms = 100) {
  const before = process.cpuUsage();
  const started = performance.now();
  while (performance.now() - started < ms);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - started);
}

/* May a wall clock be believed? */
export const isQuiet = async () => spinShare() > 0.9 && (await idleShare()) > 0.7;

/* Follows what a page receives. `session`: a CDP session whose network domain is enabled here. */
export async function followLine(session) {
  const requests = new Map();
  const of = (id) => {
    if (!requests.has(id)) requests.set(id, { sent: Infinity, ended: Infinity, bytes: 0, whole: 0, endless: false });
    return requests.get(id);
  };
  session.on("Network.requestWillBeSent", (e) => {
    Object.assign(of(e.requestId), { sent: e.timestamp, endless: e.request.url.includes("/v1/stream") });
  });
  session.on("Network.responseReceived", (e) => (of(e.requestId).bytes += e.response.encodedDataLength));
  session.on("Network.dataReceived", (e) => {
    const r = of(e.requestId); /* of one that never finishes only the length of what it says is known */
    r.bytes += r.endless ? e.dataLength : e.encodedDataLength;
  });
  session.on("Network.loadingFinished", (e) => {
    Object.assign(of(e.requestId), { ended: e.timestamp, whole: e.encodedDataLength });
  });
  await session.send("Network.enable");
  return {
    bytes: () => [...requests.values()].reduce((sum, r) => sum + Math.max(r.bytes, r.whole), 0),
    /* The longest row of requests of which each was sent after the one before was answered. */
    trips() {
      const rows = [...requests.values()].sort((a, b) => a.sent - b.sent);
      const depth = [];
      rows.forEach((r, i) => {
        const before = rows.slice(0, i).map((q, k) => (q.ended <= r.sent ? depth[k] : 0));
        depth.push(1 + Math.max(0, ...before));
      });
      return Math.max(0, ...depth);
    },
  };
}

/* Processor time of the page's own thread. */
export async function processorOf(session) {
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () =>
    (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
}

/* Until nothing has come for a while: a busy machine takes longer to ask for everything. */
export async function untilStill(line, still_ms = 1500) {
  let [known, since] = [line.bytes(), Date.now()];
  while (Date.now() - since < still_ms) {
    await wait(100);
    if (line.bytes() !== known) [known, since] = [line.bytes(), Date.now()];
  }
}
