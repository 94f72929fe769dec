import { fault } from "./errors.ts";
import type { Log } from "./observe/log.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import { ClientFileWatches } from "./server/client-file-watches.ts";
import { ClientProcessLimit } from "./server/client-process-limit.ts";
import { ClientProcesses } from "./server/client-processes.ts";
import type { Connection } from "./server/connection.ts";
import { ClientFileRequests } from "./server/file-request-limits.ts";
import { FileSearches } from "./server/file-searches.ts";
import { SkillWatches } from "./server/skill-watches.ts";

/** The work that clients start outside of threads. */
interface ClientWork {
  readonly clientProcesses: ClientProcesses;
  readonly clientCommands: ClientProcesses;
  readonly clientFiles: ClientFileRequests;
  readonly clientWatches: ClientFileWatches;
  readonly skillWatches: SkillWatches;
  readonly fileSearches: FileSearches;
}

interface ClientWorkParts {
  readonly platform: Platform;
  readonly processes: ProcessManager;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

/** Creates the parts for processes, file operations, watches and searches of clients. */
export function composeClientWork({ platform, processes, supervisor, log }: ClientWorkParts): {
  readonly work: ClientWork;
  /** Ends the work of a client whose connection has closed. */
  left(connection: Connection): void;
  /** Ends the work of all clients. */
  close(): Promise<void>;
} {
  const limit = new ClientProcessLimit();
  const clientProcesses = new ClientProcesses(processes, platform.timers, limit, (handle) =>
    fault("processHandleTaken", handle),
  );
  const clientCommands = new ClientProcesses(processes, platform.timers, limit, (id) =>
    fault("processIdTaken", id),
  );
  const clientFiles = new ClientFileRequests();
  const watchPorts = { files: platform.machineFileAccess, timers: platform.timers, supervisor };
  const clientWatches = new ClientFileWatches(watchPorts);
  const skillWatches = new SkillWatches(watchPorts);
  const fileSearches = new FileSearches({ platform, supervisor, log });
  return {
    work: { clientProcesses, clientCommands, clientFiles, clientWatches, skillWatches, fileSearches },
    left(connection) {
      clientFiles.left(connection);
      clientWatches.left(connection);
      skillWatches.left(connection);
      fileSearches.left(connection);
      supervisor.take("ending a client's processes", processes.end(connection));
    },
    async close() {
      clientFiles.close();
      clientWatches.close();
      skillWatches.close();
      await Promise.all([clientProcesses.close(), clientCommands.close(), fileSearches.close()]);
    },
  };
}
