/** Finds the processes at the other end of connections that this process accepted. */
export interface PeerLookup {
  find(socket: PeerSocket): Promise<Peer>;
  /** Judges the processes of this machine that have a socket open. `socket` is its inode. */
  holderOf(socket: number): Promise<Holder>;
}

/** The processes that have a socket open. */
export type Holder =
  /**
   * Processes of this user in this PID namespace. None of them was started by a host, this one or another, and none
   * descends from such a process.
   */
  | "user"
  /** At least one process that a host has started, or a descendant of one. */
  | "command"
  /** No process that this user can see, or one of which the system does not tell whether a host has started it. */
  | "unknown";

/** The local end of an accepted connection. */
export type PeerSocket =
  | {
      readonly kind: "tcp";
      readonly localAddress: string;
      readonly localPort: number;
      readonly remoteAddress: string;
      readonly remotePort: number;
    }
  | { readonly kind: "unix"; readonly fd: number };

/** Who is at the other end of a connection. */
export type Peer =
  /** A process on this machine; `socket` is the inode of the peer's end, for `holderOf`. */
  | { readonly kind: "here"; readonly socket: number; readonly isOtherUser: boolean }
  /** The connection comes from another machine. */
  | { readonly kind: "elsewhere" }
  /** The connection came from this machine, and no process holds its other end any more. */
  | { readonly kind: "gone" }
  /** This system cannot tell. */
  | { readonly kind: "unknown" };
