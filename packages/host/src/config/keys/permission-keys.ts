import { GRANTS } from "../subject-permissions.ts";
import {
  any,
  choice,
  codexOnly,
  either,
  flag,
  type KeyTable,
  list,
  named,
  table,
  text,
  textList,
  textsByName,
  whole,
} from "./key.ts";

const NETWORK: KeyTable = {
  enabled: { type: flag, about: "Whether commands have network access.", default: "false" },
  enable_socks5: { type: flag, about: "Whether the network proxy also offers SOCKS5.", default: "true" },
  mode: { type: choice("full", "limited"), about: "Only `full` is supported.", default: "full" },
  domains: {
    type: named("HOST", choice("allow", "deny"), "A host, or a pattern such as `*.example.org`."),
    about: "Hosts that are allowed or denied; for others, the user is asked. At most 1000.",
  },
  ...codexOnly(
    "proxy_url",
    "socks_url",
    "enable_socks5_udp",
    "allow_upstream_proxy",
    "allow_local_binding",
    "dangerously_allow_non_loopback_proxy",
    "dangerously_allow_all_unix_sockets",
    "unix_sockets",
  ),
};

/** Type of `features.network_proxy`. */
export const NETWORK_PROXY = either(flag, table(NETWORK));

const ACCESS = choice("read", "write", "deny", "none");

const PROFILE: KeyTable = {
  description: { type: text, about: "Description for people.", default: "none" },
  extends: { type: text, about: "The profile that this one is based on.", default: "none" },
  workspace_roots: {
    type: named("PATH", flag, "Whether the folder belongs to the workspace."),
    about: "Further folders of the workspace.",
  },
  filesystem: {
    type: named(
      "PATH",
      either(ACCESS, named("SUBPATH", ACCESS, "Access to this path below the outer one.")),
      "A path, a pattern, or a special place such as `:workspace_roots`.",
      {
        glob_scan_max_depth: {
          type: whole(1, 64),
          about: "Depth of folders down to which files are matched with patterns.",
          default: "8",
        },
      },
    ),
    about: "Access to files.",
  },
  network: { type: table(NETWORK), about: "Network access." },
};

const GRANULAR: KeyTable = {
  sandbox_approval: { type: flag, about: "Whether commands may ask to leave the sandbox.", default: "false" },
  rules: { type: flag, about: "Whether rules may ask for approval.", default: "false" },
  mcp_elicitations: { type: flag, about: "Whether MCP servers may ask the user.", default: "false" },
  request_permissions: { type: flag, about: "Whether a model may ask for permissions.", default: "false" },
  skill_approval: { type: flag, about: "Whether skills may ask for approval.", default: "false" },
};

/** Keys of approvals, sandboxes, permission profiles, project trust and subjects. */
export const PERMISSION_KEYS: KeyTable = {
  approval_policy: {
    type: either(
      choice("untrusted", "on-request", "on-failure", "never"),
      table({ granular: { type: table(GRANULAR), about: "Which kinds of questions may be asked." } }),
    ),
    about: "When an action needs approval.",
    default: "on-request",
  },
  approvals_reviewer: {
    type: choice("user", "auto_review", "guardian_subagent"),
    about: "Who decides approvals: a person, or a model.",
    default: "user",
  },
  auto_review: {
    type: table({
      policy: {
        type: text,
        about: "The policy by which that model allows and denies.",
        default: "the built-in policy",
      },
    }),
    about: "Approvals that a model decides.",
  },
  sandbox_mode: {
    type: choice("read-only", "workspace-write", "danger-full-access"),
    about: "What the sandbox allows commands.",
    default: "read-only",
  },
  sandbox_workspace_write: {
    type: table({
      writable_roots: { type: textList, about: "Further writable folders.", default: "none" },
      network_access: { type: flag, about: "Whether commands have network access.", default: "false" },
      exclude_tmpdir_env_var: {
        type: flag,
        about: "Whether `$TMPDIR` is read-only.",
        default: "false",
      },
      exclude_slash_tmp: { type: flag, about: "Whether `/tmp` is read-only.", default: "false" },
    }),
    about: "What `workspace-write` allows.",
  },
  default_permissions: {
    type: text,
    about:
      "A profile in place of `sandbox_mode`: `:read-only`, `:workspace`, `:danger-full-access`, or one of your own.",
    default: ":read-only",
  },
  permissions: {
    type: named("NAME", table(PROFILE), "A profile of your own."),
    about: "Profiles of permissions.",
  },
  shell_environment_policy: {
    type: table({
      inherit: {
        type: choice("all", "core", "none"),
        about: "Which variables of the host's environment commands get.",
        default: "all",
      },
      ignore_default_excludes: {
        type: flag,
        about: "Whether variables with names that look like secrets are kept.",
        default: "false",
      },
      allow: {
        type: textList,
        about: "Names of variables that are kept although they look like secrets.",
        default: "none",
      },
      exclude: { type: textList, about: "Patterns of names that are removed.", default: "none" },
      include_only: { type: textList, about: "Patterns of names; all others are removed.", default: "none" },
      filters: {
        type: named(
          "PATTERN",
          choice("include", "exclude"),
          "Whether matching variables are kept or removed.",
        ),
        about: "`exclude` and `include_only` in one table.",
      },
      set: { type: textsByName("VARIABLE", "The value of the variable."), about: "Variables that are set." },
      ...codexOnly("experimental_use_profile"),
    }),
    about: "Which environment variables commands get.",
  },
  projects: {
    type: named(
      "PATH",
      table({
        trust_level: {
          type: choice("trusted", "untrusted"),
          about: "Whether the project is trusted. This sets its default approval policy and sandbox.",
          default: "none",
        },
        trusted_rules: {
          type: text,
          about: "The digest of the rules that were trusted; written by the host.",
          default: "none",
        },
        trusted_files: {
          type: any,
          about: "The digests of configuration files that were trusted; written by the host.",
          default: "none",
        },
      }),
      "The root of a project.",
    ),
    about: "Which projects you trust.",
  },
  subjects: {
    type: named(
      "SUBJECT",
      table({
        roots: {
          type: textList,
          about: "Folders that this subject may use.",
          default: "`[subjects]`",
        },
        tool_servers: {
          type: textList,
          about: "URLs of tool servers that it may add.",
          default: "`[subjects]`",
        },
        mcp_servers: {
          type: textList,
          about: "MCP servers of this file that its threads get.",
          default: "`[subjects]`",
        },
        allow: {
          type: list(choice(...GRANTS)),
          about: "Further grants.",
          default: "`[subjects]`",
        },
      }),
      "What one subject may use.",
      {
        roots: { type: textList, about: "Folders that all subjects may use.", default: "none" },
        tool_servers: {
          type: textList,
          about: "URLs of tool servers that subjects may add.",
          default: "none",
        },
        mcp_servers: {
          type: textList,
          about: "MCP servers of this file that their threads get.",
          default: "none",
        },
        allow: {
          type: list(choice(...GRANTS)),
          about: "Further grants.",
          default: "nothing",
        },
      },
    ),
    about: "What clients may use whose signed token names a subject.",
  },
};
