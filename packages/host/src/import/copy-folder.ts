import { join } from "node:path";
import type { Platform } from "../platform/platform.ts";
import { ImportProblem } from "./pending-import.ts";
import { withOwnFileNames, writeText } from "./text-files.ts";

const MAX_FILES = 2000;
const MAX_DEPTH = 16;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * Copies a folder into `into` under a new name. The copy is made in a temporary folder and then renamed, so that a
 * crash leaves a whole copy or none. Symlinks are skipped, because their targets are not part of the skill.
 */
export async function copyFolder(
  platform: Pick<Platform, "files" | "workspace">,
  source: string,
  into: string,
  name: string,
): Promise<void> {
  const { files, workspace } = platform;
  // A name with a dot, because folders with such names are not read as skills.
  const draft = join(into, `.${name}.importing`);
  await files.remove(draft);
  const left = { files: MAX_FILES, bytes: MAX_BYTES };
  const copy = async (from: string, to: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH) throw new ImportProblem(`${from} is too deep`);
    for (const entry of await files.list(from)) {
      const [path, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.folder) {
        await copy(path, target, depth + 1);
        continue;
      }
      if ((await files.realPath(path)) !== join(await files.realPath(from), entry.name)) continue;
      const file = await workspace.read(path, MAX_FILE_BYTES);
      if (file === undefined) continue;
      left.bytes -= file.bytes.length;
      if (--left.files < 0 || left.bytes < 0) throw new ImportProblem(`${source} is too large to be copied`);
      const bytes = /^skill\.md$/i.test(entry.name)
        ? Buffer.from(withOwnFileNames(Buffer.from(file.bytes).toString("utf8")))
        : file.bytes;
      await writeText(platform, into, target, bytes, file.mode);
    }
  };
  try {
    await copy(source, draft, 0);
    if (left.files === MAX_FILES) throw new ImportProblem(`${source} has no files in it`);
    await files.rename(draft, join(into, name));
  } catch (cause) {
    await files.remove(draft).catch(() => {});
    throw cause;
  }
}
