import { basename, dirname, join } from "node:path";
import { isInAllowedFolders } from "../../packages/host/src/platform/allowed-folders.ts";
import type { FileSearchAccess } from "../../packages/host/src/platform/file-search-access.ts";
import type {
  Bounds,
  FileIdentity,
  FileKind,
  MachineFileAccess,
  PathHop,
  PathTrace,
} from "../../packages/host/src/platform/machine-file-access.ts";
import { fileError } from "./disk.ts";
import type { FakeFiles } from "./fake-files.ts";

/** Files that clients name, on the simulated disk, which has neither symlinks nor timestamps. */
export function fakeMachineFileAccess(files: FakeFiles): MachineFileAccess {
  const { disk } = files;
  const kindOf = (path: string): FileKind | undefined =>
    disk.isFolder(path) ? "folder" : disk.get(path) === undefined ? undefined : "file";
  const step = <T>(
    op: "read" | "list" | "exists" | "remove" | "replaceText",
    path: string,
    effect: () => T,
  ) => files.operate("machine files", op, path, effect);
  const check = (path: string, { isAllowed }: Bounds): void => {
    if (!isAllowed(path)) throw fileError("EOUTSIDE", "open", path);
  };
  const read = (path: string): Uint8Array => {
    const inode = disk.get(path);
    if (inode === undefined) throw fileError(disk.isFolder(path) ? "ENOTFILE" : "ENOENT", "open", path);
    return inode.bytes;
  };
  const write = (path: string, bytes: Uint8Array): void => {
    if (!disk.isFolder(dirname(path))) throw fileError("ENOENT", "open", path);
    disk.put(path, bytes);
  };
  const identity = (path: string): FileIdentity => {
    const id = disk.identity(path) ?? "gone";
    return { path, id, stamp: `${id} ${disk.text(path) ?? ""}` };
  };

  return {
    async read(path, maxBytes, bounds) {
      check(path, bounds);
      const bytes = await step("read", path, () => read(path));
      if (bytes.length > maxBytes) throw fileError("EFBIG", "read", path);
      return bytes;
    },
    async write(path, bytes, bounds) {
      check(path, bounds);
      await step("replaceText", path, () => write(path, bytes));
    },
    async makeFolder(path, _recursive, bounds) {
      check(path, bounds);
      await step("replaceText", path, () => disk.makeFolder(path));
    },
    async look(path, bounds) {
      check(path, bounds);
      const kind = await step("exists", path, () => kindOf(path));
      if (kind === undefined) throw fileError("ENOENT", "stat", path);
      return { kind, isLink: false, createdAt: 0, modifiedAt: 0 };
    },
    async list(path, maxEntries, bounds) {
      check(path, bounds);
      const entries = await step("list", path, () => disk.list(path));
      if (entries.length > maxEntries) throw fileError("ETOOMANY", "list", path);
      return entries.map(({ name, folder }) => ({ name, kind: folder ? "folder" : "file" }));
    },
    async remove(path, _recursive, bounds) {
      check(path, bounds);
      await step("remove", path, () => {
        if (kindOf(path) === undefined) throw fileError("ENOENT", "unlink", path);
        disk.remove(path, true);
      });
    },
    async copy(from, to, _recursive, bounds) {
      check(from, bounds);
      check(to, bounds);
      await step("read", from, () => write(to, read(from)));
    },
    trace: (path, { isAllowed }) =>
      step("exists", path, (): PathTrace => {
        const hops: PathHop[] = [];
        const names = path.split("/").filter((name) => name !== "");
        let at = "/";
        for (const [nth, name] of names.entries()) {
          if (!disk.isFolder(at)) return { hops, found: undefined };
          hops.push({ folder: identity(at), name, isLast: nth === names.length - 1 });
          at = join(at, name);
        }
        const kind = kindOf(at);
        return { hops, found: kind && isAllowed(at) ? { ...identity(at), kind } : undefined };
      }),
    watch(path, changed) {
      if (kindOf(path) === undefined) throw fileError("ENOENT", "watch", path);
      const stop = disk.watch(path, (name) => {
        const change =
          name === undefined ? ({ kind: "unsure" } as const) : ({ kind: "entry", name } as const);
        files.post("watches", `change of ${name ?? basename(path)}`, () => changed(change));
      });
      return { close: stop };
    },
  };
}

/** Folders as a search reads them. */
export function fakeFileSearchAccess(files: FakeFiles): FileSearchAccess {
  const { disk } = files;
  const step = <T>(op: "read" | "list" | "exists", path: string, effect: () => T): Promise<T> =>
    files.operate("search files", op, path, effect);
  return {
    userFolders: { home: "/home/user", config: "/home/user/.config" },
    list: (folder, places) =>
      step("list", folder, () =>
        isInAllowedFolders(folder, places)
          ? disk
              .list(folder)
              .map(({ name, folder: isFolder }) => ({ name, kind: isFolder ? "folder" : "file" }))
          : [],
      ),
    follow: (path, places) =>
      step("exists", path, () => {
        const isThere = disk.isFolder(path) || disk.get(path) !== undefined;
        return isThere && isInAllowedFolders(path, places)
          ? { real: path, isFolder: disk.isFolder(path) }
          : undefined;
      }),
    readText: (path, places) =>
      step("read", path, () => (isInAllowedFolders(path, places) ? disk.text(path) : undefined)),
  };
}
