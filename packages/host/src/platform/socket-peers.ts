/** Finds the processes at the other end of connections that this process accepted. */
export interface PeerLookup {
  find(socket: PeerSocket): Promise<Peer>;
  /** The sockets that are open in descendants of this process, and in processes with the mark. */
  socketsOfOwn(mark: string): Promise<OwnSockets>;
}

/** The sockets of the host's own processes. */
export interface OwnSockets {
  /**
   * Whether one of these processes has the socket open, or may have: a process can hide its descriptors from this
   * user. Then a socket that no visible process has open may belong to it.
   */
  mayHave(socket: number): boolean;
}

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
  /** A process on this machine; `socket` is the inode of the peer's end, for `mayHave`. */
  | { readonly kind: "here"; readonly socket: number; readonly isOtherUser: boolean }
  /** The connection comes from another machine. */
  | { readonly kind: "elsewhere" }
  /** The connection came from this machine, and no process holds its other end any more. */
  | { readonly kind: "gone" }
  /** This system cannot tell. */
  | { readonly kind: "unknown" };
