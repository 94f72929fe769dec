import {
  array,
  boolean,
  enumeration,
  filePath,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";

export const RuleDecision = enumeration("RuleDecision", ["allow", "prompt", "forbidden"]);
export type RuleDecision = Static<typeof RuleDecision>;

export const CommandRule = object("CommandRule", () => ({
  pattern: array(array(string())),
  decision: RuleDecision,
  justification: nullable(string()),
  file: string(),
  line: integer("uint32"),
  revocable: boolean(),
}));
export type CommandRule = Static<typeof CommandRule>;

export const NetworkHostRule = object("NetworkHostRule", () => ({
  host: string(),
  protocol: enumeration("NetworkRuleProtocol", ["http", "https", "socks5_tcp", "socks5_udp"]),
  decision: RuleDecision,
  justification: nullable(string()),
  file: string(),
  line: integer("uint32"),
  revocable: boolean(),
}));
export type NetworkHostRule = Static<typeof NetworkHostRule>;

export const BadRulesFile = object("BadRulesFile", () => ({
  file: string(),
  line: integer("uint32"),
  message: string(),
}));
export type BadRulesFile = Static<typeof BadRulesFile>;

export const ProjectRules = object("ProjectRules", () => ({
  root: string(),
  digest: string(),
  trusted: boolean(),
}));
export type ProjectRules = Static<typeof ProjectRules>;

export const RulesListParams = object("RulesListParams", () => ({ cwd: optional(filePath()) }));
export type RulesListParams = Static<typeof RulesListParams>;

export const RulesListResponse = object("RulesListResponse", () => ({
  commands: array(CommandRule),
  hosts: array(NetworkHostRule),
  badFiles: array(BadRulesFile),
  project: nullable(ProjectRules),
}));
export type RulesListResponse = Static<typeof RulesListResponse>;

export const RulesRevokeParams = object("RulesRevokeParams", () => ({ prefix: array(string()) }));
export type RulesRevokeParams = Static<typeof RulesRevokeParams>;

export const RulesRevokeResponse = object("RulesRevokeResponse", () => ({}));
export type RulesRevokeResponse = Static<typeof RulesRevokeResponse>;
