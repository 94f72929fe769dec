// Compares two versions of the Codex CLI: methods, fields and values of their app-server schemas, and features.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The messages of the protocol, by the name of their schema. */
const KINDS = {
  ClientRequest: "method",
  ClientNotification: "notification from clients",
  ServerRequest: "server request",
  ServerNotification: "notification",
};

/**
 * What a version's schemas say, as lines per subject: a message, or a type. Equal lines mean equal schemas.
 * @param {string} binary of the Codex CLI
 * @returns {Map<string, Set<string>>}
 */
export function schemaLines(binary) {
  const stable = generate(binary, false);
  const all = generate(binary, true);
  /** @type {Map<string, Set<string>>} */
  const found = new Map();
  const definitions = { ...all.definitions, ...all.definitions.v2 };
  for (const [kind, word] of Object.entries(KINDS)) {
    const isStable = methodsOf(stable.definitions[kind] ?? stable.definitions.v2?.[kind]);
    for (const [method, schema] of methodsOf(definitions[kind]))
      found.set(
        `${word} ${method}`,
        new Set([isStable.has(method) ? "stable" : "experimental", ...linesOf(schema)]),
      );
  }
  for (const [name, schema] of Object.entries(definitions))
    if (name !== "v2" && !(name in KINDS)) found.set(`type ${name}`, new Set(linesOf(schema)));
  const features = inFolder((folder) => run(binary, ["features", "list"], folder));
  for (const [, name, state] of features.matchAll(/^(\S+) +(.+)$/gm))
    found.set(`feature ${name}`, new Set([state.replace(/ +/g, " ")]));
  return found;
}

/**
 * The differences between two versions, as text for people.
 * @param {Map<string, Set<string>>} before
 * @param {Map<string, Set<string>>} after
 * @returns {string[]}
 */
export function schemaDifferences(before, after) {
  const lines = [];
  for (const subject of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(subject), after.get(subject)];
    if (old === undefined) lines.push(`+ ${subject}`, ...[...now].map((line) => `    ${line}`));
    else if (now === undefined) lines.push(`- ${subject}`);
    else {
      const changes = [
        ...[...old].filter((line) => !now.has(line)).map((line) => `  - ${line}`),
        ...[...now].filter((line) => !old.has(line)).map((line) => `  + ${line}`),
      ];
      if (changes.length > 0) lines.push(`  ${subject}`, ...changes);
    }
  }
  return lines;
}

/** @param {string} binary @param {boolean} experimental */
function generate(binary, experimental) {
  return inFolder((folder) => {
    const args = ["app-server", "generate-json-schema", ...(experimental ? ["--experimental"] : [])];
    run(binary, [...args, "--out", folder], folder);
    return JSON.parse(readFileSync(join(folder, "codex_app_server_protocol.schemas.json"), "utf8"));
  });
}

/** The output of the program with this home. @param {string} binary @param {string[]} args @param {string} home */
function run(binary, args, home) {
  return execFileSync(binary, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TMPDIR: home },
  });
}

/** @template T @param {(folder: string) => T} use @returns {T} */
function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "bobbin-peer-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The messages of a union, by method. */
function methodsOf(/** @type {any} */ union) {
  return new Map(
    (union?.oneOf ?? []).map((/** @type {any} */ one) => [
      one.properties.method.enum[0],
      one.properties.params ?? {},
    ]),
  );
}

/** A schema as lines: `path: type`, and `path?` for a field that may be left out. @returns {string[]} */
function linesOf(/** @type {any} */ schema, path = "") {
  const at = path === "" ? "itself" : path;
  if (typeof schema !== "object") return [`${at}: ${schema === true ? "anything" : "nothing"}`];
  if (schema.$ref !== undefined) return [`${at}: ${schema.$ref.split("/").at(-1)}`];
  const unions = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  const lines = (unions ?? []).flatMap((/** @type {any} */ one) => linesOf(one, joined(path, tagOf(one))));
  if (schema.enum !== undefined)
    for (const value of schema.enum) lines.push(`${at}: ${JSON.stringify(value)}`);
  else if (unions === undefined && schema.properties === undefined && schema.items === undefined)
    lines.push(`${at}: ${[schema.type ?? "anything"].flat().join(" | ")}`);
  for (const [name, one] of Object.entries(schema.properties ?? {}))
    lines.push(...linesOf(one, joined(path, schema.required?.includes(name) ? name : `${name}?`)));
  if (schema.items !== undefined) lines.push(...linesOf(schema.items, `${path}[]`));
  if (typeof schema.additionalProperties === "object")
    lines.push(...linesOf(schema.additionalProperties, `${path}{}`));
  return lines;
}

/** The name of a union's part: the value of its `type`. */
function tagOf(/** @type {any} */ schema) {
  const tag = schema?.properties?.type?.enum?.[0];
  return tag === undefined ? "" : `(${tag})`;
}

/** @param {string} path @param {string} name */
function joined(path, name) {
  return [path, name].filter((part) => part !== "").join(".");
}
