// Which of a split program's parts go into one file. What a start needs is read at once, what the host needs right
// after, and the rest when it is first asked for: three files, however many parts there are.

/**
 * @typedef {object} Pack
 * @property {"start" | "host" | "rest"} name
 * @property {string[]} parts names of outputs
 */

/**
 * @param {import("esbuild").Metafile["outputs"]} outputs
 * @param {{ start: string[], host: string[] }} entries sources that are imported dynamically, or the entry itself
 * @returns {Pack[]}
 */
export function packsOf(outputs, entries) {
  const left = new Set(Object.keys(outputs));
  /** @param {string[]} sources */
  const take = (sources) => {
    const found = sources.map((source) => {
      const path = Object.keys(outputs).find((name) => outputs[name].entryPoint === source);
      if (path === undefined) throw new Error(`${source} is no part of its own: is it imported dynamically?`);
      return path;
    });
    /** @type {string[]} */
    const taken = [];
    for (let path = found.pop(); path !== undefined; path = found.pop()) {
      if (!left.delete(path)) continue;
      taken.push(path);
      for (const one of outputs[path].imports)
        if (one.kind === "import-statement" && !one.external) found.push(one.path);
    }
    return taken;
  };
  return [
    { name: "start", parts: take(entries.start) },
    { name: "host", parts: take(entries.host) },
    { name: "rest", parts: [...left] },
  ];
}
