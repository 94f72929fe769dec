// Which test file loads which module, directly or through others.
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "vite";

/**
 * Reads the imports of all files.
 *
 * @returns {(test: string) => Map<string, number>} The modules that a test file loads, and how many imports lead to each.
 */
export function importGraph(root, files) {
  const known = new Set(files);
  const imports = new Map();
  const importsOf = (file) => {
    if (!imports.has(file)) imports.set(file, known.has(file) ? read(root, file) : []);
    return imports.get(file);
  };
  return (test) => {
    const distances = new Map([[test, 0]]);
    for (const [file, distance] of distances)
      for (const next of importsOf(file)) if (!distances.has(next)) distances.set(next, distance + 1);
    return distances;
  };
}

/** The files that a file imports, statically, in an `import()` or as the URL of a worker. Packages are left out. */
function read(root, file) {
  const source = readFileSync(join(root, file), "utf8");
  const { module } = parseSync(file, source);
  const ofValues = ({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType);
  const named = [
    ...module.staticImports.filter(ofValues).map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.filter(({ isType }) => !isType).flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...[...source.matchAll(/import\("([^"]+)"\)|new URL\("([^"]+)"/g)].map(
      ([, loaded, url]) => loaded ?? url,
    ),
  ];
  return named.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(file), name)));
}
