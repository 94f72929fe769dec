// Runs before each test file, also where test files share a worker and its modules.
import { afterAll } from "vitest";
import { removeFreshFolders } from "./folder.ts";

afterAll(removeFreshFolders);
