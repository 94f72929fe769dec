import { resolve } from "node:path";
import type { CommandExecParams } from "@bobbin/protocol";
import type { Config } from "../../config/config.ts";
import { hostSecretNames } from "../../config/host-secret-names.ts";
import { checkRequestedSettings } from "../../config/requirement-check.ts";
import { ofProfile, type SandboxChoice } from "../../config/sandbox-settings.ts";
import { fault } from "../../errors.ts";
import type { ProgramStart } from "../../platform/platform.ts";
import { commandEnvironment } from "../../process/command-environment.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import { terminalSize, writeInput } from "../client-processes.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { checkProgram } from "../params/program-params.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_CAP = 1024 * 1024;
const DEFAULT_SIZE = { cols: 80, rows: 24 };

/**
 * Handlers of `command/exec`: commands that a client runs by itself, in the sandbox. The reply is sent when the
 * command has ended.
 */
export function commandExecHandlers(context: HandlerContext): MethodHandlers {
  const { clientCommands, supervisor } = context;
  const running = async (connection: Connection, processId: string): Promise<ManagedProcess> => {
    const process = await clientCommands.get(connection, processId);
    if (process === undefined) throw fault("commandNotFound", processId);
    return process;
  };
  return {
    async "command/exec"(params, { connection, reply }) {
      checkExec(params);
      const { processId, tty = false, streamStdoutStderr = false } = params;
      const confined = confine(context, connection, params);
      try {
        const { end } = await clientCommands.start(connection, {
          name: processId ?? Symbol("a command without an id"),
          program: confined.then(({ program }) => program),
          timeoutMs: params.disableTimeout ? undefined : (params.timeoutMs ?? DEFAULT_TIMEOUT_MS),
          cap: params.disableOutputCap ? undefined : (params.outputBytesCap ?? DEFAULT_CAP),
          stream:
            processId != null && (tty || streamStdoutStderr)
              ? (stream, bytes, capReached) =>
                  connection.notify("command/exec/outputDelta", {
                    processId,
                    stream,
                    deltaBase64: Buffer.from(bytes).toString("base64"),
                    capReached,
                  })
              : undefined,
        });
        const { exitCode, stdout, stderr } = await end;
        reply({ exitCode, stdout: stdout.text, stderr: stderr.text });
      } finally {
        const cleaned = confined.then(
          ({ release }) => release(),
          () => {},
        );
        supervisor.take("cleaning up after a command", cleaned);
      }
    },
    async "command/exec/write"({ processId, ...input }, { connection, reply }) {
      if (input.deltaBase64 == null && input.closeStdin !== true)
        throw fault("invalidParams", "", "command/exec/write requires deltaBase64 or closeStdin");
      await writeInput(await running(connection, processId), input);
      reply({});
    },
    async "command/exec/resize"({ processId, size }, { connection, reply }) {
      const checked = terminalSize(size);
      (await running(connection, processId)).resize(checked);
      reply({});
    },
    async "command/exec/terminate"({ processId }, { connection, reply }) {
      const process = await running(connection, processId);
      supervisor.take("ending a client's command", process.terminate());
      reply({});
    },
  };
}

function checkExec(params: CommandExecParams): void {
  const { processId, size, tty, streamStdin, streamStdoutStderr, timeoutMs } = params;
  checkProgram(params);
  if (params.sandboxPolicy != null && params.permissionProfile != null)
    throw fault("twoSandboxPolicies", "permissionProfile", "sandboxPolicy");
  if (size != null && !tty) throw fault("invalidParams", "size", "command/exec size requires tty: true");
  if (params.disableOutputCap && params.outputBytesCap != null)
    throw fault("invalidParams", "", "command/exec cannot set both outputBytesCap and disableOutputCap");
  if (params.disableTimeout && timeoutMs != null)
    throw fault("invalidParams", "", "command/exec cannot set both timeoutMs and disableTimeout");
  if (timeoutMs != null && timeoutMs < 0)
    throw fault("invalidParams", "timeoutMs", `must be non-negative, got ${timeoutMs}`);
  if (processId == null && (tty || streamStdin || streamStdoutStderr)) throw fault("processIdRequired");
}

/** Wraps the command in its sandbox. */
async function confine(
  context: HandlerContext,
  connection: Connection,
  params: CommandExecParams,
): Promise<{ readonly program: ProgramStart; readonly release: () => Promise<unknown> }> {
  const { platform, config } = context;
  const { cwd: hostCwd } = reachOf(context, connection);
  const { tty = false, streamStdin = false } = params;
  const cwd = resolve(hostCwd, params.cwd ?? "");
  const program: ProgramStart = {
    argv: params.command as [string, ...string[]],
    cwd,
    env: commandEnvironment(
      platform.env,
      hostSecretNames(config),
      config.shellEnvironment,
      params.env ?? undefined,
    ).env,
    stdin: tty || streamStdin ? "open" : "closed",
    tty: tty ? terminalSize(params.size ?? DEFAULT_SIZE) : undefined,
  };
  const { sandbox: policy, permissionProfile: profile } = sandboxOf(context, connection, params);
  const confined = await context.sandbox.confine({
    program,
    policy,
    profile,
    roots: [cwd],
    gitWritable: false,
  });
  if (confined.kind === "unavailable") throw fault("sandboxUnavailable", confined.reason, confined.advice);
  return confined;
}

function sandboxOf(
  context: HandlerContext,
  connection: Connection,
  { sandboxPolicy, permissionProfile }: CommandExecParams,
): SandboxChoice {
  const { config } = reachOf(context, connection);
  if (sandboxPolicy == null && permissionProfile == null) return config.sandbox;
  const requested =
    sandboxPolicy == null
      ? profileOf(permissionProfile!, config)
      : { sandbox: sandboxPolicy, permissionProfile: null };
  checkRequestedSettings(config.requirements, requested, config.permissionProfiles);
  return requested;
}

function profileOf(name: string, { permissionProfiles }: Config): SandboxChoice {
  try {
    return ofProfile(name, permissionProfiles);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}
