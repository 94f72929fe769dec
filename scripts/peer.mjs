// Compares two versions of the Codex CLI: what the next version of the protocol needs.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensurePeer, PEER_VERSION } from "./install-peer.mjs";
import { notePeerLeftovers } from "./peer-leftovers.mjs";
import { differingCases, orderDifferences } from "./peer-orders.mjs";
import { schemaDifferences, schemaLines } from "./peer-schemas.mjs";

const USAGE = `usage: npm run peer -- diff [--orders] OLD NEW

Lists what differs between two versions of the Codex CLI, for example 0.166.0 and 0.169.0 (${PEER_VERSION} is pinned).
Both are installed into .cache/ if they are not there.

  --orders   also play the recorded cases of test/scenario/recorded against both versions, and list the cases whose
             order differs, or that cannot be played; takes some minutes

Lines: + is only in NEW, - only in OLD. A case with ~ has no fixed order, one with ? ends otherwise than recorded in both.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { orders: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
const [command, ...versions] = positionals;
if (values.help) {
  process.stdout.write(USAGE);
} else if (command !== "diff" || versions.length !== 2) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const binaries = [];
  for (const version of versions) binaries.push(await binaryOf(version));
  const [before, after] = binaries.map(schemaLines);
  print("Methods, fields, values and features", schemaDifferences(before, after));
  if (values.orders) {
    process.on("exit", notePeerLeftovers());
    const orders = [];
    for (const version of versions) orders.push(await ordersOf(version));
    const differing = differingCases(orders[0], orders[1]);
    const again = [];
    for (const version of versions)
      again.push(differing.length === 0 ? {} : await ordersOf(version, differing));
    print("Recorded cases", orderDifferences(orders[0], orders[1], [again[0], again[1]]));
  }
}

/** @param {string} title @param {readonly string[]} lines */
function print(title, lines) {
  process.stdout.write(`${title}\n${lines.length === 0 ? "  no difference" : lines.join("\n")}\n\n`);
}

/** @param {string} version */
async function binaryOf(version) {
  process.stderr.write(`Looking at the Codex CLI ${version} …\n`);
  const binary = await ensurePeer({ version });
  if (binary !== undefined) return binary;
  throw new Error(`npm cannot install @openai/codex@${version}: is there such a version, and a network?`);
}

/** Plays the recorded cases. @param {string} version @param {string[]} [names] only these */
async function ordersOf(version, names) {
  process.stderr.write(`Playing ${names?.length ?? "the"} recorded cases with ${version} …\n`);
  const folder = mkdtempSync(join(tmpdir(), "bobbin-peer-orders-"));
  const file = join(folder, "orders.json");
  try {
    const output = await vitest("test/long/peer-orders.test.ts", {
      BOBBIN_PEER_VERSION: version,
      BOBBIN_PEER_ORDERS: file,
      ...(names && { BOBBIN_PEER_CASES: names.join(" ") }),
    });
    // The run fails, too, if a frame violates the schemas of its own version; the orders are there all the same.
    if (!existsSync(file)) throw new Error(`the cases did not run to their end:\n${output}`);
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} test @param {Record<string, string>} env @returns {Promise<string>} what it wrote */
function vitest(test, env) {
  const program = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, "run", test], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
