// What a bundle imports and does not hold (Node's own modules, packages) is loaded when something of it is first used,
// and not when it is imported: a start pays for nothing that it does not need, whoever imports it. Only names can be
// imported so, no default.
import { isBuiltin } from "node:module";

/** Loaded by Node itself before it runs a program, or needed by every start. */
const EARLY = new Set(["buffer", "events", "fs", "net", "path", "process", "stream", "url", "util"]);

/**
 * @param {(name: string) => string} fileOf where a package is, as the bundle requires it
 * @returns {import("esbuild").Plugin}
 */
export const lateModules = (fileOf) => ({
  name: "late-modules",
  setup({ onResolve, onLoad }) {
    const target = (/** @type {string} */ path) => (isBuiltin(path) ? path : fileOf(path));
    onResolve({ filter: /^[a-z@]/ }, ({ path, kind, namespace }) => {
      if (namespace === "late") return { external: true };
      if (kind === "entry-point" || path.startsWith("@bobbin/")) return undefined;
      // What is imported dynamically is late as it is.
      const asItIs = kind === "dynamic-import" || EARLY.has(path.replace("node:", ""));
      return asItIs ? { path: target(path), external: true } : { path, namespace: "late" };
    });
    onLoad({ filter: /./, namespace: "late" }, async ({ path }) => ({
      contents: await lateExports(path, target(path)),
    }));
    onResolve({ filter: /^\.\//, namespace: "late" }, () => ({ external: true }));
  },
});

/** Modules of Node that packages load and most programs never use: each costs a millisecond or more. */
const SELDOM = /^(node:)?(http|https|tls|zlib)$/;

/**
 * The same for what packages require. Only for modules that are used as objects: a function or a class would be lost.
 * @type {import("esbuild").Plugin}
 */
export const lateBuiltins = {
  name: "late-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: SELDOM }, ({ path, namespace }) =>
      namespace === "late" ? { external: true } : { path, namespace: "late" },
    );
    onLoad({ filter: /./, namespace: "late" }, async ({ path }) => ({
      contents: await lateExports(path, path),
    }));
  },
};

/**
 * A module whose exports load another one when they are first used.
 * @param {string} path whose names it has
 * @param {string} required what it loads
 */
async function lateExports(path, required) {
  const names = Object.keys(await import(path)).filter((name) => name !== "default");
  return `
    let found;
    for (const name of ${JSON.stringify(names)}) Object.defineProperty(exports, name, {
      enumerable: true,
      get: () => (found ??= require(${JSON.stringify(required)}))[name],
    });`;
}
