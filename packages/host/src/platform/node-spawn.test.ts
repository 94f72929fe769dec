import { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { settled } from "../../../../test/support/eventually.ts";
import { nodeSpawn } from "./node-spawn.ts";
import type { ProgramStart, RunningProgram } from "./platform.ts";

const SIZE = { cols: 80, rows: 24 };
const WAYS = ["pipes", "a terminal"] as const;

function sh(script: string, way: (typeof WAYS)[number], more: Partial<ProgramStart> = {}): ProgramStart {
  return {
    argv: ["/bin/sh", "-c", script],
    cwd: "/",
    env: { PATH: process.env["PATH"]! },
    stdin: "closed",
    tty: way === "pipes" ? undefined : SIZE,
    ...more,
  };
}

async function textOf({ output }: RunningProgram): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of output) pieces.push(bytes);
  return Buffer.concat(pieces).toString().replaceAll("\r\n", "\n");
}

describe.each(WAYS)("a program on %s", (way) => {
  it("gives all of its output and its exit code", async () => {
    const program = await nodeSpawn(sh("echo out; echo err >&2; exit 3", way));
    expect(program.tty).toBe(way === "a terminal");
    expect(await textOf(program)).toContain("out\nerr\n");
    expect(await program.exited).toEqual({ code: 3, signal: null });
  });

  it("loses nothing of what it writes last, however much that is", async () => {
    for (let round = 0; round < 10; round++) {
      const program = await nodeSpawn(sh("seq 1 20000; echo the end", way));
      const lines = (await textOf(program)).split("\n");
      expect(lines).toHaveLength(20_002);
      expect(lines.slice(-2)).toEqual(["the end", ""]);
    }
  });

  it("gets what is written to it, and the end of its input", async () => {
    const program = await nodeSpawn(sh("read x; echo got:$x; cat", way, { stdin: "open" }));
    const text = textOf(program);
    await program.write(Buffer.from("hello\nmore\n"));
    program.endInput();
    expect(await text).toMatch(/got:hello\n(more\n)+/);
    expect(await program.exited).toEqual({ code: 0, signal: null });
  });

  it("has the environment that it was given, also what a shell would change", async () => {
    const env = { PATH: process.env["PATH"]!, PS1: "$ ", PS2: "", SHLVL: "7", OLDPWD: "/old", A: "b=c\td" };
    const program = await nodeSpawn({ ...sh("", way), argv: ["env"], env, inputs: [Buffer.from("given")] });
    const shown = (await textOf(program)).trimEnd().split("\n").sort();
    const added = way === "a terminal" ? { TERM: "xterm-256color", PWD: "/" } : {};
    expect(shown).toEqual(
      Object.entries({ ...env, ...added })
        .map((pair) => pair.join("="))
        .sort(),
    );
    const bare = await nodeSpawn({ ...sh("", way), argv: ["env"], inputs: [Buffer.from("given")] });
    expect((await textOf(bare)).match(/^\w+(?==)/gm)?.sort()).toEqual(["PATH", ...Object.keys(added)].sort());
  });

  it.runIf(process.platform === "linux")(
    "has none of this process's descriptors, nor another's terminal",
    async () => {
      const other = await nodeSpawn(sh("cat", "a terminal", { stdin: "open" }));
      const program = await nodeSpawn(sh("ls -l /proc/$$/fd", way, { inputs: [Buffer.from("given")] }));
      const shown = (await textOf(program))
        .split("\n")
        .flatMap((line) => / (\d+) -> (.*)$/.exec(line)?.slice(1, 3) ?? []);
      other.signal("SIGKILL");
      other.stopReading();
      const beyond = shown.flatMap((part, at) => (at % 2 === 0 && Number(part) > 3 ? [shown[at + 1]!] : []));
      expect(beyond.filter((target) => target !== "/dev/null")).toEqual([]);
    },
  );

  it("ends with all of its group when it is signalled", async () => {
    const program = await nodeSpawn(sh("sleep 1000 & sleep 1000; wait", way));
    program.signal("SIGKILL");
    expect(await program.exited).toMatchObject({ signal: "SIGKILL" });
    // The background `sleep` holds the output open: the output ends only if `sleep` was killed, too.
    expect(await textOf(program)).toBe("");
  });

  it("reads from further descriptors what it was given", async () => {
    const inputs = [Buffer.from("three"), Buffer.from("four")];
    const program = await nodeSpawn(sh("cat <&3; cat <&4", way, { inputs }));
    expect(await textOf(program)).toBe("threefour");
  });

  it("leaves no file of what it reads from these while it runs", async () => {
    // Other tests create and remove such folders at any time.
    const contentOf = (path: string): string => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return "";
      }
    };
    const files = (): string[] =>
      [tmpdir(), "/dev/shm"]
        .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
        .filter((path) => /\/bobbin-input-/.test(path) && contentOf(join(path, "0")) === mark);
    const mark = `input of ${process.pid} on ${way}`;
    const program = await nodeSpawn(
      sh("echo ready; read x", way, { stdin: "open", inputs: [Buffer.from(mark)] }),
    );
    const output = program.output[Symbol.asyncIterator]();
    await output.next();
    expect(files()).toEqual([]);
    program.signal("SIGKILL");
    program.stopReading();
    await program.exited;
  });

  it("has no terminal of ours, and a session of its own", async () => {
    const program = await nodeSpawn(sh("ps -o sid= -p $$; echo $$", way));
    const [session, pid] = (await textOf(program)).split("\n").map((line) => line.trim());
    expect(session).toBe(pid);
  });

  it("waits while nobody takes its output", async () => {
    const program = await nodeSpawn({ ...sh("", way), argv: ["seq", "1", "1000000"] });
    await program.output[Symbol.asyncIterator]().next();
    const written = (): number =>
      Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${program.pid}/io`, "utf8"))![1]);
    expect(await settled(written)).toBeLessThan(1_000_000);
    program.signal("SIGKILL");
    program.stopReading();
    await program.exited;
  });
});

it("a program that is not there is Node's own error", async () => {
  const start = { ...sh("", "pipes"), argv: ["/no/such/program"] as const };
  await expect(nodeSpawn(start)).rejects.toMatchObject({ code: "ENOENT" });
});

it("a folder that is not there is named in the error", async () => {
  const start = sh("true", "pipes", { cwd: "/no/such/folder" });
  await expect(nodeSpawn(start)).rejects.toThrow("the folder /no/such/folder does not exist");
});

it("ends the output of a terminal, however often Ctrl-C is typed around the exit", async () => {
  // Each Ctrl-C drops output that was not read yet, and with it the end marker.
  for (let round = 0; round < 40; round++) {
    const program = await nodeSpawn(sh("trap '' INT; sleep 0.01", "a terminal", { stdin: "open" }));
    let hasEnded = false;
    const output = textOf(program).finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      await program.write(Buffer.from("\x03")).catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
    // What is dropped may be the half of an echo.
    expect(await output).toMatch(/^[\^C]*$/);
  }
});

it("takes no input on a terminal once the program has exited", async () => {
  const program = await nodeSpawn(sh("echo done", "a terminal", { stdin: "open" }));
  await program.exited;
  await expect(program.write(Buffer.from("\x03"))).rejects.toThrow("the input of the program is closed");
  program.endInput();
  expect(await textOf(program)).toBe("done\n");
});

it("a terminal has its size, and a new one when it is resized", async () => {
  const program = await nodeSpawn(sh("stty size; read x; stty size", "a terminal", { stdin: "open" }));
  const text = textOf(program);
  program.resize({ cols: 100, rows: 40 });
  await program.write(Buffer.from("\n"));
  expect(await text).toMatch(/40 100\n$/);
});

it("lets others have their turn between two programs that are started at once", async () => {
  /** The turn of the event loop in which each program was forked. */
  const turns: number[] = [];
  let turn = 0;
  const count = () => {
    turn++;
    if (turns.length < 5) setImmediate(count);
  };
  const prototype = ChildProcess.prototype as ChildProcess & { spawn(options: object): number };
  const original = prototype.spawn;
  const spawn = vi.spyOn(prototype, "spawn").mockImplementation(function (this: ChildProcess, options) {
    turns.push(turn);
    return original.call(this, options);
  });
  const programs = Array.from({ length: 5 }, () => nodeSpawn(sh("exit 0", "pipes")));
  count();
  await Promise.all(programs.map(async (program) => (await program).exited));
  spawn.mockRestore();
  expect(new Set(turns).size).toBe(5);
});
