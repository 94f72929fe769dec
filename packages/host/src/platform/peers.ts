/** Who is at the other end of connections that this process has accepted. */
export interface Peers {
  find(socket: PeerSocket): Promise<Peer>;
  /** Sockets that descendants of this process, and processes with the mark, have open. */
  socketsOfOwn(mark: string): Promise<OwnSockets>;
}

export interface OwnSockets {
  /**
   * Whether one of these processes has a socket, or may have it: a process can keep this user from seeing what it has
   * open. Then a socket that is seen nowhere else may be one of its own.
   */
  mayHave(socket: number): boolean;
}

export type PeerSocket =
  | {
      readonly kind: "tcp";
      readonly localAddress: string;
      readonly localPort: number;
      readonly remoteAddress: string;
      readonly remotePort: number;
    }
  | { readonly kind: "unix"; readonly fd: number };

export type Peer =
  /** A process of this machine has it; the number stands for the peer's end in `socketsOfOwn`. */
  | { readonly kind: "here"; readonly socket: number; readonly isOtherUser: boolean }
  /** It comes from another machine. */
  | { readonly kind: "elsewhere" }
  /** It came from this machine, and no process has its other end any more. */
  | { readonly kind: "gone" }
  /** This system does not say. */
  | { readonly kind: "unknown" };
