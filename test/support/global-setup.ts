import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensurePeer, PEER_VERSION } from "../conformance/peer-schema/peer-binary.ts";
import { writePeerSchemas } from "../conformance/peer-schema/peer-files.ts";
import { litteredFolder } from "./littered-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The folder with the Codex CLI's schemas, including experimental ones; null if the Codex CLI is not installed.
     */
    peerSchemas: string | null;
  }
}

/** Builds the program once, before any test starts, because scenarios run the built program. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const world = globalThis as { bobbinTestRun?: Promise<TestRun> };
  // Vitest calls this function for each of its projects.
  const isFirst = world.bobbinTestRun === undefined;
  world.bobbinTestRun ??= prepare();
  const { schemas, remove } = await world.bobbinTestRun;
  project.provide("peerSchemas", schemas);
  return async () => {
    if (isFirst) remove();
  };
}

interface TestRun {
  readonly schemas: string | null;
  remove(): void;
}

async function prepare(): Promise<TestRun> {
  // With BOBBIN_BIN, the suite tests another program, and nothing has to be built.
  if (process.env.BOBBIN_BIN === undefined) {
    execFileSync(process.execPath, ["scripts/prepare.mjs", "--no-install"], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
  const { folder, remove } = litteredFolder(tmpdir());
  process.env["TMPDIR"] = folder;
  // The boundary above which no test looks for anything.
  process.env["GIT_CEILING_DIRECTORIES"] = folder;
  await useEmptyHome(folder);
  return { schemas: await peerSchemas(await mkdtemp(join(folder, "bobbin-peer-schemas-"))), remove };
}

/**
 * Gives all tests an empty home folder. Commands run in login shells, and a real profile is slow, prints text, and
 * does not expect to be killed.
 */
async function useEmptyHome(folder: string): Promise<void> {
  const [before, home] = [homedir(), await mkdtemp(join(folder, "bobbin-user-home-"))];
  // Tests that install packages need the user's registry settings and cache.
  await copyFile(join(before, ".npmrc"), join(home, ".npmrc")).catch(() => {});
  process.env["npm_config_cache"] ??= join(before, ".npm");
  process.env["HOME"] = home;
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
