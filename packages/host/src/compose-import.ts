import { join } from "node:path";
import type { Config } from "./config/config.ts";
import { LayeredConfig, mergeLayers } from "./config/layered-config.ts";
import type { ConfigFile } from "./import/config-value-import.ts";
import type { Imports } from "./import/import-runs.ts";
import type { Scope } from "./import/import-scope.ts";
import { targetPaths } from "./import/source-and-target-paths.ts";
import type { Log } from "./observe/log.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { DocumentStore } from "./store/documents.ts";
import type { Journal } from "./store/journal.ts";

export interface ImportParts {
  readonly home: string;
  readonly platform: Platform;
  readonly log: Log;
  /** The configuration layers of the home. */
  readonly layers: LayeredConfig;
  readonly journal: Journal;
  readonly documents: DocumentStore;
  readonly supervisor: Supervisor;
  /** Sets the current configuration of the host. */
  configure(config: Config): void;
}

export interface LazyImports {
  load(): Promise<Imports>;
  close(): Promise<void>;
}

/** Creates the imports from other agents. Their code is loaded with the first import. */
export function composeImports(parts: ImportParts): LazyImports {
  const { home, platform, log, layers, journal, documents, supervisor } = parts;
  const load = async (): Promise<Imports> => {
    const [{ Imports }, { ImportHistories }, { ConfigWriter }] = await Promise.all([
      import("./import/import-runs.ts"),
      import("./import/past-imports.ts"),
      import("./config/edit/config-writer.ts"),
    ]);
    // One lock file in the home, also for imports into a repository, because a repository must not get other files.
    const lock = join(home, "import.lock");
    const exclusively = <T>(work: () => Promise<T>): Promise<T> => platform.liveness.exclusively(lock, work);
    // An import already holds the lock when it writes to the configuration of a repository.
    const apart = {
      files: platform.files,
      liveness: { exclusively: <T>(_: string, work: () => Promise<T>) => work() },
    };
    const configFile = (scope: Scope): ConfigFile => {
      const { configFolder } = targetPaths(home, platform.machine.userHome, scope);
      const own = scope.kind === "home" ? layers : new LayeredConfig(platform.files, configFolder, []);
      const writer = new ConfigWriter(scope.kind === "home" ? platform : apart, own, layers);
      return {
        path: own.path,
        // Only the values of this file, not those of the command line, a profile or the machine.
        read: async () =>
          mergeLayers((await own.read()).filter(({ name }) => name.type === "user" && name.profile === null)),
        add: async (keys, value) => {
          const keyPath = keys.map(quotedKey).join(".");
          const { config } = await writer.write({ edits: [{ keyPath, value, mergeStrategy: "upsert" }] });
          if (scope.kind === "home") parts.configure(config);
        },
      };
    };
    const histories = new ImportHistories({ documents, log });
    return new Imports({
      home,
      platform,
      log,
      configFile,
      histories,
      exclusively,
      journal,
      supervisor,
    });
  };
  let loading: Promise<Imports> | undefined;
  return {
    load: () => {
      loading ??= load();
      return loading;
    },
    close: async () => {
      await (await loading)?.close();
    },
  };
}

/** Quotes a key for a dotted path, if necessary. */
function quotedKey(key: string): string {
  return /^[^."\s]+$/.test(key) ? key : `"${key.replace(/[\\"]/g, "\\$&")}"`;
}
