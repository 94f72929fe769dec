import { join } from "node:path";
import { MASKS } from "./masks-folder.ts";
import type { Sandbox, SandboxPorts } from "./sandbox.ts";

/** A sandbox that is loaded with its first use: most hosts have threads that run no commands. */
export function lateSandbox(ports: SandboxPorts): Sandbox {
  let loading: Promise<Sandbox> | undefined;
  const load = (): Promise<Sandbox> => {
    loading ??= import("./sandbox.ts").then(({ createSandbox }) => createSandbox(ports));
    return loading;
  };
  return {
    confine: async (command) => (await load()).confine(command),
    access: async (command) => (await load()).access(command),
    sweep: async () => {
      if (await ports.platform.files.exists(join(ports.home, MASKS))) await (await load()).sweep();
    },
    close: async () => {
      await (await loading)?.close();
    },
    problem: async () => (await load()).problem(),
  };
}
