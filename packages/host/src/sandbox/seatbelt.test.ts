import { describe, expect, it } from "vitest";
import { seatbelted, seatbeltProfile } from "./seatbelt.ts";

const nothing = {
  writable: [],
  protected: [],
  hidden: [],
  readable: [],
  readOnly: null,
  network: "none" as const,
};

describe("a profile for sandbox-exec", () => {
  it("denies by default and lets everything be read", () => {
    expect(seatbeltProfile(nothing)).toMatchInlineSnapshot(`
      "(version 1)
      (deny default)
      (allow process-exec)
      (allow process-fork)
      (allow process-info* (target same-sandbox))
      (allow signal (target same-sandbox))
      (allow sysctl-read)
      (allow ipc-posix-sem)
      (allow pseudo-tty)
      (allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
      (allow file-read*)
      (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
      (allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
      "
    `);
  });

  it("puts narrower rules behind wider ones, since the last one that matches counts", () => {
    const profile = seatbeltProfile({
      writable: ["/Users/ann/work", "/Users/ann/.bobbin/sandbox-caches/1/files"],
      protected: ["/Users/ann/work/.git"],
      hidden: [{ path: "/Users/ann/.bobbin", kind: "folder" }],
      readable: ["/Users/ann/.bobbin/threads/1"],
      readOnly: null,
      network: "all",
    });
    const rules = profile
      .split("\n")
      .filter((rule) => rule.includes("/Users/ann") || rule.includes("network"));
    expect(rules).toMatchInlineSnapshot(`
      [
        "(allow file-write* (subpath "/Users/ann/work"))",
        "(allow file-write* (subpath "/Users/ann/.bobbin/sandbox-caches/1/files"))",
        "(deny file-write* (subpath "/Users/ann/work/.git"))",
        "(deny file-read* file-write* (subpath "/Users/ann/.bobbin"))",
        "(allow file-read* (subpath "/Users/ann/.bobbin/threads/1"))",
        "(allow file-read* file-write* (subpath "/Users/ann/.bobbin/sandbox-caches/1/files"))",
        "(allow network-outbound (remote ip "*:*"))",
        "(allow network-inbound (local ip "*:*"))",
        "(allow network-bind (local ip "*:*"))",
        "(allow mach-lookup (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))",
        "(allow network-outbound (literal "/private/var/run/mDNSResponder"))",
      ]
    `);
  });

  it("quotes paths, so that none ends its own rule", () => {
    const writable = ['/tmp/a") (allow file-write*) ("'];
    const rules = seatbeltProfile({ ...nothing, writable }).split("\n");
    expect(rules).toContain('(allow file-write* (subpath "/tmp/a\\") (allow file-write*) (\\""))');
  });

  it("starts the program with its arguments behind the profile", () => {
    const program = { argv: ["ls", "-p"] as const, cwd: "/", env: {}, stdin: "closed" } as const;
    expect(seatbelted(program, nothing).argv).toEqual([
      "/usr/bin/sandbox-exec",
      "-p",
      seatbeltProfile(nothing),
      "--",
      "ls",
      "-p",
    ]);
  });
});
