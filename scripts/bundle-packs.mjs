// Decides which parts of the split program go into one file (a pack), so that a start reads few files and no unneeded
// code: one pack for every start, one for the host, one for listening on sockets, and one for the rest.

/**
 * @typedef {object} Pack
 * @property {"start" | "host" | "sockets" | "rest"} name
 * @property {string[]} parts names of outputs
 */

/**
 * @param {import("esbuild").Metafile["outputs"]} outputs
 * @param {{ start: string[], host: string[], sockets: string[] }} entries sources that are imported dynamically, or the entry itself
 * @returns {Pack[]}
 */
export function packsOf(outputs, entries) {
  const left = new Set(Object.keys(outputs));
  /** @param {string[]} sources */
  const take = (sources) => {
    const found = sources.map((source) => {
      const path = Object.keys(outputs).find((name) => outputs[name].entryPoint === source);
      if (path === undefined)
        throw new Error(`${source} is not a separate part of the bundle: import it dynamically`);
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
  // Parts that the host and the sockets share go into the start pack: neither has to read the pack of the other.
  const reach = (/** @type {string[]} */ sources) => {
    const before = new Set(left);
    const taken = take(sources);
    for (const path of before) left.add(path);
    return taken;
  };
  const ofSockets = new Set(reach(entries.sockets));
  const shared = reach(entries.host).filter((path) => ofSockets.has(path));
  const start = take(entries.start);
  return [
    { name: "start", parts: [...start, ...shared.filter((path) => left.delete(path))] },
    { name: "host", parts: take(entries.host) },
    { name: "sockets", parts: take(entries.sockets) },
    { name: "rest", parts: [...left] },
  ];
}
