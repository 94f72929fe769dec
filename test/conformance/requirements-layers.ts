export const layerLines = {
  // Layers of configuration.
  "LAYER-1":
    "Configuration counts in this order: the machine's files, the user's, the trusted project's from its root down, the profile's, flags, the request's.",
  "LAYER-2":
    "`config/read` names the origin and the version of each value, and each layer if it is asked to.",
  "LAYER-3":
    "A file of a project counts only with the content that a person trusted; its layer says why it does not count.",
  "LAYER-4":
    "A file that changes counts for the next load; one that cannot be used refuses the load until it is mended.",
  "LAYER-5": "Keys that only a start of the host takes up are named when they change.",
  "LAYER-6":
    "A project cannot say where credentials go, who is trusted, or how the host runs; its paths start at its folder.",
  "LAYER-7": "A profile that is not there is named, and so is the older way to choose one.",
  "LAYER-9":
    "The thread settings in the `config` of a request count above all files, and the thread keeps them.",
  "LAYER-8": "As long as no file changes, a load neither reads nor parses one.",

  // What an administrator requires.
  "REQ-1":
    "`configRequirements/read` shows what requirements.toml of the machine and of the home require together.",
  "REQ-2":
    "A request that asks for a policy, reviewer or sandbox that is not allowed is refused, each with its own code.",
  "REQ-3": "A configured value that is not allowed is replaced at each load by one that is, with a warning.",
  "REQ-4":
    "Managed values, pinned features and values that are not allowed cannot be written; managed values count.",
  "REQ-5": "With a required residency, requests to models name it, whatever headers are configured.",
  "REQ-6":
    "MCP servers that are not allowed are left out, and refused in requests and writes; the home cannot add to the machine's list.",
  "REQ-7":
    "Required rules for hosts decide which hosts commands in a sandbox reach, whatever is configured, and cannot be written around.",
  "REQ-10":
    "Rules of requirements.toml forbid commands, or have people asked, whatever the user's rules allow.",
  "REQ-9": "With `allowed_login_methods` logins of another kind are refused, whatever is configured.",
  "REQ-8":
    "Required hooks run and cannot be switched off; with `allow_managed_hooks_only` no others run, and none can be written.",

  // Features that can be switched.
  "FEAT-1":
    "`experimentalFeature/list` lists the features that can be switched, as they are for new threads or for one.",
  "FEAT-2":
    "`experimentalFeature/enablement/set` switches features until the host ends, where nothing is configured or required.",
  "FEAT-3":
    "A model can ask the user in Plan mode, and in Default mode with `features.default_mode_request_user_input`; else its call is refused.",
  "FEAT-4": "Each feature that is listed does something: off, threads are without what it gives.",
} as const;
