// requirements.toml against every way to change config.toml, on the real program.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importAll, movingIn } from "../support/agent-home.ts";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { calls, elicitation, mcpStage, own } from "../support/mcp-call-stage.ts";
import { MCP_LIGHT } from "../support/mcp-stage.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { WireClient } from "../support/wire-client.ts";

const ALLOWED = `[mcp_servers.docs]\nidentity = { command = "${MCP_LIGHT}" }\n`;
const SERVERS = `[mcp_servers.docs]\ncommand = "${MCP_LIGHT}"\n[mcp_servers.other]\ncommand = "${MCP_LIGHT}"\n`;
const NO_FEEDBACK = "[feedback]\nenabled = false\n";

/** A home with these files. */
async function homeWith(config: string, required: string): Promise<string> {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), config);
  await writeFile(join(home, "requirements.toml"), required);
  return home;
}

/** The code with which feedback is refused. `feedback.enabled` is read from the configuration in use. */
const feedbackCode = async (client: WireClient): Promise<unknown> =>
  (await client.refusal("feedback/upload", { classification: "bug", includeLogs: false })).data.code;

describe("requirements", () => {
  it("[REQ-6] leave out MCP servers at a reload, too", async () => {
    const home = await homeWith("", ALLOWED);
    const { client } = await stdioHost({ home });
    const threadId = await client.startThread({});
    await writeFile(join(home, "config.toml"), SERVERS);
    await client.call("config/mcpServer/reload");
    const { data } = await client.call("mcpServerStatus/list", { threadId, detail: "toolsAndAuthOnly" });
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["docs"]);
  });

  it("[REQ-4] stay in force when a skill is switched off", async () => {
    const home = await homeWith("[feedback]\nenabled = true\n", NO_FEEDBACK);
    const { client } = await stdioHost({ home });
    await client.call("skills/config/write", { name: "shop", enabled: false });
    expect(await feedbackCode(client)).toBe("feedbackDisabled");
  });

  it("[REQ-4] stay in force when a tool of an MCP server is always allowed", async () => {
    const { client, home, cwd } = await mcpStage([calls(["echo"]), say("ok")], { servers: [own()] });
    await writeFile(join(home, "requirements.toml"), NO_FEEDBACK);
    const turnId = await client.say(await client.startThread({ cwd }), "go");
    const { id } = await elicitation(client);
    client.send({ id, result: { action: "accept", content: null, _meta: { persist: "always" } } });
    await client.turnCompleted(turnId);
    expect(await readFile(join(home, "config.toml"), "utf8")).toContain('approval_mode = "approve"');
    expect(await feedbackCode(client)).toBe("feedbackDisabled");
  });

  it("[REQ-4] refuse values and MCP servers of an import, and let it add the others", async () => {
    const config = [
      'approval_policy = "never"',
      'model_verbosity = "high"',
      'chatgpt_base_url = "https://other.example/"',
      SERVERS,
    ];
    const { client, home } = await movingIn(
      { ".codex/config.toml": config.join("\n") },
      {
        "requirements.toml": `allowed_approval_policies = ["on-request"]\nchatgpt_base_url = "https://managed.example/"\n${ALLOWED}${NO_FEEDBACK}`,
      },
    );
    const migrationSource = "codex";
    const { items } = await client.call("externalAgentConfig/detect", { includeHome: true, migrationSource });
    const { results } = await importAll(client, items, { migrationSource });
    const refused = results.flatMap(({ failures }) => failures.map(({ message }) => message)).join("\n");
    expect(refused).toContain("approval_policy");
    expect(refused).toContain("chatgpt_base_url");
    expect(refused).toContain("other");
    const written = await readFile(join(home, "config.toml"), "utf8");
    expect(written).toContain('model_verbosity = "high"');
    expect(written).toContain("mcp_servers.docs");
    expect(written).not.toMatch(/never|other/);
    expect(await feedbackCode(client)).toBe("feedbackDisabled");
  });

  it("[REQ-4] refuse values of bobbin config set, and servers of bobbin mcp add", async () => {
    const home = await homeWith("", `allowed_sandbox_modes = ["read-only"]\n${ALLOWED}${NO_FEEDBACK}`);
    const bobbin = (...args: string[]) => runBobbin(args, { env: { BOBBIN_HOME: home } });
    for (const [key, value] of [
      ["sandbox_mode", "danger-full-access"],
      ["feedback.enabled", "true"],
    ] as const) {
      const { code, stderr } = await bobbin("config", "set", key, value);
      expect([key, code]).toEqual([key, 1]);
      expect(stderr).toContain("requirements");
    }
    const added = await bobbin("mcp", "add", "other", "--", MCP_LIGHT);
    expect(added.code).toBe(1);
    expect(added.stderr).toContain('"other" is not allowed');
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe("");
    expect((await bobbin("config", "set", "sandbox_mode", "read-only")).code).toBe(0);
    expect((await bobbin("mcp", "add", "docs", "--", MCP_LIGHT)).code).toBe(0);
  });
});
