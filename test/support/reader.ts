import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshFolder } from "./folder.ts";
import { BOBBIN, environment } from "./host-process.ts";

/** Somebody who pastes the commands of a page: `/home/me` of the pages, with a home of Bobbin. */
export class Reader {
  /** `/home/me`. */
  readonly me: string;
  /** Where the commands are run. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;

  private constructor(me: string, cwd: string, more: Readonly<Record<string, string>>) {
    this.me = me;
    this.cwd = cwd;
    this.home = join(me, ".bobbin");
    const own = { HOME: me, PATH: `${join(me, "bin")}:${process.env["PATH"]}`, LC_ALL: "C.UTF-8" };
    const { LOG_FORMAT: _, ...env } = environment(this.home, { ...own, SHELL: "/bin/bash", ...more });
    this.env = env;
  }

  /** `folder`: where in /home/me. `config`: the reader's config.toml. */
  static async at(
    folder: string,
    { config = "", env = {} }: { readonly config?: string; readonly env?: Record<string, string> } = {},
  ): Promise<Reader> {
    const me = await freshFolder("me");
    const reader = new Reader(me, join(me, folder), env);
    await mkdir(reader.home);
    await writeFile(join(reader.home, "config.toml"), config);
    // Pages for a clone of the repository call it `bin/bobbin`, the others `bobbin`.
    for (const place of [join(me, "bin"), join(reader.cwd, "bin")]) {
      await mkdir(place, { recursive: true });
      await writeFile(join(place, "bobbin"), `#!/bin/sh\nexec '${process.execPath}' '${BOBBIN}' "$@"\n`);
      await chmod(join(place, "bobbin"), 0o755);
    }
    return reader;
  }

  /** What a command prints on both streams, and its exit code. `said` is called with all that it has printed so far. */
  run(
    command: string,
    said: (text: string) => void = () => {},
  ): Promise<{ readonly code: number; readonly text: string }> {
    const { cwd, env } = this;
    return new Promise((resolve) => {
      const args = ["-c", `{ ${command}\n} 2>&1`];
      const child = execFile("/bin/sh", args, { cwd, env }, (cause, stdout) =>
        resolve({ code: Number(cause?.code ?? 0), text: stdout.replaceAll(this.me, "/home/me") }),
      );
      let text = "";
      child.stdout!.on("data", (part: string) => {
        text += part;
        said(text);
      });
      child.stdin!.end();
    });
  }
}
