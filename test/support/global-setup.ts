import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensurePeer, PEER_VERSION } from "../conformance/peer-schema/peer-binary.ts";
import { writePeerSchemas } from "../conformance/peer-schema/peer-files.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the peer's schemas (experimental ones included) are, or null when the peer is not here. */
    peerSchemas: string | null;
  }
}

/** Builds the program once, before any test starts: scenarios run it as people do. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // With BOBBIN_BIN the suite tests a program that is elsewhere, and there is nothing to build.
  if (process.env.BOBBIN_BIN === undefined) {
    execFileSync(process.execPath, ["scripts/prepare.mjs", "--no-install"], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
  const folder = await mkdtemp(join(tmpdir(), "bobbin-peer-schemas-"));
  project.provide("peerSchemas", await peerSchemas(folder));
  return () => rm(folder, { recursive: true, force: true });
}

async function peerSchemas(folder: string): Promise<string | null> {
  const binary = await ensurePeer();
  if (binary !== undefined) {
    writePeerSchemas(binary, folder, { experimental: true });
    return folder;
  }
  if (process.env.BOBBIN_REQUIRE_PEER === "1") throw new Error(`the peer ${PEER_VERSION} is not here`);
  process.stderr.write(
    `skipped: schema conformance, of the table and of every frame, because the peer ${PEER_VERSION} is not here\n`,
  );
  return null;
}
