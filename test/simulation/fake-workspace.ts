import type { WorkspaceFiles } from "../../packages/host/src/platform/platform.ts";
import type { FakeFiles } from "./fake-files.ts";

/** People's files on the simulated disk: a kill between two steps leaves each of them old or new. Links are not simulated. */
export function fakeWorkspace(files: FakeFiles): WorkspaceFiles {
  const refuse = (path: string): never => {
    throw Object.assign(new Error(`${path} may not be written`), { code: "EACCES" });
  };
  return {
    async read(path) {
      const text = await files.readText(path);
      return text === undefined ? undefined : { bytes: Buffer.from(text), mode: 0o644 };
    },
    async replace(path, bytes, { isAllowed }) {
      if (!isAllowed(path)) refuse(path);
      await files.replaceText(path, Buffer.from(bytes).toString());
    },
    async remove(path, { isAllowed }) {
      if (!isAllowed(path)) refuse(path);
      await files.remove(path, { synced: true });
    },
  };
}
