import { describe, expect, it } from "vitest";
import { type AuthFlags, parseAuthFlags } from "./auth-flags.ts";
import { ListenError } from "./listener.ts";

const digest = "ab".repeat(32);

describe("parseAuthFlags", () => {
  it.each<[AuthFlags, unknown]>([
    [{}, undefined],
    [
      { wsAuth: "capability-token", wsTokenFile: "/t" },
      { kind: "tokenFile", path: "/t" },
    ],
    [
      { wsAuth: "capability-token", wsTokenSha256: ` ${digest.toUpperCase()} ` },
      { kind: "tokenSha256", digest: Buffer.alloc(32, 0xab) },
    ],
    [
      { wsAuth: "signed-bearer-token", wsSharedSecretFile: "/s", wsIssuer: " me ", wsAudience: "  " },
      { kind: "signed", path: "/s", issuer: "me", maxClockSkewSeconds: 30 },
    ],
    [
      {
        wsAuth: "signed-bearer-token",
        wsSharedSecretFile: "/s",
        wsAudience: "you",
        wsMaxClockSkewSeconds: "0",
      },
      { kind: "signed", path: "/s", audience: "you", maxClockSkewSeconds: 0 },
    ],
  ])("reads %j", (flags, expected) => {
    expect(parseAuthFlags(flags)).toEqual(expected);
  });

  it.each<[AuthFlags, string]>([
    [{ wsAuth: "password" }, "use capability-token or signed-bearer-token"],
    [{ wsTokenFile: "/t" }, "--ws-token-file needs --ws-auth"],
    [{ wsIssuer: "me", wsAudience: "you" }, "--ws-issuer, --ws-audience need --ws-auth"],
    [{ wsAuth: "capability-token" }, "needs --ws-token-file or --ws-token-sha256"],
    [{ wsAuth: "capability-token", wsTokenFile: "/t", wsTokenSha256: digest }, "give one of them"],
    [{ wsAuth: "capability-token", wsTokenFile: "t" }, "must be an absolute path"],
    [{ wsAuth: "capability-token", wsTokenSha256: "abc" }, "64 hex digits"],
    [{ wsAuth: "capability-token", wsTokenSha256: "zz".repeat(32) }, "64 hex digits"],
    [
      { wsAuth: "capability-token", wsTokenFile: "/t", wsMaxClockSkewSeconds: 1 },
      "--ws-max-clock-skew-seconds needs --ws-auth signed-bearer-token",
    ],
    [{ wsAuth: "signed-bearer-token" }, "needs --ws-shared-secret-file"],
    [{ wsAuth: "signed-bearer-token", wsSharedSecretFile: "s" }, "must be an absolute path"],
    [
      { wsAuth: "signed-bearer-token", wsSharedSecretFile: "/s", wsTokenFile: "/t" },
      "--ws-token-file needs --ws-auth capability-token",
    ],
    ...["-1", "1.5", "soon", ""].map((skew): [AuthFlags, string] => [
      { wsAuth: "signed-bearer-token", wsSharedSecretFile: "/s", wsMaxClockSkewSeconds: skew },
      "whole number of seconds",
    ]),
  ])("refuses %j", (flags, advice) => {
    const attempt = () => parseAuthFlags(flags);
    expect(attempt).toThrow(ListenError);
    expect(attempt).toThrow(advice);
    expect(attempt).toThrow(expect.objectContaining({ code: "badAuthFlags" }));
  });
});
