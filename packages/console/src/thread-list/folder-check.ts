import { type Bobbin, RpcError } from "@bobbin/client";

/**
 * Refuses a folder that does not exist on the host's machine, because every command of the thread would fail. A
 * relative path and a path that the client may not look at are left to the host.
 */
export async function checkFolder(client: Bobbin, path: string): Promise<void> {
  if (path.startsWith("~")) throw new Error(`Write the whole path of the folder, without ~: ${path}`);
  if (!path.startsWith("/")) return;
  const found = await client.request("fs/getMetadata", { path }).catch((cause: unknown) => {
    const code = cause instanceof RpcError ? (cause.data as { code?: unknown } | undefined)?.code : undefined;
    return code === "fileNotFound" ? null : undefined;
  });
  if (found === null) throw new Error(`There is no folder ${path} on the host’s machine.`);
  if (found?.isDirectory === false) throw new Error(`${path} is not a folder.`);
}
