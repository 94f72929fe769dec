import { expect, it } from "vitest";
import type { Files } from "../platform/platform.ts";
import type { AgentSettings } from "../tool/children/helper-settings.ts";
import { readConfig } from "./config.ts";
import { RoleFiles } from "./role-files.ts";

/** Roles of a configuration, and files that can be changed. */
function stage(agents: object, texts: Record<string, string> = {}) {
  const files = new Map(Object.entries(texts));
  const warnings: unknown[] = [];
  let settings: AgentSettings = readConfig({ agents }, { home: "/home" }).agents;
  const fake: Pick<Files, "readText" | "list"> = {
    readText: async (path) => files.get(path),
    list: async (folder) =>
      [...files.keys()]
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => ({ name: path.slice(folder.length + 1), folder: false })),
  };
  const roles = new RoleFiles({
    home: "/home",
    files: fake,
    log: { warn: (_message, fields) => void warnings.push(fields?.["problem"]) },
    settings: () => settings,
  });
  const configure = (next: object): void => {
    settings = readConfig({ agents: next }, { home: "/home" }).agents;
  };
  return { roles, files, warnings, configure };
}

const NOTHING = { settings: {}, developerInstructions: null, nicknames: null };

it("describes roles of the configuration and of the folder agents, and leaves out what is wrong", async () => {
  const { roles, warnings } = stage(
    {
      reader: { description: "Reads.", config_file: "reader.toml" },
      plain: { description: "Plain." },
      bare: {},
      lost: { description: "Lost.", config_file: "lost.toml" },
    },
    {
      "/home/reader.toml": 'model = "small"\nmodel_reasoning_effort = "low"',
      "/home/agents/a.toml": 'name = "writer"\ndescription = "Writes."',
      "/home/agents/b.toml": 'name = "writer"\ndescription = "Again."',
      "/home/agents/c.toml": 'description = "Nameless."',
      "/home/agents/d.toml": "model = ",
      "/home/agents/notes.txt": "no role",
    },
  );
  expect(roles.list()).toEqual([]);
  await roles.ready();
  expect(roles.ready()).toBeUndefined();
  expect(roles.list()).toEqual([
    { name: "reader", description: "Reads.", model: "small", effort: "low" },
    { name: "plain", description: "Plain.", model: null, effort: null },
    { name: "writer", description: "Writes.", model: null, effort: null },
  ]);
  expect(warnings).toEqual([
    "agents.bare.description is required",
    "there is no file /home/lost.toml",
    "the agent role writer is defined twice",
    "/home/agents/c.toml has no name",
    expect.stringContaining("/home/agents/d.toml: "),
  ]);
});

it("gives what a role's file says when a helper is started, and nothing that the helper may do", async () => {
  const { roles, files } = stage(
    { reader: { description: "Reads.", config_file: "reader.toml", nickname_candidates: ["Ann"] } },
    { "/home/reader.toml": 'model = "small"' },
  );
  expect(await roles.choose("reader")).toEqual({
    ...NOTHING,
    settings: { model: "small" },
    nicknames: ["Ann"],
  });
  const more = [
    'model = "other"',
    'model_reasoning_effort = "high"',
    'model_reasoning_summary = "concise"',
    'model_verbosity = "low"',
    'personality = "friendly"',
    'service_tier = "flex"',
    'developer_instructions = " Read. "',
    'sandbox_mode = "danger-full-access"',
    'approval_policy = "never"',
    'cwd = "/"',
  ];
  files.set("/home/reader.toml", more.join("\n"));
  expect(await roles.choose("reader")).toEqual({
    settings: {
      model: "other",
      effort: "high",
      summary: "concise",
      verbosity: "low",
      personality: "friendly",
      serviceTier: "flex",
    },
    developerInstructions: "Read.",
    nicknames: ["Ann"],
  });
  files.delete("/home/reader.toml");
  expect(await roles.choose("reader")).toEqual({
    problem: "The agent_type reader cannot be used: there is no file /home/reader.toml",
  });
  expect(await roles.choose("nobody")).toEqual({
    problem: 'There is no agent_type "nobody". There are: reader.',
  });
});

it("follows the configuration, and has the same list as long as nothing changes", async () => {
  const { roles, configure } = stage({});
  await roles.ready();
  const before = roles.list();
  configure({ enabled: true });
  await roles.ready();
  expect(roles.list()).toBe(before);
  expect(await roles.choose("plain")).toEqual({
    problem: 'There is no agent_type "plain". There are none: leave agent_type out.',
  });
  configure({ plain: { description: "Plain." } });
  expect(await roles.choose("plain")).toEqual(NOTHING);
});
