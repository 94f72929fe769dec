import { MCP_APPROVAL_MODES } from "../../tool/mcp/mcp-server-settings.ts";
import {
  any,
  choice,
  codexOnly,
  either,
  flag,
  type KeyTable,
  list,
  named,
  number,
  table,
  text,
  textList,
  textsByName,
  whole,
} from "./key.ts";

const TOOL_SERVER: KeyTable = {
  url: { type: text, about: "The address of the tool server; required.", atStart: true },
  bearer_token_env_var: {
    type: text,
    about: "Environment variable with its bearer token.",
    default: "none",
    atStart: true,
  },
  headers: {
    type: textsByName("HEADER", "The value of the header."),
    about: "HTTP headers of each request.",
    atStart: true,
  },
  allowed_origins: {
    type: textList,
    about: "Other origins at which its tools may be.",
    default: "none",
    atStart: true,
  },
  approval: {
    type: choice("destructive", "always"),
    about: "Which calls of its tools need approval.",
    default: "destructive",
    atStart: true,
  },
  call_deadline_secs: {
    type: whole(1),
    about: "Time limit of a call, in seconds.",
    default: "`rap.call_deadline_secs`",
    atStart: true,
  },
};

const APPROVAL = choice(...MCP_APPROVAL_MODES);

const MCP_SERVER: KeyTable = {
  command: { type: text, about: "The program of a server that speaks over stdio.", default: "none" },
  args: { type: textList, about: "Arguments of the program.", default: "none" },
  env: {
    type: textsByName("VARIABLE", "The value of the variable."),
    about: "Environment variables of the program.",
  },
  env_vars: {
    type: list(
      either(
        text,
        table({
          name: { type: text, about: "The name of the variable." },
          source: { type: choice("local"), about: "Where the variable comes from.", default: "local" },
        }),
      ),
    ),
    about: "Variables of the host's environment that the program also gets.",
    default: "none",
  },
  cwd: { type: text, about: "The working folder of the program.", default: "the thread's" },
  url: { type: text, about: "The URL of a server that speaks streamable HTTP.", default: "none" },
  bearer_token_env_var: {
    type: text,
    about: "Environment variable with its bearer token.",
    default: "none",
  },
  http_headers: {
    type: textsByName("HEADER", "The value of the header."),
    about: "HTTP headers of each request.",
  },
  env_http_headers: {
    type: textsByName("HEADER", "The environment variable with the value."),
    about: "HTTP headers of each request, with values from environment variables.",
  },
  http_headers_helper: { type: text, about: "A command that prints HTTP headers as JSON.", default: "none" },
  oauth: {
    type: table({
      client_id: { type: text, about: "The id of a registered OAuth client.", default: "none" },
      client_secret: { type: text, about: "The secret of that client.", default: "none" },
      callback_port: {
        type: whole(1, 65_535),
        about: "The local port of the redirect after a login.",
        default: "any",
      },
    }),
    about: "How users log in to the server.",
  },
  oauth_resource: {
    type: text,
    about: "The OAuth resource to request tokens for.",
    default: "the server's own",
  },
  scopes: { type: textList, about: "The OAuth scopes to request.", default: "the server's own" },
  enabled: { type: flag, about: "Whether threads get the server.", default: "true" },
  required: { type: flag, about: "Whether a thread fails to start without it.", default: "false" },
  startup_timeout_sec: { type: number, about: "Time limit of its start, in seconds.", default: "30" },
  startup_timeout_ms: { type: whole(1), about: "The same in milliseconds.", default: "30000" },
  tool_timeout_sec: { type: number, about: "Time limit of a call, in seconds.", default: "300" },
  enabled_tools: { type: textList, about: "The only tools of the server that threads get.", default: "all" },
  disabled_tools: { type: textList, about: "Tools of the server that threads do not get.", default: "none" },
  default_tools_approval_mode: {
    type: APPROVAL,
    about: "Whether calls of its tools need approval.",
    default: "auto",
  },
  tools: {
    type: named(
      "TOOL",
      table({
        approval_mode: {
          type: APPROVAL,
          about: "Whether calls of this tool need approval.",
          default: "the server's",
        },
      }),
      "One tool of the server.",
    ),
    about: "Settings of single tools.",
  },
  supports_parallel_tool_calls: {
    type: flag,
    about: "Whether the server accepts several calls at once.",
    default: "false",
  },
  isolation: {
    type: choice("thread", "shared"),
    about: "Whether each thread has a server of its own, or threads share one.",
    default: "shared where that is safe",
  },
  ...codexOnly("auth", "environment_id", "name", "omit_tools_from", "type"),
};

