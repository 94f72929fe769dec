// Installs the peer, which is the Codex CLI, into .cache/ on demand. Tests and benchmarks compare Bobbin with it. It is
// not a dependency, and everything that uses it also works without.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The pinned version, which the program itself reports. `BOBBIN_PEER_VERSION` makes tests use another one. */
export const PEER_VERSION =
  process.env.BOBBIN_PEER_VERSION ??
  /PEER_VERSION = "(.+)"/.exec(readFileSync(join(root, "packages/host/src/version.ts"), "utf8"))[1];

/** Path of the peer's native binary, or undefined if it is not installed and cannot be. */
export async function ensurePeer({ install = true, version = PEER_VERSION } = {}) {
  const folder = join(root, ".cache", `peer-${version}`);
  const found = nativeBinary(folder);
  if (found || !install) return found;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  try {
    await promisify(execFile)(
      "npm",
      ["install", "--no-save", "--prefer-offline", `@openai/codex@${version}`],
      {
        cwd: folder,
        timeout: 300_000,
      },
    );
  } catch {
    return undefined;
  }
  return nativeBinary(folder);
}

function nativeBinary(folder) {
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
