import { expect, it } from "vitest";
import { fileKeyWarnings, flagKeyWarnings } from "./key-warnings.ts";

const TEXT = `# mine
model_provder = "openai"
[sandbox_workspace_write]
  network_acces = true # oops
[mcp_servers]
one = { command = "x", arg = ["y"] }
[[skills.config]]
path = "/a"
[[skills.config]]
nmae = "b"
[what.ever]
x = 1
`;

it("[KEYS-3] warns with file, line, column and the likely name", () => {
  const warnings = fileKeyWarnings({ file: "/h/config.toml", text: TEXT });
  expect(warnings.map(({ message }) => message)).toEqual([
    "/h/config.toml:2:1: unknown configuration key `model_provder`; did you mean `model_provider`?",
    "/h/config.toml:4:3: unknown configuration key `sandbox_workspace_write.network_acces`; did you mean `sandbox_workspace_write.network_access`?",
    "/h/config.toml:6:24: unknown configuration key `mcp_servers.one.arg`; did you mean `mcp_servers.one.args`?",
    "/h/config.toml:10:1: unknown configuration key `skills.config.nmae`; did you mean `skills.config.name`?",
    "/h/config.toml:11:2: unknown configuration key `what`",
  ]);
  expect(warnings[0]!.place).toEqual({ file: "/h/config.toml", line: 2, column: 1, endColumn: 14 });
});

it("[KEYS-3] counts lines and columns of files with CRLF and a byte order mark", () => {
  const text = `\uFEFF${TEXT.replaceAll("\n", "\r\n")}`;
  const places = (of: string) => fileKeyWarnings({ file: "f", text: of }).map(({ place }) => place);
  expect(places(text)).toEqual(places(TEXT));
});

it("leaves a file that is no TOML to those who read it", () => {
  expect(fileKeyWarnings({ file: "f", text: "model = " })).toEqual([]);
});

it("[KEYS-3] warns of options, too", () => {
  const overrides = [
    "model=x",
    "model_provder=openai",
    "sandbox_workspace_write={ network_acces = true }",
    "nonsense",
  ];
  expect(flagKeyWarnings(overrides).map(({ message }) => message)).toEqual([
    "-c model_provder=openai: unknown configuration key `model_provder`; did you mean `model_provider`?",
    "-c sandbox_workspace_write={ network_acces = true }: unknown configuration key `sandbox_workspace_write.network_acces`; did you mean `sandbox_workspace_write.network_access`?",
  ]);
});
