import { describe, expect, it } from "vitest";
import { accessTo, plainHost } from "./host-rules.ts";
import { isPublicAddress, isSameAddress } from "./ip-addresses.ts";
import { readRequestHead } from "./proxy-request.ts";

describe("addresses", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a9fe:a9fe",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2001::1",
    "2002:7f00:1::",
    "2001:db8::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "not an address",
    "1.2.3",
    "01.2.3.4",
    "1::2::3",
    "12345::",
  ])("[NETWORK-5] that are not public: %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"])(
    "that are public: %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it("are the same in every spelling", () => {
    expect(isSameAddress("::ffff:127.0.0.1", "127.0.0.1")).toBe(true);
    expect(isSameAddress("0:0:0:0:0:0:0:1", "::1")).toBe(true);
    expect(isSameAddress("::1", "127.0.0.1")).toBe(false);
  });
});

describe("hosts", () => {
  it.each([
    ["2130706433", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["%31%32%37.0.0.1", "127.0.0.1"],
    ["\uff11\uff12\uff17.0.0.1", "127.0.0.1"],
    ["[::FFFF:127.0.0.1]", "::ffff:7f00:1"],
    ["::1", "::1"],
    ["EXAMPLE.org.", "example.org"],
    ["b\u00fccher.example", "xn--bcher-kva.example"],
    ["my_host", "my_host"],
  ])("[NETWORK-5] have one spelling: %j is %s", (host, plain) => {
    expect(plainHost(host)).toBe(plain);
  });

  it.each(["", ".", "a b", "a/b", "a@b", "a:b", "[::1", "fe80::1%eth0", "*", "a..b", "-a"])(
    "are refused where they are neither a name nor an address: %j",
    (host) => {
      expect(plainHost(host)).toBe(null);
    },
  );

  it("are found by patterns, and what is denied is not allowed", () => {
    const rules = {
      socks: true,
      domains: [
        { pattern: "*.example.org", access: "allow" },
        { pattern: "**.example.net", access: "allow" },
        { pattern: "evil.example.net", access: "deny" },
        { pattern: "::1", access: "allow" },
      ],
    } as const;
    expect(accessTo(rules, "a.example.org")).toBe("allow");
    expect(accessTo(rules, "a.b.example.org")).toBe("allow");
    expect(accessTo(rules, "example.org")).toBe(null);
    expect(accessTo(rules, "notexample.org")).toBe(null);
    expect(accessTo(rules, "example.net")).toBe("allow");
    expect(accessTo(rules, "notexample.net")).toBe(null);
    expect(accessTo(rules, "evil.example.net")).toBe("deny");
    expect(accessTo(rules, "0:0::1")).toBe("allow");
  });
});

describe("a request to the proxy", () => {
  it("is forwarded without what is meant for the proxy, and for one host only", () => {
    const head = [
      "GET http://Example.org:8080/a?b#c HTTP/1.1",
      "Host: other.example",
      "Proxy-Authorization: Basic eDp5",
      "Proxy-Connection: keep-alive",
      "Connection: keep-alive",
      "X-Own: 1",
    ].join("\r\n");
    expect(readRequestHead(head)).toEqual({
      kind: "target",
      target: { host: "example.org", port: 8080, protocol: "http" },
      forward: "GET /a?b HTTP/1.1\r\nHost: example.org:8080\r\nX-Own: 1\r\nConnection: close\r\n\r\n",
    });
  });

  it.each([
    "GET / HTTP/1.1",
    "GET https://example.org/ HTTP/1.1",
    "GET http://user:password@example.org/ HTTP/1.1",
    "GET file:///etc/passwd HTTP/1.1",
    "GET http://example.org/ HTTP/2",
    "GET http://example.org/ x HTTP/1.1",
    "GET http://example.org/ HTTP/1.1\r\n folded: header",
    "GET http://example.org/ HTTP/1.1\r\nno colon",
    "CONNECT example.org HTTP/1.1",
    "CONNECT /var/run/docker.sock HTTP/1.1",
    "CONNECT unix:/var/run/docker.sock:1 HTTP/1.1",
    "CONNECT example.org:0 HTTP/1.1",
    "CONNECT example.org:65536 HTTP/1.1",
    "CONNECT user@example.org:443 HTTP/1.1",
    "nonsense",
    "",
  ])("is refused if it makes no sense: %j", (head) => {
    expect(readRequestHead(head).kind).toBe("bad");
  });
});
