#!/usr/bin/env node
// Runs the benchmarks: the same work on Bobbin ("ours"), the Codex CLI ("peer") and a minimal Node program ("floor").
import { readdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { ensurePeer, PEER_VERSION } from "../scripts/install-peer.mjs";
import { lockMachine } from "../scripts/machine-lock.mjs";
import { cleanUpAtExit } from "./lib/cleanup.mjs";
import { result } from "./lib/result.mjs";
import { notes, table } from "./lib/result-table.mjs";
import { commandOf, Subject } from "./lib/subjects.mjs";

/**
 * @typedef {object} Context
 * @property {(...names: ("ours" | "peer" | "floor")[]) => Subject[]} subjects the named subjects, without the peer if it is not available
 * @property {number} [runs] the option --runs
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

const help = `Measures Bobbin, the Codex CLI (the "peer") and a minimal Node program (the "floor") on the same work.

Usage: npm run bench -- [NAMES…] [options]
       node bench/run.mjs [NAMES…] [options]

Measures (default: all):
${measures.map(({ name, about }) => `  ${name.padEnd(18)}${about}`).join("\n")}

Options:
  --runs N      number of samples (clients for ws-churn), instead of each measure's default
  --ours CMD    server command to measure      (default: node bin/bobbin app-server)
  --peer CMD    server command to compare with (default: the pinned Codex CLI, installed on demand)
  --no-peer     measure without the peer
  --json FILE   write all results to FILE
  --check       exit with code 1 if a bar is missed
  --help        print this text

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
  const present = await ensurePeer({ install: false });
  if (!present)
    console.error(`Installing the Codex CLI ${PEER_VERSION} into .cache/, which takes a minute …`);
  const binary = present ?? (await ensurePeer());
  if (!binary)
    console.error("The Codex CLI is not installed and cannot be installed: measuring without the peer.");
  return binary ? new Subject("peer", [binary, "app-server"]) : undefined;
}

async function main() {
  const args = readArguments();
  if (args.help) return console.log(help);
  await lockMachine(`npm run bench ${args.names.join(" ")}`.trimEnd());
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
    step(`measuring ${one.name} …`);
    const taken = await take(one, {
      subjects: (...names) => names.flatMap((name) => present[name] ?? []),
      ...(args.runs && { runs: Number(args.runs) }),
      onRound: (round, of) => progress(`${one.name} ${round}/${of}`),
    });
    progress("");
    results.push(...taken);
    if (taken.length === 0) console.error(`${one.name} cannot be measured on this system, and is skipped.`);
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
 * Runs one measure. An error counts as a missed bar, so that the other measures still run.
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

/** A line for those who look at a file or a pipe, where nothing would show for minutes. @param {string} text */
function step(text) {
  if (!process.stderr.isTTY) process.stderr.write(`${text}\n`);
}

await main();
