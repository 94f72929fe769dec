import { lookup } from "node:dns/promises";
import { hostname } from "node:os";

/** A name that leads to this machine and is none of `localhost`: hosts can be asked about by it. Null where there is none. */
export const localName: { readonly name: string; readonly address: string } | null = await lookup(
  hostname(),
  4,
).then(
  ({ address }) => ({ name: hostname().toLowerCase(), address }),
  () => null,
);
