// Installs the peer, which is the Codex CLI, into .cache/ on demand. Tests and benchmarks compare Bobbin with it. It is
// not a dependency, and everything that uses it also works without.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const PEER_VERSION = "0.166.0";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, ".cache", `peer-${PEER_VERSION}`);

/** Path of the peer's native binary, or undefined if it is not installed and cannot be. */
export async function ensurePeer({ install = true } = {}) {
  const found = nativeBinary();
  if (found || !install) return found;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  try {
    await promisify(execFile)(
      "npm",
      ["install", "--no-save", "--prefer-offline", `@openai/codex@${PEER_VERSION}`],
      {
        cwd: folder,
        timeout: 300_000,
      },
    );
  } catch {
    return undefined;
  }
  return nativeBinary();
}

function nativeBinary() {
  const triple = {
    "linux-x64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
  }[`${process.platform}-${process.arch}`];
  const path = join(
    folder,
    `node_modules/@openai/codex-${process.platform}-${process.arch}/vendor/${triple}/bin/codex`,
  );
  return triple && existsSync(path) ? path : undefined;
}
