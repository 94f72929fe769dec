import { describe, expect, it } from "vitest";
import { parseListen } from "./listen-url.ts";
import { ListenError } from "./listener.ts";

describe("parseListen", () => {
  it.each([
    ["stdio://", { kind: "stdio" }],
    ["off", { kind: "off" }],
    ["unix://", { kind: "unix" }],
    ["unix:///run/bobbin.sock", { kind: "unix", path: "/run/bobbin.sock" }],
    ["unix://bobbin.sock", { kind: "unix", path: "bobbin.sock" }],
    ["ws://127.0.0.1:4545", { kind: "websocket", host: "127.0.0.1", port: 4545 }],
    ["ws://127.0.0.1:4545/", { kind: "websocket", host: "127.0.0.1", port: 4545 }],
    ["ws://0.0.0.0:0", { kind: "websocket", host: "0.0.0.0", port: 0 }],
    ["ws://[::1]:4545", { kind: "websocket", host: "::1", port: 4545 }],
    ["ws://localhost:4545", { kind: "websocket", host: "127.0.0.1", port: 4545 }],
    [" ws://LocalHost:1 ", { kind: "websocket", host: "127.0.0.1", port: 1 }],
  ])("reads %s", (url, expected) => {
    expect(parseListen(url)).toEqual(expected);
  });

  it.each([
    ["", "it is empty"],
    ["stdio", "did you mean stdio://?"],
    ["unix:/tmp/x.sock", "did you mean unix:///tmp/x.sock?"],
    ["/tmp/x.sock", "did you mean unix:///tmp/x.sock?"],
    ["4545", "did you mean ws://127.0.0.1:4545?"],
    ["127.0.0.1:4545", "did you mean ws://127.0.0.1:4545?"],
    ["http://127.0.0.1:4545", "did you mean ws://127.0.0.1:4545?"],
    ["wss://127.0.0.1:4545", "TLS belongs into a proxy"],
    ["ftp://x", "use stdio://, unix://, unix://PATH, ws://IP:PORT or off"],
    ["OFF", "use stdio://"],
    ["ws://", "the address is missing"],
    ["ws://:4545", "the address is missing"],
    ["ws://127.0.0.1", "the port is missing, for example ws://127.0.0.1:4545"],
    ["ws://127.0.0.1:", "ws://IP:PORT"],
    ["ws://127.0.0.1:70000", "at most 65535"],
    ["ws://127.0.0.1:4545/path", "ws://IP:PORT"],
    ["ws://example.com:4545", '"example.com" is not an IP address'],
    ["ws://[example]:4545", "is not an IP address"],
    ["ws://[127.0.0.1]:4545", "is not an IP address"],
    ["ws://::1:4545", "needs brackets"],
    ["ws://user@127.0.0.1:4545", "is not an IP address"],
  ])("refuses %j and says what would be right", (url, advice) => {
    const attempt = () => parseListen(url);
    expect(attempt).toThrow(ListenError);
    expect(attempt).toThrow(advice);
    expect(attempt).toThrow(`cannot listen on "${url}"`);
    expect(attempt).toThrow(expect.objectContaining({ code: "badListenUrl" }));
  });
});
