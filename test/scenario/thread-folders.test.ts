// Where a thread works, and what it is told that it may touch.
import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";

const EXPERIMENTAL = { experimentalApi: true };

describe("a thread's folders", () => {
  it("[PLACE-1] are those of the request, in replies and in lists, and stay with the thread", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const { thread, runtimeWorkspaceRoots } = await client.call("thread/start", {
      cwd: "/",
      runtimeWorkspaceRoots: ["/tmp", "/usr", "/tmp"],
    });
    const places = (cwd: string, roots: string[]) => [
      { environmentId: "local", cwd, runtimeWorkspaceRoots: roots },
    ];
    expect(runtimeWorkspaceRoots).toEqual(["/tmp", "/usr"]);
    expect(thread.environments).toEqual(places("/", ["/tmp", "/usr"]));
    await client.turn(thread.id, "hi");
    const listed = async () => (await client.call("thread/list")).data[0].environments;
    expect(await listed()).toEqual(places("/", ["/tmp", "/usr"]));
    const input = [{ type: "text", text: "hi" }];
    const environments = [{ environmentId: "local", cwd: "/usr" }];
    const { turn } = await client.call("turn/start", { threadId: thread.id, input, environments });
    await client.turnCompleted(turn.id);
    expect(await listed()).toEqual(places("/usr", ["/tmp", "/usr"]));
    const { thread: fork } = await client.call("thread/fork", {
      threadId: thread.id,
      runtimeWorkspaceRoots: ["/var"],
    });
    expect(fork.environments).toEqual(places("/usr", ["/var"]));

    await client.call("thread/unload", { threadId: fork.id });
    await client.call("thread/unload", { threadId: thread.id });
    expect(await listed()).toBeNull();
    const resumed = await client.call("thread/resume", { threadId: thread.id });
    expect(resumed.runtimeWorkspaceRoots).toEqual(["/tmp", "/usr"]);
  });

  it("[PLACE-1] stay unchanged if a request names none", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const { cwd } = await client.call("thread/start", { cwd: "/tmp", environments: [] });
    expect(cwd).toBe("/tmp");
  });

  it("[PLACE-1] are refused if they do not exist", async () => {
    const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
    const refused = async (...environments: object[]) => {
      const { code, message } = await client.refusal("thread/start", { environments });
      expect(code).toBe(-32600);
      return message;
    };
    expect(await refused({ environmentId: "far", cwd: "/" })).toBe("unknown turn environment id `far`");
    const local = { environmentId: "local", cwd: "/" };
    expect(await refused(local, local)).toBe("duplicate turn environment id `local`");
    expect(await refused({ ...local, cwd: "tmp" })).toMatch(
      /^invalid cwd for environment `local`: path `tmp`/,
    );
    const relative = await client.refusal("thread/start", { runtimeWorkspaceRoots: ["x"] });
    expect(relative.message).toMatch(/^Invalid params: runtimeWorkspaceRoots/);
  });
});

it("[PLACE-2] refuses the former field permissionProfile", async () => {
  const { client } = await stdioHost({ capabilities: EXPERIMENTAL });
  const threadId = await client.startThread();
  for (const method of ["thread/start", "thread/resume", "thread/fork", "turn/start"]) {
    const params = { threadId, input: [], permissionProfile: { type: "managed" } };
    expect(await client.refusal(method, params)).toMatchObject({
      code: -32602,
      message: `\`permissionProfile\` is no longer supported for \`${method}\`; use \`permissions\` with a named profile id instead`,
    });
  }
});
