import type { PeerSocket, Peers } from "../../platform/peers.ts";
import type { Refusal } from "./refusal.ts";

export interface CallerGuardPorts {
  readonly peers: Peers;
  /** What marks the processes that this host has started; undefined while it has started none. */
  mark(): string | undefined;
  /** Called once, when a command could connect because this system does not say who does. */
  blind(): void;
}

/**
 * Keeps out processes that this host started: a command must not connect to the host that runs it, and answer its own
 * approvals there. A listener without authentication also keeps out other users of this machine.
 */
export class CallerGuard {
  readonly #ports: CallerGuardPorts;
  #isBlind = false;

  constructor(ports: CallerGuardPorts) {
    this.#ports = ports;
  }

  /** Undefined, at once or later, if the caller may connect. `isOpen`: nothing else proves who it is. */
  check(socket: PeerSocket, isOpen: boolean): Promise<Refusal | undefined> | undefined {
    // Without processes of ours, and with nothing to say about other users, there is nothing to look for.
    return this.#ports.mark() === undefined && !isOpen ? undefined : this.#check(socket, isOpen);
  }

  async #check(socket: PeerSocket, isOpen: boolean): Promise<Refusal | undefined> {
    const { peers, mark } = this.#ports;
    const peer = await peers.find(socket);
    if (peer.kind === "gone") return GONE;
    if (peer.kind === "unknown") this.#cannotTell();
    if (peer.kind !== "here") return undefined;
    if (isOpen && peer.isOtherUser) return OTHER_USER;
    const own = mark();
    return own !== undefined && (await peers.socketsOfOwn(own)).mayHave(peer.socket)
      ? OWN_PROCESS
      : undefined;
  }

  #cannotTell(): void {
    if (this.#isBlind || this.#ports.mark() === undefined) return;
    this.#isBlind = true;
    this.#ports.blind();
  }
}

const GONE: Refusal = {
  status: 403,
  code: "callerGone",
  message: "the process that opened this connection has closed it",
};

const OTHER_USER: Refusal = {
  status: 403,
  code: "otherUser",
  message:
    "this listener serves the user that runs the host; for other users, start the host with --ws-auth and send a token",
};

const OWN_PROCESS: Refusal = {
  status: 403,
  code: "ownProcess",
  message: "commands that this host runs may not connect to it",
};
