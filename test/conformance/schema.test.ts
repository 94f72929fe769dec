// Our table against the peer's own schemas: what it accepts we accept, and what we may send it accepts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, inject, it } from "vitest";
import { check } from "../../packages/protocol/src/schema-check.ts";
import { nodeOf, type Schema, shapeOf } from "../../packages/protocol/src/schema-language.ts";
import { methods, notifications, serverRequests } from "../../packages/protocol/src/table.ts";
import { type JsonSchema, valuesOf } from "./peer-schema/from-json-schema.ts";
import { sendable } from "./peer-schema/from-table.ts";
import { ensurePeer, PEER_VERSION } from "./peer-schema/peer-binary.ts";
import { type Family, PeerFiles, writePeerSchemas } from "./peer-schema/peer-files.ts";
import { nameOf, peerFrameChecker, peerValidator } from "./schema-frames.ts";

const seed = Number(process.env.BOBBIN_SEED ?? 20_166);
const runs = { seed, numRuns: 100 };

// The set-up has installed it, or said that it could not.
const binary = inject("peerSchemas") === null ? undefined : await ensurePeer({ install: false });

describe.skipIf(!binary)(`schemas of the peer ${PEER_VERSION} (seed ${seed})`, async () => {
  if (!binary) return;
  const folder = await mkdtemp(join(tmpdir(), "peer-schemas-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  writePeerSchemas(binary, join(folder, "stable"), { experimental: false });
  writePeerSchemas(binary, join(folder, "all"), { experimental: true });
  const stable = new PeerFiles(join(folder, "stable"));
  const all = new PeerFiles(join(folder, "all"));
  const validate = peerValidator(all);

  const theirs = Object.entries(methods).filter(([, entry]) => !("ours" in entry && entry.ours));
  const told = Object.entries(notifications).filter(([, entry]) => !entry.ours);
  const asked = Object.entries(serverRequests);

  const accepts = (schema: Schema<unknown>, peer: JsonSchema, method: string) =>
    fc.assert(
      fc.property(valuesOf(peer, all.definitions), (value) => {
        const wire = JSON.parse(JSON.stringify(value));
        expect(check(schema, wire, { experimental: true, method })).toBeUndefined();
      }),
      runs,
    );
  /** The peer's stable schema has every notification; the program sends these to experimental clients alone. */
  const heldBack: ReadonlySet<string> = new Set(["thread/readState/changed"]);
  const sends = (
    schema: Schema<unknown>,
    where: "result" | "ServerRequest" | "ServerNotification",
    name: string,
  ) =>
    fc.assert(
      fc.property(sendable(nodeOf(schema)), (value) => {
        const wire = JSON.parse(JSON.stringify(value));
        expect(validate(where, name, wire)).toEqual([]);
        // The generator is only worth something if it makes what our type allows.
        expect(check(schema, structuredClone(wire), { experimental: true, method: name })).toBeUndefined();
      }),
      runs,
    );

  describe.each(theirs)("%s", (method, entry) => {
    const peer = all.params("ClientRequest").get(method);

    it("is as stable as the peer's", () => {
      expect(peer).toBeDefined();
      expect(entry.stability).toBe(stable.params("ClientRequest").has(method) ? "stable" : "experimental");
    });

    it("has the peer's fields", () => {
      sameFields(entry.params, "ClientRequest", method, entry.stability);
    });

    it("accepts what the peer accepts", () => accepts(entry.params, peer!, method));

    it("answers what the peer's schema allows", () =>
      sends(entry.result, "result", nameOf(nodeOf(entry.result))));
  });

  describe.each(told)("%s", (method, entry) => {
    it("sends notifications that the peer's schema allows", () => {
      const inStable = stable.params("ServerNotification").has(method);
      expect(inStable && !heldBack.has(method)).toBe(entry.stability === "stable");
      sends(entry.params, "ServerNotification", method);
    });
  });

  describe.each(asked)("%s", (method, entry) => {
    it("sends server requests that the peer's schema allows", () =>
      sends(entry.params, "ServerRequest", method));

    it("accepts the answers that the peer accepts", () =>
      accepts(entry.result, { $ref: `#/definitions/${nameOf(nodeOf(entry.result))}` }, method));
  });

  it("does not know the methods that are ours", () => {
    for (const [name, entry] of Object.entries(methods)) {
      if ("ours" in entry && entry.ours) expect(all.params("ClientRequest").has(name), name).toBe(false);
    }
  });

  it("finds what is wrong with a frame", () => {
    const violations = peerFrameChecker(all.folder);
    const closed = { method: "thread/closed", params: { threadId: "t", cursor: "3" } };
    expect(violations(closed, "notification")).toEqual([]);
    expect(violations({ method: "thread/closed", params: {} }, "notification")).not.toEqual([]);
    expect(violations({ method: "no/such", params: {} }, "notification")).not.toEqual([]);
    expect(violations({ id: 1, result: { status: "unloaded" } }, { resultOf: "thread/unload" })).toEqual([]);
    expect(violations({ id: 1, result: { data: 1 } }, { resultOf: "model/list" })).not.toEqual([]);
    expect(
      violations({ id: null, error: { code: -32700, message: "x" } }, { resultOf: "model/list" }),
    ).toEqual([]);
  });

  function sameFields(schema: Schema<unknown>, family: Family, method: string, stability: string): void {
    const node = nodeOf(schema);
    if (node.kind !== "object") return;
    const fields = shapeOf(node).filter((field) => !field.ours);
    const peer = resolve(all, family, method);
    expect(fields.map(({ key }) => key).sort()).toEqual(Object.keys(peer.properties ?? {}).sort());
    const required = fields.filter((field) => !field.optional).map(({ key }) => key);
    expect(required.sort()).toEqual([...(peer.required ?? [])].sort());
    if (stability === "experimental") return;
    const shown = Object.keys(resolve(stable, family, method).properties ?? {});
    const plain = fields.filter((field) => !field.experimental).map(({ key }) => key);
    expect(plain.sort()).toEqual(shown.sort());
  }
});

type ObjectSchema = { properties?: object; required?: string[] };

function resolve(files: PeerFiles, family: Family, method: string): ObjectSchema {
  const schema = files.params(family).get(method) as { $ref?: string };
  return (schema.$ref ? files.definitions[schema.$ref.split("/").at(-1)!] : schema) as ObjectSchema;
}