/** Keys of tool servers, MCP servers, helpers and skills. */
export const TOOL_KEYS: KeyTable = {
  rap: {
    type: table({
      callback_listen: {
        type: text,
        about: "Address of the listener for callbacks of tool servers, as `IP:PORT`.",
        default: "127.0.0.1:0",
        atStart: true,
      },
      callback_public_url: {
        type: text,
        about: "The URL by which tool servers reach this listener.",
        default: "the listener's address",
        atStart: true,
      },
      call_deadline_secs: {
        type: whole(1),
        about: "Time limit of calls, in seconds.",
        default: "none",
        atStart: true,
      },
    }),
    about: "Settings of all tool servers.",
    atStart: true,
  },
  rap_servers: {
    type: named("NAME", table(TOOL_SERVER), "A tool server."),
    about: "Tool servers, which speak the Reactive Agent Protocol.",
    atStart: true,
  },
  mcp_servers: {
    type: named(
      "NAME",
      either(flag, table(MCP_SERVER)),
      "An MCP server; `false` removes the one of a lower layer.",
    ),
    about: "MCP servers.",
  },
  tool_search_above: {
    type: whole(0),
    about: "With more MCP tools than this, models get a tool that searches the tools, and no list of them.",
    default: "50",
  },
  agents: {
    type: named(
      "ROLE",
      table({
        description: {
          type: text,
          about: "The purpose of helpers of this role.",
          default: "the role file's",
        },
        config_file: { type: text, about: "Path of the role file, relative to the home.", default: "none" },
        nickname_candidates: { type: textList, about: "Names for its helpers.", default: "built-in names" },
      }),
      "A role of helpers.",
      {
        enabled: { type: flag, about: "Whether models may start helpers.", default: "true" },
        max_threads: {
          type: whole(1, 1000),
          about: "Limit on the helpers of a thread at the same time.",
          default: "6",
        },
        max_concurrent_threads_per_session: {
          type: whole(1, 1000),
          about: "The same, by its newer name.",
          default: "6",
        },
        max_depth: {
          type: whole(0),
          about: "Limit on the depth of helpers that start helpers.",
          default: "1",
        },
        default_subagent_model: { type: text, about: "The model of helpers.", default: "the thread's own" },
        default_subagent_reasoning_effort: {
          type: text,
          about: "Reasoning effort of helpers.",
          default: "the thread's own",
        },
        ...codexOnly("job_max_runtime_seconds", "interrupt_message"),
      },
    ),
    about: "Helpers: threads that a model starts.",
  },
  skills: {
    type: table({
      config: {
        type: list(
          table({
            path: { type: text, about: "The path of a `SKILL.md`." },
            name: { type: text, about: "The name of a skill." },
            enabled: { type: flag, about: "Whether the skill is enabled.", default: "true" },
          }),
        ),
        about: "Which skills are enabled.",
      },
      ...codexOnly("bundled", "include_instructions", "max_context_tokens"),
    }),
    about: "Skills.",
  },
  tools: {
    type: table({
      web_search: { type: either(flag, any), about: "The older name of `web_search`.", default: "false" },
      ...codexOnly("experimental_request_user_input", "update_plan", "view_image"),
    }),
    about: "Tools that are built in.",
  },
};
