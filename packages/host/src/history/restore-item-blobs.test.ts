import type { ThreadItem, Turn } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { toSubscribers } from "../core/notification.ts";
import { itemsWithBlobs, restoreBlobs, turnsWithBlobs } from "./restore-item-blobs.ts";

const MI = 1024 * 1024;
const name = (nth: number): string => `${String(nth).padStart(64, "0")}.png`;

function item(id: string, ...content: readonly unknown[]): ThreadItem {
  return {
    type: "mcpToolCall",
    id,
    server: "s",
    tool: "t",
    status: "completed",
    arguments: {},
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: null,
    result: { content: [...content], structuredContent: null, _meta: null },
    error: null,
    durationMs: 1,
  };
}

const kept = (nth: number) => ({ type: "image", data: `kept:${name(nth)}`, mimeType: "image/png" });
const whole = (bytes: number) => ({
  type: "image",
  data: Buffer.alloc(bytes, 1).toString("base64"),
  mimeType: "image/png",
});
const blobOf =
  (bytes: number) =>
  async (asked: string): Promise<Uint8Array | undefined> =>
    asked === name(9) ? undefined : Buffer.alloc(bytes, 1);

describe("items with parts beside the journal", () => {
  it("[MCPCALL-5] are whole for clients: pictures, and bytes of resources", async () => {
    const resource = { uri: "a:b", blob: `kept:${name(1)}` };
    const given = [
      item("a", { type: "text", text: "Look" }, kept(1)),
      item("b", { type: "resource", resource }),
    ];
    expect(await itemsWithBlobs(given, blobOf(3))).toEqual([
      item("a", { type: "text", text: "Look" }, whole(3)),
      item("b", { type: "resource", resource: { uri: "a:b", blob: "AQEB" } }),
    ]);
  });

  it("[MCPCALL-5] say so where something is gone, or cannot be read", async () => {
    const text = expect.stringMatching(/not there any more/);
    expect(await itemsWithBlobs([item("a", kept(9))], blobOf(3))).toEqual([
      item("a", { type: "text", text }),
    ]);
    const broken = () => Promise.reject(new Error("EIO"));
    expect(await itemsWithBlobs([item("a", kept(1))], broken)).toEqual([item("a", { type: "text", text })]);
  });

  it("[MCPCALL-5] are restored up to a bound in one reply, the newest first", async () => {
    const turn = (...items: ThreadItem[]): Turn => ({ items }) as unknown as Turn;
    const turns = [turn(item("a", kept(1)), item("b", kept(2))), turn(item("c", kept(3)))];
    const [first, last] = await turnsWithBlobs(turns, blobOf(20 * MI));
    expect(last!.items).toEqual([item("c", whole(20 * MI))]);
    expect(first!.items[1]).toEqual(item("b", whole(20 * MI)));
    expect(first!.items[0]).toEqual(
      item("a", { type: "text", text: expect.stringMatching(/too many in this reply/) }),
    );
  });

  it("[MCPCALL-5] cost nothing where there are none", () => {
    const frame = toSubscribers("item/completed", {
      threadId: "t",
      turnId: "u",
      item: item("a", { type: "image", data: "AAAA" }, { type: "image", data: "kept:../../etc/passwd" }),
      completedAtMs: 1,
    });
    const fail = () => Promise.reject(new Error("read"));
    expect(restoreBlobs([[frame]], fail)).toBeUndefined();
    expect(restoreBlobs([[]], fail)).toBeUndefined();
  });
});
