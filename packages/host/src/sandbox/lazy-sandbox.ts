import { join } from "node:path";
import { PLACEHOLDERS_FOLDER } from "./placeholders-folder.ts";
import type { Sandbox, SandboxPorts } from "./sandbox.ts";

/** Loads the sandbox with its first use: on most hosts threads run no commands. */
export function lazySandbox(ports: SandboxPorts): Sandbox {
  let loading: Promise<Sandbox> | undefined;
  const load = (): Promise<Sandbox> => {
    loading ??= import("./sandbox.ts").then(({ createSandbox }) => createSandbox(ports));
    return loading;
  };
  return {
    confine: async (command) => (await load()).confine(command),
    access: async (command) => (await load()).access(command),
    sweep: async () => {
      if (await ports.platform.files.exists(join(ports.home, PLACEHOLDERS_FOLDER)))
        await (await load()).sweep();
    },
    close: async () => {
      await (await loading)?.close();
    },
    problem: async () => (await load()).problem(),
  };
}
