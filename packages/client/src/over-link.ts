import { Frame, type Link, type LinkEvents } from "@bobbin/rpc";
import { BobbinClient } from "./client.ts";

/** A link that tells its events to whoever attaches; an end of a `memoryPair` is one. */
export interface AttachableLink extends Link {
  attach(events: LinkEvents): unknown;
}

/**
 * A client on a link of this process: how tests and embedders talk to a host without a socket.
 *
 * @example
 * const [ours, theirs] = memoryPair();
 * theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
 * const client = overLink(ours);
 * await client.initialize({ name: "my-app", version: "1.0.0" });
 */
export function overLink(link: AttachableLink): BobbinClient {
  return new BobbinClient((events) => {
    link.attach({
      message: (text) => events.message(text),
      // Hosts do not send what they refuse to read, so this is a broken one.
      oversized: () => void link.close("protocol"),
      undecodable: () => void link.close("protocol"),
      drained() {},
      closed: () => events.closed("the connection was closed"),
    });
    return {
      send: (text) => link.send(new Frame(text)),
      close: () => void link.close("normal"),
    };
  });
}
