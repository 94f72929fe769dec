import { isAbsolute } from "node:path";
import type { ProcessSpawnParams } from "@bobbin/protocol";
import { hostSecretNames } from "../../config/host-secret-names.ts";
import { fault } from "../../errors.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import { userEnvironment } from "../../process/user-program-environment.ts";
import { terminalSize, writeInput } from "../client-processes.ts";
import type { Connection } from "../connection.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { checkProgram } from "../params/program-params.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_CAP = 1024 * 1024;
const DEFAULT_SIZE = { cols: 80, rows: 24 };

/** Handlers of `process/*`: programs that a client runs by itself, outside of any thread and sandbox. */
export function processHandlers(context: HandlerContext): MethodHandlers {
  const { platform, clientProcesses, supervisor } = context;
  const running = async (connection: Connection, handle: string): Promise<ManagedProcess> => {
    const process = await clientProcesses.get(connection, handle);
    if (process === undefined) throw fault("processNotFound", handle);
    return process;
  };
  return {
    async "process/spawn"(params, { connection, reply }) {
      const { processHandle, tty = false, streamStdin = false, streamStdoutStderr = false } = params;
      checkSpawn(params);
      const { end } = await clientProcesses.start(connection, {
        name: processHandle,
        program: {
          argv: params.command as [string, ...string[]],
          cwd: params.cwd,
          env: userEnvironment(platform.env, hostSecretNames(context.config), params.env ?? {}),
          stdin: tty || streamStdin ? "open" : "closed",
          tty: tty ? terminalSize(params.size ?? DEFAULT_SIZE) : undefined,
        },
        timeoutMs: params.timeoutMs === undefined ? DEFAULT_TIMEOUT_MS : (params.timeoutMs ?? undefined),
        cap: params.outputBytesCap === undefined ? DEFAULT_CAP : (params.outputBytesCap ?? undefined),
        stream:
          tty || streamStdoutStderr
            ? (stream, bytes, capReached) =>
                connection.notify("process/outputDelta", {
                  processHandle,
                  stream,
                  deltaBase64: Buffer.from(bytes).toString("base64"),
                  capReached,
                })
            : undefined,
      });
      reply({});
      supervisor.take(
        "a client's process",
        end.then(({ exitCode, stdout, stderr, drainTimedOut: outputDrainTimedOut }) =>
          connection.notify("process/exited", {
            processHandle,
            exitCode,
            outputDrainTimedOut,
            stdout: stdout.text,
            stdoutCapReached: stdout.capReached,
            stderr: stderr.text,
            stderrCapReached: stderr.capReached,
          }),
        ),
      );
    },
    async "process/writeStdin"({ processHandle, ...input }, { connection, reply }) {
      if (input.deltaBase64 == null && input.closeStdin !== true)
        throw fault("invalidParams", "", "process/writeStdin requires deltaBase64 or closeStdin");
      await writeInput(await running(connection, processHandle), input);
      reply({});
    },
    async "process/resizePty"({ processHandle, size }, { connection, reply }) {
      const checked = terminalSize(size);
      (await running(connection, processHandle)).resize(checked);
      reply({});
    },
    async "process/kill"({ processHandle }, { connection, reply }) {
      const process = await running(connection, processHandle);
      supervisor.take("ending a client's process", process.terminate());
      reply({});
    },
  };
}

function checkSpawn(params: ProcessSpawnParams): void {
  const { processHandle, cwd, size, tty = false, timeoutMs } = params;
  checkProgram(params);
  if (processHandle === "") throw fault("invalidParams", "processHandle", "must not be empty");
  if (!isAbsolute(cwd)) throw fault("invalidParams", "cwd", "must be an absolute path");
  if (size != null && !tty) throw fault("invalidParams", "size", "process/spawn size requires tty: true");
  if (timeoutMs != null && timeoutMs < 0)
    throw fault("invalidParams", "timeoutMs", `must be non-negative, got ${timeoutMs}`);
}
