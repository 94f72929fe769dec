import { describe, expect, it } from "vitest";
import { readRap, threadToolServers } from "./tool-servers.ts";

const DESK = { url: "https://tools.example.com/desk" };
const read = (entry: object, rap: object = {}) => readRap({ rap, rap_servers: { desk: entry } });

describe("tool servers in config.toml", () => {
  it("are none, and nothing listens for them, where none is named", () => {
    const listen = { host: "127.0.0.1", port: 0 };
    expect(readRap({})).toEqual({ callbackListen: listen, callbackPublicUrl: null, servers: [] });
  });

  it("have what is needed, and what was said", () => {
    expect(read(DESK).servers).toEqual([
      {
        name: "desk",
        url: "https://tools.example.com/desk",
        bearerTokenEnvVar: null,
        headers: {},
        allowedOrigins: [],
        approval: "destructive",
        callDeadlineSecs: null,
      },
    ]);
    const said = read(
      {
        ...DESK,
        bearer_token_env_var: "DESK_TOKEN",
        headers: { "X-Team": "a" },
        allowed_origins: ["https://run.example.com/whatever"],
        approval: "always",
      },
      {
        call_deadline_secs: 60,
        callback_listen: "[::1]:8000",
        callback_public_url: "https://me.example.com/x",
      },
    );
    expect(said.callbackListen).toEqual({ host: "::1", port: 8000 });
    expect(said.servers[0]).toMatchObject({
      headers: { "x-team": "a" },
      allowedOrigins: ["https://run.example.com"],
      approval: "always",
      callDeadlineSecs: 60,
    });
  });

  it("are refused by the key that is wrong", () => {
    const bad: [() => unknown, RegExp][] = [
      [() => read({}), /rap_servers\.desk\.url is required/],
      [() => read({ url: "file:///etc" }), /rap_servers\.desk\.url/],
      [() => read({ url: "https://me:secret@tools.example.com" }), /credentials/],
      [() => read({ ...DESK, approval: "never" }), /approval/],
      [() => read({ ...DESK, headers: { "a b": "c" } }), /headers\.a b/],
      [() => read({ ...DESK, headers: { a: "c\nd" } }), /headers\.a/],
      [() => read({ ...DESK, allowed_origins: "x" }), /allowed_origins/],
      [() => read({ ...DESK, call_deadline_secs: 0 }), /desk\.call_deadline_secs: expected .* at least 1/],
      [() => read(DESK, { call_deadline_secs: 1e12 }), /rap\.call_deadline_secs: expected .* at most/],
      [() => read(DESK, { callback_listen: "8080" }), /rap\.callback_listen/],
      [() => read(DESK, { callback_public_url: "me" }), /rap\.callback_public_url/],
      [() => read(DESK, { callback_public_url: "https://me.example/x?y=1" }), /without \? and #/],
      [() => read(DESK, { callback_public_url: "https://me.example/#" }), /without \? and #/],
    ];
    for (const [reads, says] of bad) expect(reads).toThrow(says);
    for (const name of ["", "x".repeat(129), "a\nb", "\u001b[2J", "a\u0085"])
      expect(() => readRap({ rap_servers: { [name]: DESK } })).toThrow(/has 1 to 128 characters/);
  });
});

describe("a thread's own tool servers", () => {
  const rap = readRap({ rap_servers: { desk: DESK, mail: { url: "https://mail.example.com" } } });
  const names = (given: Record<string, unknown> | null) => {
    const { used, notified } = threadToolServers(rap, given);
    return [used.map(({ name }) => name).join(), notified.map(({ url }) => new URL(url).host).join()];
  };

  it("are those of the host where it says nothing", () => {
    expect(names(null)).toEqual(["desk,mail", "tools.example.com,mail.example.com"]);
  });

  it("leave out, add and replace; who is known is notified in any case", () => {
    expect(names({ mail: false })).toEqual(["desk", "tools.example.com,mail.example.com"]);
    expect(names({ own: { url: "https://own.example.com" } })).toEqual([
      "desk,mail,own",
      "tools.example.com,mail.example.com,own.example.com",
    ]);
    expect(names({ mail: { url: "https://own.example.com" } })).toEqual([
      "desk,mail",
      "tools.example.com,mail.example.com,own.example.com",
    ]);
  });

  it("are notified with the credentials that they are called with, each once", () => {
    const { url } = DESK;
    const [of, own] = [{ authorization: "config" }, { authorization: "thread" }];
    const known = readRap({ rap_servers: { desk: { url, headers: of } } });
    const notified = (given: Record<string, unknown>) =>
      threadToolServers(known, given).notified.map(({ headers }) => headers["authorization"]);
    expect(notified({ desk: { url, headers: own } })).toEqual(["thread"]);
    expect(notified({ desk: false, mine: { url, headers: own } })).toEqual(["thread"]);
    // Both are called.
    expect(notified({ mine: { url, headers: own } })).toEqual(["config", "thread"]);
    expect(notified({ mine: { url, headers: of } })).toEqual(["config"]);
    expect(notified({ desk: false })).toEqual(["config"]);
  });

  it("[REACH-3] are left out where the thread may not use them, and what they replaced stays replaced", () => {
    const own = { desk: { url: "https://own.example.com" }, mine: { url: "https://mine.example.com" } };
    const mayUse = ({ name }: { name: string }) => name === "mine";
    const { used, notified } = threadToolServers(rap, own, mayUse);
    expect(used.filter(({ url }) => url.includes("own.example"))).toEqual([]);
    expect(used.map(({ name }) => name)).not.toContain("desk");
    expect(used.map(({ name }) => name)).toContain("mine");
    expect(notified.filter(({ url }) => url.includes("own.example"))).toEqual([]);
  });

  it("cannot read the host's environment", () => {
    const own = { own: { url: "https://own.example.com", bearer_token_env_var: "OPENAI_API_KEY" } };
    expect(() => threadToolServers(rap, own)).toThrow(/only config.toml/);
    expect(() => threadToolServers(rap, { own: "https://own.example.com" })).toThrow(/toolServers\.own/);
    const rerouted = { own: { url: "https://own.example.com", headers: { Host: "admin.internal" } } };
    expect(() => threadToolServers(rap, rerouted)).toThrow(
      "toolServers.own.headers.host: this header cannot be set",
    );
  });
});
