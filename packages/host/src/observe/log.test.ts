import { expect, it } from "vitest";
import { isJsonLog, logFor, pinoLog } from "./log.ts";

function written(env: Record<string, string>): string {
  let text = "";
  const log = logFor(env, "info", (more) => {
    text += more;
  });
  log.debug("a detail");
  log.info("some news");
  log.error("a fault");
  return text.replaceAll(/^\d\d:\d\d:\d\d\.\d{3} /gm, "");
}

it("writes what LOG_LEVEL asks for, in any case of its letters", () => {
  expect(written({})).toBe("info  some news\nerror a fault\n");
  expect(written({ LOG_LEVEL: "" })).toBe("info  some news\nerror a fault\n");
  expect(written({ LOG_LEVEL: "DEBUG" })).toBe("debug a detail\ninfo  some news\nerror a fault\n");
  expect(written({ LOG_LEVEL: "error" })).toBe("error a fault\n");
  expect(written({ LOG_LEVEL: "silent" })).toBe("");
});

it("[START-5] warns about a level or a format that it does not know, names those that it does, and goes on", () => {
  expect(written({ LOG_LEVEL: "loud", LOG_FORMAT: "xml" })).toBe(
    "warn  LOG_LEVEL=loud is not one of debug, info, warn, error, silent; using info\n" +
      "warn  LOG_FORMAT=xml is not one of text, json; using text\n" +
      "info  some news\nerror a fault\n",
  );
});

it("writes JSON lines on demand", () => {
  const lines = written({ LOG_FORMAT: "json" }).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "info", msg: "some news" },
    { level: "error", msg: "a fault" },
  ]);
  expect([isJsonLog({ LOG_FORMAT: "JSON" }), isJsonLog({ LOG_FORMAT: "xml" }), isJsonLog({})]).toEqual([
    true,
    false,
    false,
  ]);
});

it("writes an error with its causes at once, in the fields of Pino", () => {
  const text: string[] = [];
  const log = pinoLog({ level: "info", format: "json", write: (line) => void text.push(line) });
  const cause = Object.assign(new Error("open failed"), { code: "EMFILE" });
  log.error("a fault", { cause: Object.assign(new TypeError("no log", { cause }), { code: "OUTER" }) });
  expect(JSON.parse(text[0]!)).toMatchObject({
    level: "error",
    msg: "a fault",
    cause: {
      type: "TypeError",
      message: "no log: open failed",
      code: "OUTER",
      stack: expect.stringMatching(/^TypeError: no log\n[\s\S]*\ncaused by: Error: open failed\n/),
    },
  });
});

it("writes a line although JSON cannot represent its fields", () => {
  const text: string[] = [];
  const log = pinoLog({ level: "info", format: "json", write: (line) => void text.push(line) });
  const circular: { self?: unknown; cause?: unknown } = new Error("round");
  circular.cause = circular;
  log.warn("a loop", { cause: circular });
  circular.self = circular;
  log.warn("another loop", { cause: { circular } });
  log.warn("large", { size: 2n ** 64n });
  expect(text.map((line) => JSON.parse(line).msg)).toEqual(["a loop", "another loop", "large"]);
  expect(JSON.parse(text[2]!).size).toBe("18446744073709551616");
});
