// Walks the protocol table for the generators: which named types a schema needs, and which messages are generated.

import {
  type EnumNode,
  type FieldNode,
  type Node,
  nodeOf,
  type ObjectNode,
  optionsOf,
  type Schema,
  type Shape,
  shapeOf,
  type TaggedNode,
  type UnionNode,
  variantsOf,
} from "../schema-language.ts";
import { methods, notifications, serverRequests } from "../table.ts";
import * as rpc from "../types/rpc.ts";

export interface GenerateOptions {
  /** Whether to include experimental methods and fields. */
  experimental: boolean;
}
export type NamedNode = EnumNode | ObjectNode | TaggedNode | UnionNode;

export function isNamed(node: Node): node is NamedNode {
  return "name" in node && node.name !== "";
}

export function visibleFields(shape: Shape, options: GenerateOptions): FieldNode[] {
  return shape.filter(
    (field) => field.outside === undefined && (options.experimental || !field.experimental),
  );
}

export function childrenOf(node: Node, options: GenerateOptions): Node[] {
  switch (node.kind) {
    case "array":
      return [node.item];
    case "record":
      return [node.value];
    case "nullable":
    case "gated":
      return [node.inner];
    case "object":
      return visibleFields(shapeOf(node), options).map((field) => field.node);
    case "tagged":
      return [...variantsOf(node).values()]
        .flat()
        .flatMap((shape) => visibleFields(shape, options).map((field) => field.node));
    case "union":
      return [...optionsOf(node)];
    default:
      return [];
  }
}

/** Every named type that `roots` refer to, directly or not, by name. Includes the roots. */
export function reachable(roots: readonly Node[], options: GenerateOptions): Map<string, NamedNode> {
  const found = new Map<string, NamedNode>();
  const waiting = [...roots];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (isNamed(node)) {
      if (found.has(node.name)) continue;
      found.set(node.name, node);
    }
    waiting.push(...childrenOf(node, options));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface Message {
  method: string;
  params: Node;
  result?: Node;
}

/** The messages to generate, in their three families. */
export function messages(options: GenerateOptions): Record<MessageFamily, Message[]> {
  const shown = ([, entry]: [string, { stability: string }]) =>
    options.experimental || entry.stability === "stable";
  return {
    ClientRequest: Object.entries(methods).filter(shown).map(toMessage),
    ServerNotification: Object.entries(notifications).filter(shown).map(toMessage),
    ServerRequest: Object.entries(serverRequests).map(toMessage),
  };
}
export type MessageFamily = "ClientRequest" | "ServerNotification" | "ServerRequest";

function toMessage([method, entry]: [
  string,
  { params: Schema<unknown>; result?: Schema<unknown> },
]): Message {
  return {
    method,
    params: nodeOf(entry.params),
    ...(entry.result && { result: nodeOf(entry.result) }),
  };
}

/** Whether a client may leave out the params altogether. */
export const mayOmitParams = (node: Node): boolean => node.kind === "nothing" || node.kind === "nullable";

/** JSON-RPC frames and ids. No method refers to them, but they are part of the protocol. */
export const rpcNodes: readonly Node[] = Object.values(rpc).map((schema) => nodeOf(schema));

const SERVER_REQUEST_TYPES = () =>
  new Set(
    Object.values(serverRequests).flatMap(({ params, result }) =>
      [nodeOf(params), nodeOf(result)].map((node) => (isNamed(node) ? node.name : "")),
    ),
  );

/** The folder to which the Codex CLI writes a type. Build steps of clients expect it there. */
export function folderOf(name: string): "" | "v1/" | "v2/" {
  if (/^Initialize(Params|Response)$/.test(name)) return "v1/";
  return SERVER_REQUEST_TYPES().has(name) || rpcNodes.some((node) => isNamed(node) && node.name === name)
    ? ""
    : "v2/";
}
