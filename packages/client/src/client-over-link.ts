import { Frame, type Link, type LinkEvents } from "@bobbin/rpc";
import { BobbinClient } from "./client.ts";

/** A link whose events can be listened to, such as one end of a `memoryPair`. */
export interface AttachableLink extends Link {
  /** Sends what arrives on the link to `events`. Called once. */
  attach(events: LinkEvents): unknown;
}

/**
 * Creates a client on a link within this process, so that tests and embedders can use a host without a socket.
 *
 * @example
 * const client = overLink(link); // one end of a pair; a host has accepted the other one
 * await client.initialize({ name: "my-app", version: "1.0.0" });
 */
export function overLink(link: AttachableLink): BobbinClient {
  return new BobbinClient((events) => {
    link.attach({
      message: (text) => events.message(text),
      // No valid host sends such messages, so the connection is closed.
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
