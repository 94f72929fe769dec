import { messageOf } from "../errors.ts";
import type { Listener } from "../server/listen/listener.ts";
import { listenUnix, type UnixOptions } from "../server/listen/unix.ts";
import { removeUnanswered } from "../server/listen/unix-socket-file.ts";
import { commandSocketPath, controlSockets } from "./control-sockets.ts";

/**
 * Opens the socket by which `bobbin` commands find this host, and removes the sockets of killed hosts. If the socket
 * cannot be opened, returns the problem as a string: the host works without this socket.
 */
export async function openCommandSocket(options: UnixOptions): Promise<Listener | string> {
  try {
    for (const path of controlSockets(options.home)) await removeUnanswered(path).catch(() => {});
    return await listenUnix({ ...options, path: commandSocketPath(options.home) });
  } catch (cause) {
    return messageOf(cause);
  }
}
