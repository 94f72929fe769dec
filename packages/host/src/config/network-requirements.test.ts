import { expect, it } from "vitest";
import { accessTo } from "../sandbox/network/host-rules.ts";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import { ignoredNetworkKeys, readNetworkRules, withinNetworkRules } from "./network-requirements.ts";

const read = (network: object) => readNetworkRules({ experimental_network: network })!;
const profile = (network: PermissionProfile["network"]) => ({ network }) as PermissionProfile;
const mine = { domains: [{ pattern: "mine.org", access: "allow" }], socks: false } as const;

it("gives commands the network by host, also where a profile or nobody says so", () => {
  const rules = read({ allowed_domains: ["a.org"], denied_domains: ["*.b.org"] });
  const profiles = new Map([
    ["hosts", profile(mine)],
    ["all", profile(true)],
    ["none", profile(false)],
  ]);
  const config = withinNetworkRules({ networkProxy: null, permissionProfiles: profiles }, rules);
  expect(accessTo(config.networkProxy!, "a.org")).toBe("allow");
  expect(accessTo(config.networkProxy!, "x.b.org")).toBe("deny");
  expect(accessTo(config.networkProxy!, "mine.org")).toBeNull();
  const hosts = config.permissionProfiles.get("hosts")!.network;
  expect(hosts).toMatchObject({ socks: false });
  expect(accessTo(hosts as typeof mine, "mine.org")).toBe("allow");
  expect(accessTo(hosts as typeof mine, "a.org")).toBe("allow");
  expect([...config.permissionProfiles.values()].map(({ network }) => network).slice(1)).toEqual([
    true,
    false,
  ]);
});

it("leaves out what people allow where only managed hosts are allowed, and keeps what they deny", () => {
  const rules = read({ domains: { "a.org": "allow", "b.org": "allow" }, managed_allowed_domains_only: true });
  const networkProxy = { ...mine, domains: [...mine.domains, { pattern: "b.org", access: "deny" } as const] };
  const config = withinNetworkRules({ networkProxy, permissionProfiles: new Map() }, rules);
  const access = ["a.org", "b.org", "mine.org", "new.org"].map((host) =>
    accessTo(config.networkProxy!, host),
  );
  expect(access).toEqual(["allow", "deny", "deny", "deny"]);
});

it("changes nothing where it is switched off", () => {
  const config = { networkProxy: null, permissionProfiles: new Map() };
  expect(withinNetworkRules(config, read({ enabled: false, domains: { "a.org": "deny" } }))).toBe(config);
  expect(withinNetworkRules(config, null)).toBe(config);
});

it("names keys that are not enforced, and refuses those that nobody knows", () => {
  expect(ignoredNetworkKeys({ experimental_network: { enabled: true, socks_port: 1 } })).toEqual([
    "experimental_network.socks_port",
  ]);
  expect(() => ignoredNetworkKeys({ experimental_network: { denyed_domains: [] } })).toThrow("is unknown");
  expect(() => read({ domains: {}, denied_domains: [] })).toThrow("cannot be set beside");
  expect(() => read({ domains: { "a b": "allow" } })).toThrow("is neither a host nor a pattern");
});
