// esbuild plugins that load a bundle's external modules (Node's own, npm packages) on first use instead of at import,
// so that a start does not load modules which it does not use. Works for named imports only, not for default imports.
import { isBuiltin } from "node:module";

/** Modules that are loaded at once: Node itself has loaded them before it runs a program, or every start uses them. */
const EARLY = new Set(["buffer", "events", "fs", "net", "path", "process", "stream", "url", "util"]);

/**
 * @param {(name: string) => string} fileOf where a package is, as the bundle requires it
 * @returns {import("esbuild").Plugin}
 */
export const lazyModules = (fileOf) => ({
  name: "lazy-modules",
  setup({ onResolve, onLoad }) {
    const target = (/** @type {string} */ path) => (isBuiltin(path) ? path : fileOf(path));
    onResolve({ filter: /^[a-z@]/ }, ({ path, kind, namespace }) => {
      if (namespace === "lazy") return { external: true };
      if (kind === "entry-point" || path.startsWith("@bobbin/")) return undefined;
      // A dynamic import is lazy already.
      const asItIs = kind === "dynamic-import" || EARLY.has(path.replace("node:", ""));
      return asItIs ? { path: target(path), external: true } : { path, namespace: "lazy" };
    });
    onLoad({ filter: /./, namespace: "lazy" }, async ({ path }) => ({
      contents: await lazyExports(path, target(path)),
    }));
    onResolve({ filter: /^\.\//, namespace: "lazy" }, () => ({ external: true }));
  },
});

/** Modules of Node that packages require and most runs never use. Each takes a millisecond or more to load. */
const RARELY_USED = /^(node:)?(http|https|tls|zlib)$/;

/**
 * Loads modules on first use that bundled packages require. Only for modules whose exports object is used by its
 * members: an export that is itself a function or a class would be lost.
 * @type {import("esbuild").Plugin}
 */
export const lazyBuiltins = {
  name: "lazy-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: RARELY_USED }, ({ path, namespace }) =>
      namespace === "lazy" ? { external: true } : { path, namespace: "lazy" },
    );
    onLoad({ filter: /./, namespace: "lazy" }, async ({ path }) => ({
      contents: await lazyExports(path, path),
    }));
  },
};

/**
 * Source of a module that has the exports of `path` and loads `required` when one of them is first used.
 * @param {string} path whose names it has
 * @param {string} required what it loads
 */
async function lazyExports(path, required) {
  const names = Object.keys(await import(path)).filter((name) => name !== "default");
  return `
    let found;
    for (const name of ${JSON.stringify(names)}) Object.defineProperty(exports, name, {
      enumerable: true,
      get: () => (found ??= require(${JSON.stringify(required)}))[name],
    });`;
}
