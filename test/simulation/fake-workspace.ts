import { dirname } from "node:path";
import type { WorkspaceFiles } from "../../packages/host/src/platform/platform.ts";
import type { FakeFiles } from "./fake-files.ts";

/**
 * Users' files on the simulated disk. A kill between two steps leaves each file old or new. Symlinks are not
 * simulated, and neither are empty folders.
 */
export function fakeWorkspace(files: FakeFiles): WorkspaceFiles {
  const refuse = (path: string): never => {
    throw Object.assign(new Error(`${path} may not be written`), { code: "EACCES" });
  };
  return {
    hold: async () => undefined,
    makeFolder: async () => false,
    removeFolder: async () => {},
    async read(path) {
      const text = await files.readText(path);
      return text === undefined ? undefined : { bytes: Buffer.from(text), mode: 0o644 };
    },
    async locate(path) {
      return { path, folder: { path: dirname(path), id: dirname(path) } };
    },
    async replace(path, bytes, { isAllowed }) {
      if (!isAllowed(path)) refuse(path);
      await files.replaceText(path, Buffer.from(bytes).toString());
      return undefined;
    },
    removeDrafts: async () => {},
    async remove(path, { isAllowed }) {
      if (!isAllowed(path)) refuse(path);
      await files.remove(path, { synced: true });
    },
  };
}
