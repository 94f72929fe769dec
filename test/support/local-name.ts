import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { isHere } from "./machine.ts";

/** A host name of this machine other than `localhost`, for tests of network approvals. Null if there is none. */
export const localName: { readonly name: string; readonly address: string } | null = await lookup(
  hostname(),
  4,
).then(
  ({ address }) => ({ name: hostname().toLowerCase(), address }),
  () => null,
);

/** Whether network approvals by host name can be tested. */
export const hasLocalName = isHere(
  "NAMES",
  localName !== null,
  `an IPv4 address for its own name, ${hostname()}, for tests of connections by name (a line in /etc/hosts)`,
);
