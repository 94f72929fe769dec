export const configKeyLines = {
  // Writes.
  "WRITE-1": "A change of config.toml leaves every byte outside of what changes as it was.",
  "WRITE-2": "Lists of tables can be written, replaced and removed.",
  "WRITE-3": "Random edits of random files keep every comment and every other value.",
  "WRITE-4": "Hosts that write config.toml at the same time lose nothing of what another wrote.",
  "WRITE-5": "A write with `reloadUserConfig` changes the MCP servers of loaded threads.",

  // Keys.
  "KEYS-1": "A key that nobody knows is found, at every depth, with the key that was probably meant.",
  "KEYS-2": "Keys of the Codex CLI that mean nothing here are known as such.",
  "KEYS-3":
    "A misspelled key is warned about with file, line, column and the likely name, and so is one of `-c`.",
  "KEYS-4": "The catalogue has every key that is read, each with one sentence.",
  "KEYS-5": "The reference of all keys and the JSON Schema are what the catalogue says.",
  "KEYS-6": "`--strict-config` refuses unknown keys; `bobbin doctor` and `bobbin config check` name them.",
  "KEYS-7": "`bobbin config` reads, writes, removes, lists, edits and checks values.",
  "KEYS-8":
    "A misspelled key in the `config` of a request is warned about with the likely name; `--strict-config` refuses the request. A key that has no effect in a request is named, too.",
  "KEYS-9": "`bobbin config get`, `list` and `check` take a profile.",

  // The home.
  "HOME-1": "The home is `BOBBIN_HOME`, else a folder in `CODEX_HOME`, else `~/.bobbin`.",
  "HOME-2":
    "A client that isolates by `CODEX_HOME` has threads of its own, and the `config.toml` of that folder counts.",

  // Proxies.
  "PROXY-1":
    "With `HTTP_PROXY` and `HTTPS_PROXY` requests go by the proxy: plain ones as they are, those with TLS by a tunnel.",
  "PROXY-2": "Hosts of `NO_PROXY`, and this machine, are reached without the proxy.",
  "PROXY-3": "The authorities in the file `SSL_CERT_FILE` are trusted besides the usual ones.",
  "PROXY-4": "Models, MCP servers and tool servers are reached by the proxy.",
} as const;
