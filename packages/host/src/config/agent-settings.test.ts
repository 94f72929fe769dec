import { expect, it } from "vitest";
import { ConfigError } from "./bad-config-error.ts";
import { readConfig } from "./config.ts";

const agents = (table: object) => readConfig({ agents: table }, { home: "/home" }).agents;

it("reads what models may do with helpers", () => {
  expect(readConfig({}).agents).toEqual({
    enabled: true,
    maxThreads: 6,
    maxDepth: 1,
    defaultModel: null,
    defaultEffort: null,
    roles: new Map(),
  });
  expect(
    agents({
      enabled: false,
      max_threads: 3,
      max_depth: 0,
      default_subagent_model: "small",
      default_subagent_reasoning_effort: "low",
      job_max_runtime_seconds: 5,
      interrupt_message: true,
    }),
  ).toEqual({
    enabled: false,
    maxThreads: 3,
    maxDepth: 0,
    defaultModel: "small",
    defaultEffort: "low",
    roles: new Map(),
  });
  expect(agents({ max_concurrent_threads_per_session: 2, max_threads: 3 }).maxThreads).toBe(2);
});

it("reads roles, and finds their files from the home", () => {
  const { roles } = agents({
    reader: {
      description: " Reads. ",
      config_file: "roles/reader.toml",
      nickname_candidates: ["Ann ", "B-2"],
    },
    other: {},
  });
  expect([...roles]).toEqual([
    ["reader", { description: "Reads.", configFile: "/home/roles/reader.toml", nicknames: ["Ann", "B-2"] }],
    ["other", { description: null, configFile: null, nicknames: null }],
  ]);
});

it.each([
  [{ max_threads: 0 }, "agents.max_threads: expected a whole number of at least 1, found 0"],
  [{ max_threads: 1001 }, "agents.max_threads: expected a whole number of at most 1000, found 1001"],
  [{ max_depth: -1 }, "agents.max_depth: expected a whole number of at least 0, found -1"],
  [{ enabled: "no" }, 'agents.enabled: expected true or false, found "no"'],
  [{ reader: "x" }, 'agents.reader: expected a table, found "x"'],
  [{ reader: { nickname_candidates: [] } }, "agents.reader.nickname_candidates: expected names"],
  [{ reader: { nickname_candidates: ["a\nb"] } }, "agents.reader.nickname_candidates: expected names"],
  [
    { reader: { nickname_candidates: ["a", " a"] } },
    "agents.reader.nickname_candidates: a name occurs twice",
  ],
])("says what is wrong with %j", (table, problem) => {
  expect(() => agents(table)).toThrow(ConfigError);
  expect(() => agents(table)).toThrow(problem);
});
