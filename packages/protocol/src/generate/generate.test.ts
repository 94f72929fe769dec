import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { jsonSchemaFiles } from "./json-schema.ts";
import { typescriptFiles } from "./typescript.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const OPTIONS = { strict: false, validateFormats: false };
const compiled = (files: Map<string, string>, path: string) =>
  new Ajv(OPTIONS).compile(JSON.parse(files.get(path)!));

describe.each([true, false])("JSON Schema, experimental %s", (experimental) => {
  const files = jsonSchemaFiles({ experimental });

  it("is valid, and every reference resolves within its own file", () => {
    const ajv = new Ajv(OPTIONS);
    for (const [path, text] of files) {
      const schema = JSON.parse(text);
      expect(ajv.validateSchema(schema), path).toBe(true);
      for (const [, name] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) {
        expect(schema.definitions, path).toHaveProperty(name!);
      }
    }
  });

  it("has the same files as the Codex CLI's", () => {
    const paths = ["ClientRequest", "ServerNotification", "ServerRequest", "ClientNotification", "RequestId"]
      .concat([
        "JSONRPCMessage",
        "v1/InitializeParams",
        "v2/ThreadStartParams",
        "v2/TurnCompletedNotification",
      ])
      .concat(["CommandExecutionRequestApprovalResponse", "codex_app_server_protocol.v2.schemas"]);
    for (const path of paths) expect([...files.keys()]).toContain(`${path}.json`);
  });

  it("checks the params of requests", () => {
    const validate = compiled(files, "ClientRequest.json");
    expect(validate({ id: 1, method: "thread/read", params: { threadId: "t" } })).toBe(true);
    expect(validate({ id: 1, method: "thread/read", params: {} })).toBe(false);
    expect(validate({ id: 1, method: "configRequirements/read" })).toBe(true);
    expect(validate({ id: 1, method: "server/diagnostics", params: {} })).toBe(experimental);
  });

  it("shows experimental fields only when asked", () => {
    const { properties } = JSON.parse(files.get("v2/ThreadStartParams.json")!);
    expect("dynamicTools" in properties).toBe(experimental);
    expect("cwd" in properties).toBe(true);
    expect(files.has("v2/ThreadSearchParams.json")).toBe(experimental);
  });
});

describe.each([true, false])("TypeScript, experimental %s", (experimental) => {
  const files = typescriptFiles({ experimental });

  it("compiles", () => {
    const folder = mkdtempSync(join(tmpdir(), "generated-"));
    folders.push(folder);
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const use = `import type { ClientRequest, ServerNotification, v2 } from "./index";
      export const request: ClientRequest = { id: "a", method: "thread/start", params: { cwd: "/", model: null } };
      export const item: v2.ThreadItem = { type: "plan", id: "i", text: "t" };
      // @ts-expect-error a plan has a text
      export const bad: v2.ThreadItem = { type: "plan", id: "i" };
      export const told: ServerNotification = { method: "thread/closed", params: { threadId: "t" } };`;
    writeFileSync(join(folder, "use.ts"), use);
    const options = { strict: true, noEmit: true, module: "esnext", moduleResolution: "bundler", types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    const run = () =>
      execFileSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8", stdio: "pipe" });
    expect(run).not.toThrow();
  });

  it("shows experimental methods only when asked", () => {
    expect(files.get("ClientRequest.ts")!.includes('"server/diagnostics"')).toBe(experimental);
    expect(files.has("v2/ThreadSearchParams.ts")).toBe(experimental);
  });
});
