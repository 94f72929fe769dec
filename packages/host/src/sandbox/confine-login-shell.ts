import type { ProgramStart } from "../platform/platform.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * Sandboxes a login shell that reads the user's shell profile for a model's commands. The shell can change nothing,
 * because the model may have written the profile. If no sandbox is available, the shell runs unconfined; callers that
 * need its environment have asked the user before.
 */
export async function confineProfile(
  sandbox: Pick<Sandbox, "confine">,
  program: ProgramStart,
): Promise<{ readonly program: ProgramStart; release(): Promise<void> }> {
  const confined = await sandbox.confine({
    program,
    policy: { type: "readOnly", networkAccess: false },
    roots: [],
    gitWritable: false,
  });
  if (confined.kind === "unavailable") return { program, release: async () => {} };
  return { program: confined.program, release: async () => void (await confined.release()) };
}
