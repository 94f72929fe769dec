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
 * Refuses connections from processes that a host started: a command must not connect to a host and approve its own
 * questions. A TCP listener without authentication serves only processes that are known to be the user's own.
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
    // Fast path: commands in a sandbox cannot connect to Unix sockets, and the host has started no other ones.
    if (socket.kind === "unix" && this.#ports.mark() === undefined) return undefined;
    return this.#check(socket, isOpen);
  }

  async #check(socket: PeerSocket, isOpen: boolean): Promise<Refusal | undefined> {
    const { peers, mark, refuseUnknown = false } = this.#ports;
    const peer = await peers.find(socket);
    if (peer.kind === "gone") return GONE;
    if (peer.kind === "unknown" && mark() !== undefined) {
      if (refuseUnknown) return UNKNOWN;
      this.#cannotTell();
    }
    if (peer.kind !== "here") return undefined;
    if (isOpen && peer.isOtherUser) return OTHER_USER;
    switch (await peers.holderOf(peer.socket)) {
      case "user":
        return undefined;
      case "command":
        return OWN_PROCESS;
      case "unknown":
        // A token proves who connects, and only the user can open a Unix socket.
        return isOpen ? UNTOLD : refuseUnknown ? UNKNOWN : undefined;
    }
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
  message: "the process that opened this connection has closed it; connect again, and keep the socket open",
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
  message:
    "this system does not tell whether a command of this host is connecting to the host's own socket; give the host a " +
    "listener for clients, for example --listen unix://",
};

const UNTOLD: Refusal = {
  status: 403,
  code: "callerUnknown",
  message:
    "this listener has no authentication, and serves only processes whose open files and environment the host can " +
    "see and that run outside of containers; for an SSH tunnel or a container, start the host with --ws-auth and " +
    "send a token",
};

const OWN_PROCESS: Refusal = {
  status: 403,
  code: "ownProcess",
  message:
    "commands that a host runs may not connect to a host, and neither may programs started from them; connect from " +
    "a terminal that no Bobbin has started",
};
