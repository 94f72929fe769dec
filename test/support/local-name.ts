import { lookup } from "node:dns/promises";
import { hostname } from "node:os";

/** A host name of this machine other than `localhost`, for tests of network approvals. Null if there is none. */
export const localName: { readonly name: string; readonly address: string } | null = await lookup(
  hostname(),
  4,
).then(
  ({ address }) => ({ name: hostname().toLowerCase(), address }),
  () => null,
);
