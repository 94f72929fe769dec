import type { PeerLookup, PeerSocket } from "../../platform/socket-peers.ts";
import type { Refusal } from "./http-refusal.ts";

export interface CallerGuardPorts {
  readonly peers: PeerLookup;
  /** The mark (environment variable) of the processes that this host has started; undefined if it has started none. */
  mark(): string | undefined;
  /** Called once if this system cannot tell which process connects. A command could then connect unnoticed. */
  blind(): void;
  /** Whether a process that the system cannot identify is refused, once the host has started processes. */
  readonly refuseUnknown?: boolean;
}

/**
 * Refuses connections from processes that this host started: a command must not connect to the host that runs it
 * and approve its own questions. A listener without authentication also refuses other users of this machine.
 */
export class CallerGuard {
  readonly #ports: CallerGuardPorts;
  #isBlind = false;

  constructor(ports: CallerGuardPorts) {
    this.#ports = ports;
  }

  /**
   * Undefined, or a promise of undefined, if the caller may connect. `isOpen`: the listener has no authentication.
   */
  check(socket: PeerSocket, isOpen: boolean): Promise<Refusal | undefined> | undefined {
    // Fast path: the host has started no processes, and other users may connect.
    return this.#ports.mark() === undefined && !isOpen ? undefined : this.#check(socket, isOpen);
  }

  async #check(socket: PeerSocket, isOpen: boolean): Promise<Refusal | undefined> {
    const { peers, mark } = this.#ports;
    const peer = await peers.find(socket);
    if (peer.kind === "gone") return GONE;
    if (peer.kind === "unknown" && mark() !== undefined) {
      if (this.#ports.refuseUnknown === true) return UNKNOWN;
      this.#cannotTell();
    }
    if (peer.kind !== "here") return undefined;
    if (isOpen && peer.isOtherUser) return OTHER_USER;
    const own = mark();
    return own !== undefined && (await peers.socketsOfOwn(own)).mayHave(peer.socket)
      ? OWN_PROCESS
      : undefined;
  }

  #cannotTell(): void {
    if (this.#isBlind) return;
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

const UNKNOWN: Refusal = {
  status: 403,
  code: "callerUnknown",
  message: "this system does not tell whether a command of this host is connecting",
};

const OWN_PROCESS: Refusal = {
  status: 403,
  code: "ownProcess",
  message: "commands that this host runs may not connect to it",
};
