import { describe, expect, it } from "vitest";
import { program } from "./command-line.ts";
import { plainAppServer } from "./main.ts";

describe("a plain command line", () => {
  it.each([
    ["app-server", { listen: [], stdio: false }],
    ["app-server --stdio", { listen: [], stdio: true }],
    ["app-server --listen ws://127.0.0.1:0", { listen: ["ws://127.0.0.1:0"], stdio: false }],
    ["app-server --listen unix:// --stdio --listen off", { listen: ["unix://", "off"], stdio: true }],
  ])("is read without the parser: %s", (line, options) => {
    expect(plainAppServer(line.split(" "))).toEqual(options);
    expect(parsed(line)).toEqual(options);
  });

  it.each([
    "",
    "exec --stdio",
    "--stdio app-server",
    "app-server --help",
    "app-server --listen",
    "app-server --listen --stdio",
    "app-server --listen=off",
    "app-server -c model=x --stdio",
    "app-server generate-ts --out x",
  ])("is left to the parser if it is none: %s", (line) => {
    expect(plainAppServer(line === "" ? [] : line.split(" "))).toBeUndefined();
  });
});

/** What the parser makes of it. */
function parsed(line: string): unknown {
  const bobbin = program();
  const server = bobbin.commands.find((command) => command.name() === "app-server")!;
  let options: unknown;
  server.action((given) => {
    options = given;
  });
  bobbin.parse(line.split(" "), { from: "user" });
  const { listen = [], stdio = false } = options as { listen?: string[]; stdio?: boolean };
  return { listen, stdio };
}
