import { dirname, isAbsolute, resolve } from "node:path";
import type { FsReadDirectoryResponse, FsReadFileResponse } from "@bobbin/protocol";
import { Encoded, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { fault } from "../../errors.ts";
import { isInAllowedFolders } from "../../platform/allowed-folders.ts";
import type { Bounds, ListedFile } from "../../platform/machine-file-access.ts";
import type { Connection } from "../connection.ts";
import { fileFault } from "../file-faults.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import type { Reach } from "../owner-access.ts";

/** Limit on a file's size: its base64 encoding must fit into one message. */
const MAX_FILE_BYTES = Math.floor((MAX_MESSAGE_BYTES - 64 * 1024) / 4) * 3;
const MAX_ENTRIES = 50_000;

/** Handlers of `fs/*`: files that a client reads, changes and watches by itself, outside of any thread and sandbox. */
export function fsHandlers(context: HandlerContext): MethodHandlers {
  const { clientFiles, clientWatches } = context;
  const { machineFileAccess } = context.platform;
  /**
   * Runs `work` on the request's paths, after checking that the client may access them. A symlink in a parameter
   * listed in `links` is not followed.
   */
  const on = async <T>(
    connection: Connection,
    paths: Readonly<Record<string, string>>,
    work: (bounds: Bounds, ...paths: string[]) => Promise<T>,
    links: readonly string[] = [],
  ): Promise<T> => {
    const reach = reachOf(context, connection);
    const named = Object.entries(paths).map(([name, path]) => [name, absolute(name, path)] as const);
    for (const [name, path] of named)
      if (!links.includes(name) || !(await isInReach(reach, dirname(path))))
        await reach.checkPath(name, path);
    const places = await reach.places();
    const isAllowed = (realPath: string): boolean => isInAllowedFolders(realPath, places);
    try {
      return await clientFiles.run(connection, isAllowed, (bounds) =>
        work(bounds, ...named.map(([, path]) => path)),
      );
    } catch (cause) {
      // It is unknown which of the paths failed. The error names the first one.
      throw fileFault(cause, ...named[0]!);
    }
  };

  return {
    async "fs/readFile"({ path, maxBytes }, { connection, reply }) {
      const limit = Math.min(maxBytes ?? MAX_FILE_BYTES, MAX_FILE_BYTES);
      // Waits until the client has read its earlier replies, so that replies do not accumulate in memory.
      await connection.room();
      const bytes = await on(connection, { path }, (bounds, at) =>
        machineFileAccess.read(at!, limit, bounds).catch((cause: unknown) => {
          throw (cause as { code?: string }).code === "EFBIG" ? fault("fileTooLarge", limit) : cause;
        }),
      );
      // Base64 needs no escaping in JSON.
      reply(new Encoded<FsReadFileResponse>(`{"dataBase64":"${Buffer.from(bytes).toString("base64")}"}`));
    },

    async "fs/writeFile"({ path, dataBase64 }, { connection, reply }) {
      const bytes = decoded(dataBase64);
      await on(connection, { path }, (bounds, at) => machineFileAccess.write(at!, bytes, bounds));
      reply({});
    },

    async "fs/createDirectory"({ path, recursive }, { connection, reply }) {
      await on(connection, { path }, (bounds, at) =>
        machineFileAccess.makeFolder(at!, recursive ?? true, bounds),
      );
      reply({});
    },

    async "fs/getMetadata"({ path }, { connection, reply }) {
      const found = await on(connection, { path }, (bounds, at) => machineFileAccess.look(at!, bounds));
      reply({
        isDirectory: found.kind === "folder",
        isFile: found.kind === "file",
        isSymlink: found.isLink,
        createdAtMs: found.createdAt,
        modifiedAtMs: found.modifiedAt,
      });
    },

    async "fs/readDirectory"({ path }, { connection, reply }) {
      await connection.room();
      const listed = await on(connection, { path }, (bounds, at) =>
        machineFileAccess.list(at!, MAX_ENTRIES, bounds).catch((cause: unknown) => {
          throw (cause as { code?: string }).code === "ETOOMANY"
            ? fault("folderTooLarge", MAX_ENTRIES)
            : cause;
        }),
      );
      reply(entriesOf(listed));
    },

    async "fs/remove"({ path, recursive, force }, { connection, reply }) {
      await on(
        connection,
        { path },
        (bounds, at) =>
          machineFileAccess.remove(at!, recursive ?? true, bounds).catch((cause: unknown) => {
            if ((force ?? true) && (cause as { code?: string }).code === "ENOENT") return;
            throw cause;
          }),
        ["path"],
      );
      reply({});
    },

    async "fs/copy"({ sourcePath, destinationPath, recursive = false }, { connection, reply }) {
      await on(
        connection,
        { sourcePath, destinationPath },
        (bounds, from, to) => machineFileAccess.copy(from!, to!, recursive, bounds),
        ["sourcePath"],
      );
      reply({});
    },

    async "fs/watch"({ watchId, path }, { connection, reply }) {
      const watched = absolute("path", path);
      await clientWatches.start(connection, { watchId, path: watched }, (begin) =>
        on(connection, { path }, ({ isAllowed }) => begin({ isAllowed, signal: NEVER })),
      );
      reply({ path: watched });
    },

    async "fs/unwatch"({ watchId }, { connection, reply }) {
      await clientWatches.end(connection, watchId);
      reply({});
    },
  };
}

async function isInReach(reach: Reach, path: string): Promise<boolean> {
  return reach.checkPath("path", path).then(
    () => true,
    () => false,
  );
}

const NEVER = new AbortController().signal;

/** The path without `.`, `..` and a trailing slash. Symlinks are not resolved. */
function absolute(name: string, path: string): string {
  if (path.includes("\0")) throw fault("pathWithNul");
  if (!isAbsolute(path)) throw fault("invalidParams", name, "must be an absolute path");
  return resolve(path);
}

function decoded(dataBase64: string): Buffer {
  const bytes = Buffer.from(dataBase64, "base64");
  // Node ignores invalid characters in base64, so the result is encoded again and compared with the input.
  if (bytes.toString("base64") !== dataBase64)
    throw fault("badFileData", "it is not the base64 of any bytes, with padding and without line breaks");
  return bytes;
}

function entriesOf(listed: readonly ListedFile[]): FsReadDirectoryResponse {
  return {
    entries: listed.map(({ name, kind }) => ({
      fileName: name,
      isDirectory: kind === "folder",
      isFile: kind === "file",
    })),
  };
}
