import type { ProgramStart } from "../platform/platform.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * How a user's profile is run for a model: it can change nothing, since the model may have written it. Where there is no
 * sandbox it runs as it is, and whoever wants its environment has asked the user before.
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
