/** The last part of a path, by which users recognize a folder. */
export function folderName(path: string): string {
  return (
    path
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1) || path
  );
}

/** A path as seen from a folder that contains it; other paths stay whole. */
export function pathWithin(folder: string, path: string): string {
  const start = folder.replace(/[/\\]+$/, "");
  const isWithin = start !== "" && path.startsWith(start) && /^[/\\]./.test(path.slice(start.length));
  return isWithin ? path.slice(start.length + 1) : path;
}
