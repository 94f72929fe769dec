import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProgramUnderTest } from "../../../../test/support/program-under-test.ts";
import { hasSandbox } from "../../../../test/support/sandbox-here.ts";

let program: ProgramUnderTest;
let cwd: string;
beforeAll(async () => {
  program = await ProgramUnderTest.build();
  cwd = join(program.folder, "work");
  await mkdir(join(cwd, ".git"), { recursive: true });
});
afterAll(() => program.remove());

/** Folders under /tmp are what is looked at here, so it is not writable as a whole. */
const NO_TMP = ["-c", "sandbox_workspace_write.exclude_slash_tmp=true"];

describe.runIf(hasSandbox)("bobbin sandbox", () => {
  it("runs a command read-only by default, with its output, input and exit code", async () => {
    const script = "cat; touch no || exit 7";
    const { code, stdout, stderr } = await program.run(["sandbox", "--", "sh", "-c", script], {
      cwd,
      stdin: "typed",
    });
    expect([code, stdout]).toEqual([7, "typed"]);
    expect(stderr).toContain("Read-only file system");
    expect(await readdir(cwd)).toEqual([".git"]);
  });

  it("takes the configured sandbox, and flags before that", async () => {
    const touch = ["--", "touch", "made"];
    const config = ["-c", "sandbox_mode=workspace-write", ...NO_TMP];
    expect((await program.run(["sandbox", ...config, "--read-only", ...touch], { cwd })).code).toBe(1);
    expect((await program.run(["sandbox", ...config, ...touch], { cwd })).code).toBe(0);
    const other = join(program.folder, "other");
    await mkdir(other);
    const add = [
      "sandbox",
      "--workspace-write",
      ...NO_TMP,
      "--add-dir",
      other,
      "--",
      "touch",
      join(other, "a"),
    ];
    expect((await program.run(add, { cwd })).code).toBe(0);
    expect(await readdir(other)).toEqual(["a"]);
  });

  it("passes on the signal that ended a command as its exit code", async () => {
    const { code } = await program.run(["sandbox", "--", "sh", "-c", "kill -TERM $$"], { cwd });
    expect(code).toBe(143);
  });

  it("[NETWORK-1] serves hosts that are listed, and refuses others in words", async () => {
    const server = createServer((_, reply) => reply.end("listed\n"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const config = ["-c", 'features.network_proxy={enabled=true,domains={"127.0.0.1"="allow"}}', "--network"];
    const script = `curl -sS http://127.0.0.1:${port}/ http://example.org/; exit 5`;
    const { code, stdout, stderr } = await program.run(["sandbox", ...config, "--", "sh", "-c", script], {
      cwd,
    });
    expect(code).toBe(5);
    expect(stdout).toMatch(/^listed\nThe connection to example\.org was refused/);
    expect(stderr).toContain("bobbin: The connection to example.org was refused");
    const explained = await program.run(["sandbox", ...config, "--explain"], { cwd });
    expect(explained.stdout).toContain("through a proxy");
    expect(explained.stdout).toContain("127.0.0.1: allow");
    server.closeAllConnections();
    server.close();
  });

  it("shows what a command may do, without running one", async () => {
    const { code, stdout } = await program.run(["sandbox", "--workspace-write", ...NO_TMP, "--explain"], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toContain(`Sandbox: workspace-write, in ${cwd}`);
    expect(stdout).toMatch(new RegExp(`may write +${cwd}\n`));
    expect(stdout).toMatch(new RegExp(`but not +${cwd}/\\.git\n`));
    expect(stdout).toMatch(/network +none: no Internet, no Unix sockets\n/);
    const full = await program.run(["sandbox", "--explain", "-c", "sandbox_mode=danger-full-access"], {
      cwd,
    });
    expect(full.stdout).toContain("The command is not confined");
  });

  it("keeps the keys of the host from the command", async () => {
    const keys = [
      "-c",
      'model_providers.acme={name="Acme",base_url="http://127.0.0.1:1",env_key="ACME_KEY"}',
    ];
    const env = { ACME_KEY: "secret", OTHER: "plain" };
    const { stdout } = await program.run(["sandbox", ...keys, "--", "env"], { cwd, env });
    expect(stdout).toContain("OTHER=plain");
    expect(stdout).not.toContain("ACME_KEY");
  });
});

describe("bobbin sandbox on any machine", () => {
  it("asks for a command", async () => {
    const { code, stderr } = await program.run(["sandbox"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("bobbin sandbox -- COMMAND");
  });

  it("refuses an empty command in plain words", async () => {
    const { code, stderr } = await program.run(["sandbox", "--", ""], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("the command is empty: bobbin sandbox -- COMMAND");
  });

  it("runs nothing where there is no sandbox, and says why", async () => {
    const { code, stdout, stderr } = await program.run(["sandbox", "--", "/bin/echo", "hello"], {
      cwd,
      env: { PATH: "/does/not/exist" },
    });
    expect([code, stdout]).toEqual([126, ""]);
    expect(stderr).toContain("bubblewrap is not installed");
  });
});
