import { expect, it } from "vitest";
import { isJsonLog, logFor, pinoLog } from "./log.ts";

async function written(env: Record<string, string>): Promise<string> {
  let text = "";
  const log = logFor(env, "info", (more) => {
    text += more;
  });
  log.debug("a detail");
  log.info("some news");
  log.error("a fault");
  await log.flushed();
  return text.replaceAll(/^\d\d:\d\d:\d\d\.\d{3} /gm, "");
}

it("writes what LOG_LEVEL asks for, in any case of its letters", async () => {
  expect(await written({})).toBe("info  some news\nerror a fault\n");
  expect(await written({ LOG_LEVEL: "" })).toBe("info  some news\nerror a fault\n");
  expect(await written({ LOG_LEVEL: "DEBUG" })).toBe("debug a detail\ninfo  some news\nerror a fault\n");
  expect(await written({ LOG_LEVEL: "error" })).toBe("error a fault\n");
  expect(await written({ LOG_LEVEL: "silent" })).toBe("");
});

it("[START-5] warns about a level or a format that it does not know, names those that it does, and goes on", async () => {
  expect(await written({ LOG_LEVEL: "loud", LOG_FORMAT: "xml" })).toBe(
    "warn  LOG_LEVEL=loud is not one of debug, info, warn, error, silent; using info\n" +
      "warn  LOG_FORMAT=xml is not one of text, json; using text\n" +
      "info  some news\nerror a fault\n",
  );
});

it("writes JSON lines on demand", async () => {
  const lines = (await written({ LOG_FORMAT: "json" })).trim().split("\n");
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

it("writes a plain line without Pino as Pino does", async () => {
  const lines = async (format: "json" | "text", opened: boolean) => {
    const all: string[] = [];
    const log = pinoLog({ level: "info", format, write: (line) => void all.push(line) });
    // An error needs Pino; all later lines go through Pino, too, so that their order is kept.
    if (opened) log.warn("opens it", { cause: new Error("no") });
    const fields = {
      on: ["ws://127.0.0.1:1", "unix:///x"],
      home: 'a "quoted"\n\u0001 Zoë',
      count: 3,
      is: true,
    };
    log.info("listening", fields);
    log.error("no fields");
    await log.flushed();
    const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|\d\d:\d\d:\d\d\.\d{3}/;
    return all.slice(opened ? 1 : 0).map((line) => line.replace(TIME, "then"));
  };
  for (const format of ["json", "text"] as const)
    expect(await lines(format, false)).toEqual(await lines(format, true));
  expect(await lines("text", false)).toHaveLength(2);
});
