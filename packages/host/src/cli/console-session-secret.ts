import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const BYTES = 32;

/** The secret that signs the console's session keys on this home. It is created when it is first needed. */
export async function consoleSessionSecret(home: string): Promise<Buffer> {
  const path = join(home, "console_session_secret");
  const known = await read(path);
  if (known !== undefined) return known;
  await mkdir(home, { recursive: true });
  const own = `${path}.${process.pid}`;
  await writeFile(own, randomBytes(BYTES).toString("hex"), { mode: 0o600 });
  try {
    // Linked instead of renamed: if two hosts start at once, the second one uses the secret of the first.
    await link(own, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  } finally {
    await rm(own, { force: true });
  }
  const made = await read(path);
  if (made === undefined) throw new Error(`${path} is not a secret of ${BYTES} bytes in hex; delete it`);
  return made;
}

async function read(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const secret = Buffer.from(text.trim(), "hex");
  return secret.length === BYTES ? secret : undefined;
}
