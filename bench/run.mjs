#!/usr/bin/env node
// Measures a server command beside the peer's and the floor's, on the same work, in the same run.
import { readdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { ensurePeer } from "../scripts/peer.mjs";
import { cleanUpAtExit } from "./lib/cleanup.mjs";
import { result } from "./lib/result.mjs";
import { commandOf, Subject } from "./lib/subjects.mjs";
import { notes, table } from "./lib/table.mjs";

/**
 * @typedef {object} Context
 * @property {(...names: ("ours" | "peer" | "floor")[]) => Subject[]} subjects those of them that take part in this run
 * @property {number} [runs] asked for on the command line
 * @property {(round: number, of: number) => void} onRound
 */
/** @typedef {(context: Context) => Promise<import("./lib/result.mjs").Result | import("./lib/result.mjs").Result[]>} Measure */

const folder = new URL("./measures/", import.meta.url);
/** @type {{ name: string, about: string, measure: Measure }[]} */
const measures = await Promise.all(
  readdirSync(folder)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => import(new URL(file, folder).href)),
);

const help = `Measures Bobbin beside its peer and beside an empty Node program, on the same work.

Usage: npm run bench -- [NAMES…] [options]
       node bench/run.mjs [NAMES…] [options]

Measures (all, if none is named):
${measures.map(({ name, about }) => `  ${name.padEnd(16)}${about}`).join("\n")}

Options:
  --runs N      samples (clients for ws-churn) instead of each measure's own number
  --ours CMD    server command to measure      (default: node bin/bobbin app-server)
  --peer CMD    server command to compare with (default: the pinned peer, installed on demand)
  --no-peer     go without the peer
  --json FILE   write everything that was measured to FILE
  --check       exit with 1 if a bar is missed
  --help        this text

Examples:
  npm run bench -- cold-start rpc-roundtrip
  npm run bench -- --check --json bench.json
  npm run bench -- --ours "node dist/other.js app-server" --no-peer
`;

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(`${message}\nTry --help.`);
  process.exit(2);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: "string" },
        ours: { type: "string", default: "node bin/bobbin app-server" },
        peer: { type: "string" },
        "no-peer": { type: "boolean", default: false },
        json: { type: "string" },
        check: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const unknown = positionals.filter((name) => !measures.some((one) => one.name === name));
    if (unknown.length > 0) {
      refuse(
        `No measure is called ${unknown.join(", ")}. There are: ${measures.map((m) => m.name).join(", ")}.`,
      );
    }
    if (values.runs !== undefined && !/^[1-9]\d{0,5}$/.test(values.runs)) {
      refuse(`--runs takes a whole number from 1 to 999999, not "${values.runs}".`);
    }
    return { ...values, names: positionals };
  } catch (error) {
    return refuse(/** @type {Error} */ (error).message);
  }
}

/** @param {ReturnType<typeof readArguments>} args */
async function findPeer(args) {
  if (args["no-peer"]) return undefined;
  if (args.peer) return new Subject("peer", commandOf(args.peer));
  const binary = await ensurePeer();
  if (!binary) console.error("The peer is not here and can not be installed: measuring without it.");
  return binary ? new Subject("peer", [binary, "app-server"]) : undefined;
}

async function main() {
  const args = readArguments();
  if (args.help) return console.log(help);
  cleanUpAtExit();

  const ours = new Subject("ours", commandOf(args.ours));
  const peer = await findPeer(args);
  const floor = new Subject("floor", commandOf("node bench/floor.mjs"));
  const present = { ours, peer, floor };
  const facts = {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    ours: await ours.version(),
    peer: peer ? await peer.version() : "none",
    load: Number(loadavg()[0].toFixed(2)),
  };
  console.log(
    `${facts.cores} cores (${facts.cpu}), ${facts.platform}, Node ${facts.node}, load ${facts.load}`,
  );
  console.log(`ours: ${facts.ours}; peer: ${facts.peer}\n`);

  /** @type {import("./lib/result.mjs").Result[]} */
  const results = [];
  for (const one of measures) {
    if (args.names.length > 0 && !args.names.includes(one.name)) continue;
    const taken = await take(one, {
      subjects: (...names) => names.flatMap((name) => present[name] ?? []),
      ...(args.runs && { runs: Number(args.runs) }),
      onRound: (round, of) => progress(`${one.name} ${round}/${of}`),
    });
    progress("");
    results.push(...taken);
    if (taken.length === 0) console.error(`${one.name}: can not be measured on this system, left out.`);
  }

  console.log(table(results));
  const remarks = notes(results);
  if (remarks.length > 0) console.log(`\n${remarks.join("\n")}`);
  if (args.json) writeFileSync(args.json, `${JSON.stringify({ facts, results }, null, 2)}\n`);
  const missed = results.filter((one) => one.pass === false).map((one) => one.name);
  if (args.check && missed.length > 0) {
    console.error(`\nBars missed: ${missed.join(", ")}.`);
    process.exitCode = 1;
  }
}

/**
 * A measure that breaks is a bar missed, and no reason to lose the others.
 * @param {{ name: string, measure: Measure }} one
 * @param {Context} context
 */
async function take(one, context) {
  try {
    return [await one.measure(context)].flat();
  } catch (error) {
    const samples = { ours: { error: /** @type {Error} */ (error).message } };
    return [result({ name: one.name, unit: "", samples })];
  }
}

/** @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

await main();
