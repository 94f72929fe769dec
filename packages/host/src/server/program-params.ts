import { fault } from "../errors.ts";
import { wordProblem } from "../process/program-words.ts";

/** What a client names a program by. */
interface ProgramParams {
  readonly command: readonly string[];
  readonly cwd?: string | null | undefined;
  readonly env?: Readonly<Record<string, string | null>> | null | undefined;
}

/** Throws if no program can be started by these params. */
export function checkProgram({ command, cwd, env }: ProgramParams): void {
  if (command.length === 0 || command[0] === "") throw fault("emptyCommand");
  const variables = Object.entries(env ?? {}).flatMap(([name, value]) => [name, value ?? ""]);
  const bad = wordProblem({ command, cwd, env: variables });
  if (bad !== null) throw fault("invalidParams", bad.name, bad.problem);
}
