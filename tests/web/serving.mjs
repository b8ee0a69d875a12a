/* A headwater service with a river of its own and its readings, for the dashboard's tests. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CENTERLINE = {
  type: "Feature",
  properties: { from_m: -14000, to_m: 16000 },
  geometry: {
    type: "LineString",
    coordinates: [
      [7.0, 50.6],
      [7.08, 50.66],
      [7.05, 50.72],
      [7.15, 50.78],
      [7.22, 50.83],
    ],
  },
};

/* No detection limit: what is compared here is the screen with the program, not how limits are handled. */
const RIVER = `name: Demo River, Upper Weir to Harbour
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [2024-03-01T00:00:00Z, 2024-03-01T12:00:00Z]}
sensors:
  - {id: weir, location_m: 0, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}
  - {id: bridge, location_m: 8000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}
candidates:
  - {id: mill, name: Paper mill, location_m: -12000}
  - {id: works, name: "Galvanising <i>works</i> & Co", location_m: -5000}
intakes:
  - {id: town, name: Town intake, location_m: 15000, alarm_g_m3: 0.001}
centerline: line.geojson
`;

/* Seconds to ISO 8601 on the day of the spill. */
export const DAY_S = Date.parse("2024-03-01T00:00:00Z") / 1000;
const iso = (time_s) => new Date((DAY_S + time_s) * 1000).toISOString();

/* A small noise of its own, so that the quiet river is not a constant. */
function* noise() {
  for (let state = 12345; ;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 2147483648 - 0.5;
  }
}

/* 50 kg released 12 km above the first sensor one hour after midnight; a reading every five minutes. */
export function spill(last_s) {
  const [v, d, area, mass, place, start] = [1.2, 40, 60, 50000, -12000, 3600];
  const random = noise();
  const rows = ["time,sensor,concentration_g_m3"];
  for (let t = 0; t <= last_s; t += 300) {
    for (const [sensor, x] of [
      ["weir", 0],
      ["bridge", 8000],
    ]) {
      const age = t - start;
      const c =
        age > 0
          ? (mass / (area * Math.sqrt(4 * Math.PI * d * age))) * Math.exp(-((x - place - v * age) ** 2) / (4 * d * age))
          : 0;
      const value = c * (1 + 0.06 * random.next().value) + 2e-5 * random.next().value + 1e-5;
      rows.push(`${iso(t)},${sensor},${value.toPrecision(8)}`);
    }
  }
  return rows.join("\n") + "\n";
}

/* Quiet readings of one sensor only, for the other to fall silent beside. */
export function quiet(sensor, from_s, count) {
  const rows = ["time,sensor,concentration_g_m3"];
  for (let i = 0; i < count; i++)
    rows.push(`${iso(from_s + 300 * i)},${sensor},${(1e-5 + 1e-6 * (i % 3)).toPrecision(3)}`);
  return rows.join("\n") + "\n";
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Folder {
  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "headwater-web-"));
    this.river = this.write("river.yaml", RIVER);
    this.write("line.geojson", JSON.stringify(CENTERLINE));
  }
  write(name, text) {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }
  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/* A line of a token file. */
export const tokenLine = (token, role = "read") => `${role} ${createHash("sha256").update(token).digest("hex")}\n`;

export class Service {
  constructor(program, folder, port, options = []) {
    this.arguments = [
      "serve",
      `demo=${folder.river}`,
      "--listen",
      `127.0.0.1:${port}`,
      "--db",
      join(folder.path, "test.db"),
      ...options,
    ];
    this.program = program;
    this.address = `http://127.0.0.1:${port}`;
  }
  start() {
    this.process = spawn(this.program, this.arguments, { stdio: ["ignore", "pipe", "pipe"] });
    this.errors = "";
    this.process.stderr.on("data", (data) => (this.errors += data));
    return new Promise((resolve, reject) => {
      this.process.stdout.once("data", () => resolve(this));
      this.process.once("exit", (code) => reject(new Error(`the service ended with ${code}: ${this.errors}`)));
    });
  }
  stop(signal = "SIGTERM") {
    return new Promise((resolve) => {
      if (!this.process || this.process.exitCode !== null || this.process.signalCode) return resolve();
      this.process.once("exit", resolve);
      this.process.kill(signal);
    });
  }
  async get(path) {
    return (await fetch(this.address + path)).json();
  }
  async post(csv) {
    const answer = await fetch(`${this.address}/v1/readings?river=demo`, {
      method: "POST",
      headers: { "Content-Type": "text/csv" },
      body: csv,
    });
    return answer.json();
  }
}

export function identify(program, folder, csv) {
  const path = folder.write("shown.csv", csv);
  const run = spawnSync(program, ["identify", folder.river, path, "--format", "json"], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout);
}
