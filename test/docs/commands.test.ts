// Runs the transcripts of docs/commands.md in their order, in one folder and with one home.
import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { blocksIn, blockWith, take } from "../support/markdown.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { outputPattern, stepsOf } from "../support/transcript.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGE = "docs/commands.md";

describe.skipIf(!hasSandbox)("the page about commands", () => {
  it("[DOCS-2] shows what its commands print", async () => {
    const [cwd, home, bin] = [await freshFolder("work"), await freshFolder("home"), await freshFolder("bin")];
    execFileSync("git", ["init", "-q"], { cwd });
    await writeFile(join(bin, "bobbin"), `#!/bin/sh\nexec '${process.execPath}' '${BOBBIN}' "$@"\n`);
    await chmod(join(bin, "bobbin"), 0o755);
    await mkdir(join(home, "rules"));
    const rules = await blockWith(PAGE, "python", "prefix_rule");
    const env = environment(home, { PATH: `${bin}:${process.env["PATH"]}`, LC_ALL: "C.UTF-8" });
    const run = (command: string): Promise<string> =>
      new Promise((resolve) => {
        const child = execFile("/bin/sh", ["-c", `{ ${command}; } 2>&1`], { cwd, env }, (_error, stdout) =>
          resolve(stdout),
        );
        child.stdin!.end();
      });
    const blocks = (await blocksIn(PAGE)).filter(({ language }) => language === "console");
    expect(blocks.length).toBeGreaterThan(4);
    for (const { text, line } of blocks) {
      // Saved where the page says so: before the transcript that needs it.
      if (text.includes("npm test|ci")) await writeFile(join(home, "rules", "team.rules"), rules);
      for (const { command, output } of stepsOf(text))
        expect(await run(command), `${PAGE}:${line}: ${command}`).toMatch(outputPattern(output));
      take(PAGE, { line });
    }
    expect(await notRunBy("test/docs/commands.test.ts")).toEqual([]);
  });
});
