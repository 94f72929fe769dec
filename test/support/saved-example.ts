import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { freshFolder } from "./folder.ts";
import { ROOT } from "./markdown.ts";

/** A running example, started like `npm run example -- NAME`. */
export interface RunningExample {
  readonly child: ChildProcess;
  /** The output so far, of both streams. */
  output: string;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
}

const children = new Set<ChildProcess>();
atFileEnd(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Saves a snippet as `examples/NAME/main.ts`, as pages tell their readers to do, in a new folder. */
export async function savedExample(name: string, text: string): Promise<string> {
  const root = await freshFolder("snippet");
  await mkdir(join(root, "examples", name), { recursive: true });
  await cp(join(ROOT, "examples/run.mjs"), join(root, "examples/run.mjs"));
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  await writeFile(join(root, "examples", name, "main.ts"), text);
  return root;
}

export function runExample(
  root: string,
  name: string,
  env: Readonly<Record<string, string>> = {},
): RunningExample {
  const child = spawn(process.execPath, ["examples/run.mjs", name], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  const running: RunningExample = { child, output: "", ended };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      running.output += text;
    });
  return running;
}
