import { fault } from "../../errors.ts";
import { wordProblem } from "../../process/program-argument-check.ts";

/** The parameters of requests that start a program. */
interface ProgramParams {
  readonly command: readonly string[];
  readonly cwd?: string | null | undefined;
  readonly env?: Readonly<Record<string, string | null>> | null | undefined;
}

/** Throws if no program can be started with these parameters. */
export function checkProgram({ command, cwd, env }: ProgramParams): void {
  if (command.length === 0 || command[0] === "") throw fault("emptyCommand");
  const variables = Object.entries(env ?? {}).flatMap(([name, value]) => [name, value ?? ""]);
  const bad = wordProblem({ command, cwd, env: variables });
  if (bad !== null) throw fault("invalidParams", bad.name, bad.problem);
}
