// Runs before each test file, also where test files share a worker and its modules.
import { afterAll } from "vitest";
import { endFile } from "./file-end.ts";
import { removeFreshFolders } from "./folder.ts";

afterAll(async () => {
  try {
    await endFile();
  } finally {
    await removeFreshFolders();
  }
});
