// Runs before each test file, also where test files share a worker and its modules.
import fc from "fast-check";
import { afterAll } from "vitest";
import { endFile } from "./file-end.ts";
import { removeFreshFolders } from "./folder.ts";

// Without a seed, each run of `npx vitest` has its own.
const seed = process.env.BOBBIN_SEED;
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

afterAll(async () => {
  try {
    await endFile();
  } finally {
    await removeFreshFolders();
  }
});
