// Generates TypeScript from the protocol table, one file per type, in the same folders as the Codex CLI's generate-ts.
import { type Node, optionsOf, type Shape, shapeOf, variantsOf } from "../schema-language.ts";
import {
  childrenOf,
  type GenerateOptions,
  isNamed,
  type MessageFamily,
  mayOmitParams,
  messages,
  reachable,
  rpcNodes,
  visibleFields,
} from "./named-types.ts";

export type { GenerateOptions } from "./named-types.ts";

const HEADER = "// Generated from Bobbin's protocol table. Do not edit by hand.\n\n";

// Types that the Codex CLI writes to the top folder instead of v2/. Clients import them from there.
const TOP = new Set([
  "AuthMode",
  "AutoCompactTokenLimitScope",
  "ClientInfo",
  "CollaborationMode",
  "ForcedLoginMethod",
  "FunctionCallOutputBody",
  "FunctionCallOutputContentItem",
  "ImageDetail",
  "ImageGenerationFailure",
  "ImageGenerationInputImage",
  "InitializeCapabilities",
  "InitializeParams",
  "InitializeResponse",
  "InputModality",
  "McpServerInfo",
  "MessagePhase",
  "ModeKind",
  "MultiAgentMode",
  "Personality",
  "PlanType",
  "ReasoningSummary",
  "RequestId",
  "Resource",
  "ResourceTemplate",
  "Settings",
  "SubAgentSource",
  "ThreadMemoryMode",
  "Tool",
  "Verbosity",
  "WebSearchContextSize",
  "WebSearchLocation",
  "WebSearchMode",
  "WebSearchToolConfig",
]);
const folderOf = (name: string): "" | "v2/" => (TOP.has(name) || name.startsWith("JSONRPC") ? "" : "v2/");

export function typescriptFiles(options: GenerateOptions): Map<string, string> {
  const families = messages(options);
  const roots = Object.values(families).flatMap((list) =>
    list.flatMap(({ params, result }) => (result ? [params, result] : [params])),
  );
  const files = new Map<string, string>();
  const names: Record<"" | "v2/", string[]> = { "": [], "v2/": [] };
  const add = (folder: "" | "v2/", name: string, needed: Iterable<string>, type: string) => {
    names[folder].push(name);
    files.set(
      `${folder}${name}.ts`,
      `${HEADER}${imports(folder, name, needed)}export type ${name} = ${type};\n`,
    );
  };

  for (const [name, node] of reachable([...roots, ...rpcNodes], options)) {
    add(folderOf(name), name, directNames(node, options), body(node, options));
  }
  for (const family of Object.keys(families) as MessageFamily[]) {
    const hasId = family !== "ServerNotification";
    const needed = new Set(hasId ? ["RequestId"] : []);
    const variants = families[family].map(({ method, params }) => {
      for (const name of directNames(params, options, true)) needed.add(name);
      const key = mayOmitParams(params) ? "params?" : "params";
      return `{ method: ${JSON.stringify(method)}; ${hasId ? "id: RequestId; " : ""}${key}: ${typeOf(params, options)} }`;
    });
    add("", family, needed, variants.map((variant) => `\n  | ${variant}`).join(""));
  }
  add("", "ClientNotification", [], '{ method: "initialized" }');

  files.set("v2/index.ts", HEADER + reexports(names["v2/"]));
  files.set("index.ts", `${HEADER}${reexports(names[""])}export * as v2 from "./v2";\n`);
  return files;
}

function reexports(names: readonly string[]): string {
  return [...names]
    .sort()
    .map((name) => `export type { ${name} } from "./${name}";\n`)
    .join("");
}

function imports(folder: "" | "v2/", own: string, needed: Iterable<string>): string {
  const lines = [...needed]
    .filter((name) => name !== own)
    .sort()
    .map((name) => {
      const to = folderOf(name);
      const path = to === folder ? `./${name}` : folder === "v2/" ? `../${name}` : `./${to}${name}`;
      return `import type { ${name} } from "${path}";\n`;
    });
  return lines.length ? `${lines.join("")}\n` : "";
}

/** The named types that the generated text of `node` mentions directly. */
function directNames(node: Node, options: GenerateOptions, isReference = false): Set<string> {
  const found = new Set<string>();
  const visit = (inner: Node, isOwn: boolean): void => {
    if (isNamed(inner) && !isOwn) found.add(inner.name);
    else for (const child of childrenOf(inner, options)) visit(child, false);
  };
  visit(node, !isReference);
  return found;
}

function typeOf(node: Node, options: GenerateOptions): string {
  return isNamed(node) ? node.name : body(node, options);
}

function body(node: Node, options: GenerateOptions): string {
  switch (node.kind) {
    case "string":
    case "boolean":
    case "number":
    case "unknown":
      return node.kind;
    case "integer":
      return "number";
    case "nothing":
      return "undefined";
    case "enum":
      return node.values.map((value) => JSON.stringify(value)).join(" | ");
    case "array":
      return `Array<${typeOf(node.item, options)}>`;
    case "record":
      return `{ [key: string]: ${typeOf(node.value, options)} }`;
    case "nullable":
      return `${typeOf(node.inner, options)} | null`;
    case "gated":
      return typeOf(node.inner, options);
    case "object": {
      const own = objectType(shapeOf(node), options);
      return node.others === "kept" ? `${own} & { [key: string]: unknown }` : own;
    }
    case "tagged":
      return [...variantsOf(node)]
        .flatMap(([tag, shapes]) =>
          shapes.map((shape) => `\n  | ${objectType(shape, options, `${node.tag}: ${JSON.stringify(tag)}`)}`),
        )
        .join("");
    case "union":
      return optionsOf(node)
        .map((option) => typeOf(option, options))
        .join(" | ");
  }
}

function objectType(shape: Shape, options: GenerateOptions, tag?: string): string {
  const fields = visibleFields(shape, options).map((field) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(field.key) ? field.key : JSON.stringify(field.key);
    const type = typeOf(field.node, options);
    return `${key}${field.optional ? "?" : ""}: ${type}${field.nullable ? " | null" : ""}`;
  });
  const all = tag ? [tag, ...fields] : fields;
  return all.length ? `{ ${all.join("; ")} }` : "Record<string, never>";
}
