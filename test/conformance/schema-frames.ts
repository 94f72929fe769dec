// Holds frames that our host sent against the peer's schemas. For tests only: at run time nothing that we
// send is validated.
import { Ajv, type ValidateFunction } from "ajv";
import { check } from "../../packages/protocol/src/schema-check.ts";
import { type Node, nodeOf, type Schema } from "../../packages/protocol/src/schema-language.ts";
import { findMethod, findNotification, findServerRequest } from "../../packages/protocol/src/table.ts";
import type { JsonSchema } from "./peer-schema/from-json-schema.ts";
import { withoutOurs } from "./peer-schema/from-table.ts";
import { PeerFiles } from "./peer-schema/peer-files.ts";

export type FrameKind = "notification" | "serverRequest" | { resultOf: string };
export type FrameChecker = (frame: unknown, kind: FrameKind) => string[];

type Frame = { id?: unknown; method?: string; params?: unknown; result?: unknown; error?: unknown };

/** `schemaDir` is what the peer's `generate-json-schema --experimental` wrote. */
export function peerFrameChecker(schemaDir: string): FrameChecker {
  const validate = peerValidator(new PeerFiles(schemaDir));

  return (frame, kind) => {
    if (typeof frame !== "object" || frame === null) return ["not an object"];
    const { id, method = "", params, result, error } = frame as Frame;
    const odd = "jsonrpc" in frame ? ["jsonrpc is left out on the wire"] : [];
    if (typeof kind === "object") {
      const entry = findMethod(kind.resultOf);
      if (error !== undefined) return [...odd, ...errorViolations(id, error)];
      if (!entry) return [...odd, `${kind.resultOf}: a result of a method that is not in the table`];
      return [
        ...odd,
        ...idViolations(id, "client"),
        ...both(validate, entry.result, result, entry.ours ? undefined : "result"),
      ];
    }
    const isRequest = kind === "serverRequest";
    const entry = isRequest ? findServerRequest(method) : findNotification(method);
    if (!entry) return [...odd, `${method}: not in the table`];
    const family =
      "ours" in entry && entry.ours ? undefined : isRequest ? "ServerRequest" : "ServerNotification";
    return [
      ...odd,
      ...(isRequest ? idViolations(id, "host") : []),
      ...both(validate, entry.params, params, family, method).map((text) => `${method}: ${text}`),
    ];
  };
}

type Where = "result" | "ServerRequest" | "ServerNotification";
type PeerValidator = (where: Where, name: string, value: unknown) => string[];

/** Our own type is the stricter one (it wants every nullable key to be there), so both have a say. */
function both(
  validate: PeerValidator,
  schema: Schema<unknown>,
  value: unknown,
  where: Where | undefined,
  method?: string,
): string[] {
  const node = nodeOf(schema);
  const violation = check(schema, structuredClone(value), { experimental: true, method: method ?? "" });
  const own = violation?.kind === "invalid" ? [`our type: ${violation.path}: ${violation.message}`] : [];
  if (!where) return own;
  const name = where === "result" ? nameOf(node) : method!;
  return [...own, ...validate(where, name, withoutOurs(node, value))];
}

export function peerValidator(files: PeerFiles): PeerValidator {
  // One registered bundle: compiling every schema with its own copy of the definitions takes minutes.
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: "peer", definitions: files.definitions });
  const compiled = new Map<string, ValidateFunction>();
  return (where, name, value) => {
    const key = `${where} ${name}`;
    let validate = compiled.get(key);
    if (!validate) {
      const schema: JsonSchema | undefined =
        where === "result"
          ? name in files.definitions && { $ref: `#/definitions/${name}` }
          : files.params(where).get(name);
      if (!schema) return [`the peer has no ${key}`];
      validate = ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', '"peer#/definitions/')),
      );
      compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `peer: ${error.instancePath || "/"} ${error.message}`);
  };
}

export function nameOf(node: Node): string {
  return "name" in node ? node.name : "";
}

// A reply has whatever number the client chose; only ours have to be what the peer's schema allows.
function idViolations(id: unknown, chosenBy: "client" | "host"): string[] {
  const fits =
    typeof id === "string" || (chosenBy === "client" ? typeof id === "number" : Number.isSafeInteger(id));
  return fits ? [] : [`bad id ${JSON.stringify(id)}`];
}

// An error about something that could not be read has the id null, which the peer's schema does not know.
function errorViolations(id: unknown, error: unknown): string[] {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return [
    ...(id === null ? [] : idViolations(id, "client")),
    ...(Number.isSafeInteger(code) ? [] : ["error.code is not an integer"]),
    ...(typeof message === "string" ? [] : ["error.message is not a string"]),
  ];
}
