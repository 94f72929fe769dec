import { describe, expect, it } from "vitest";
import type { Log } from "../observe/log.ts";
import { RecentLog } from "../observe/recent-log.ts";
import { redactedLine } from "./redact-log-line.ts";
import { redactor } from "./redact-secrets.ts";
import { RedactedLogReader } from "./redacted-log-reader.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

describe("redactedLine", () => {
  const redact = redactor(["planted-value"]);
  const redacted = (fields: object) => redactedLine(JSON.stringify(fields), redact);

  it("redacts known values and values after a telling name", () => {
    expect(redacted({ msg: "with planted-value in it", access_token: "abcdefgh", key: "model" })).toEqual({
      msg: "with [redacted] in it",
      access_token: "[redacted]",
      key: "model",
    });
  });

  it("leaves numbers, and stays an object if a secret reaches over the JSON syntax", () => {
    const key = "-----BEGIN PRIVATE KEY-----";
    expect(redacted({ inputTokens: 1234567, deep: [{ msg: "planted-value" }] })).toEqual({
      inputTokens: 1234567,
      deep: [{ msg: "[redacted]" }],
    });
    expect(redacted({ inner: { said: `${key}\nMIIB` }, msg: "last" })).toEqual({
      inner: { said: "[redacted]" },
      msg: "last",
    });
  });
});

describe("RedactedLogReader", () => {
  const query = { cursor: null, limit: 10, level: "info" } as const;

  it("collects the secrets only if there are lines to send", async () => {
    let collected = 0;
    const log = new RecentLog(silent, () => 7);
    const lines = new RedactedLogReader({
      log,
      hostId: () => "host-1",
      redactor: async () => {
        collected++;
        return (text) => text;
      },
    });
    const empty = await lines.read(query);
    expect(empty).toEqual({ data: [], nextCursor: "host-1:0", hasMore: false, gap: false });
    expect(collected).toBe(0);
    log.warn("news", { count: 1 });
    const read = await lines.read({ ...query, cursor: empty.nextCursor });
    expect(read.data).toEqual([{ time: 7, level: "warn", message: "news", fields: { count: 1 } }]);
    expect(collected).toBe(1);
  });

  it("sends all lines and reports a gap for the cursor of another host, and refuses what is no cursor", async () => {
    const log = new RecentLog(silent, () => 0);
    log.info("first");
    const lines = new RedactedLogReader({
      log,
      hostId: () => "host-2",
      redactor: async () => (text) => text,
    });
    const read = await lines.read({ ...query, cursor: "host-1:900" });
    expect(read).toMatchObject({ data: [{ message: "first" }], nextCursor: "host-2:1", gap: true });
    for (const cursor of ["", "host-2", "host-2:x", "host-2:-1", "a b:1"])
      await expect(lines.read({ ...query, cursor })).rejects.toMatchObject({ code: "invalidCursor" });
  });
});
