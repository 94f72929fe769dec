// Makes the npm packages that can be published: dist/npm/*.tgz, or the folder that is named. Each has built JavaScript,
// types, a README and the licence, and neither tests nor sources. `--no-build` packs dist/ as it is.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";

const out = resolve(process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? "dist/npm");
if (!process.argv.includes("--no-build")) run(process.execPath, ["scripts/prepare.mjs"]);

const root = manifest("package.json");
mkdirSync(out, { recursive: true });
// A folder of its own: two runs at the same time do not meet.
const STAGE = mkdtempSync("dist/npm-stage-");
process.once("exit", () => rmSync(STAGE, { recursive: true, force: true }));
compile();
library("protocol", { description: "The Codex app-server protocol as data: methods, types and JSON Schema" });
library("client", {
  description: "A client of Bobbin for browsers, Node, Bun and Deno",
  dependencies: { "@bobbin/protocol": root.version },
  // Not published on its own: it is part of this package.
  inside: ["rpc"],
});
library("rap", { description: "Tool servers for agents: the Reactive Agent Protocol" });
program();

/** Compiles all libraries at once, to STAGE/build/PACKAGE/src. */
function compile() {
  const config = join(STAGE, "tsconfig.json");
  const names = ["protocol", "rpc", "client", "rap"];
  write(config, {
    extends: "../../tsconfig.json",
    compilerOptions: {
      noEmit: false,
      declaration: true,
      stripInternal: true,
      rewriteRelativeImportExtensions: true,
      rootDir: "../../packages",
      outDir: "build",
    },
    include: names.map((name) => `../../packages/${name}/src`),
    exclude: ["../../packages/*/src/**/*.test.ts", "../../packages/protocol/src/generate/generate.ts"],
  });
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", config]);
}

/**
 * Packs a library of packages/.
 * @param {string} name
 * @param {{ description: string, dependencies?: Record<string, string>, inside?: string[] }} more
 */
function library(name, { description, dependencies, inside = [] }) {
  const folder = join(STAGE, name);
  const own = manifest(`packages/${name}/package.json`);
  cpSync(join(STAGE, "build", name, "src"), join(folder, "dist"), { recursive: true });
  for (const one of inside)
    cpSync(join(STAGE, "build", one, "src"), join(folder, "dist", one), { recursive: true });
  for (const file of filesBelow(join(folder, "dist"))) {
    const text = readFileSync(file, "utf8");
    // The compiler rewrites the imports of scripts, and leaves those of declarations as they are.
    let made = text.replace(/(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g, '$1"$2.js"');
    for (const one of inside) {
      const path = relative(dirname(file), join(folder, "dist", one, "index.js")).replaceAll("\\", "/");
      const specifier = path.startsWith(".") ? path : `./${path}`;
      made = made.replaceAll(`"@bobbin/${one}"`, () => `"${specifier}"`);
    }
    if (made !== text) writeFileSync(file, made);
  }
  const { peerDependencies, peerDependenciesMeta } = own;
  write(join(folder, "package.json"), {
    ...published(own.name, description),
    sideEffects: false,
    files: ["dist"],
    exports: {
      ...Object.fromEntries(Object.entries(own.exports).map(exported)),
      "./package.json": "./package.json",
    },
    ...(dependencies && { dependencies }),
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
  });
  pack(folder, `packages/${name}/README.md`);
}

/** @param {[string, string]} entry of `exports` in a workspace, which names a source */
function exported([entry, source]) {
  const path = source.replace("./src/", "./dist/").replace(/\.ts$/, "");
  return [entry, { types: `${path}.d.ts`, default: `${path}.js` }];
}

/** Packs the program `bobbin`: what `scripts/build.mjs` has made, without the code caches of this machine. */
function program() {
  const folder = join(STAGE, "bobbin");
  mkdirSync(join(folder, "dist"), { recursive: true });
  cpSync("bin", join(folder, "bin"), { recursive: true });
  const start = readFileSync("dist/bobbin.cjs", "latin1");
  // Files of earlier builds may be there, too.
  const parts = Object.keys(JSON.parse(/^\(\{others: (\{.*?\}), /.exec(start)[1]));
  const separate = readdirSync("dist").filter((name) => /^[a-z-]+\.cjs$/.test(name));
  for (const name of [...parts, ...separate]) cpSync(join("dist", name), join(folder, "dist", name));
  for (const name of ["packages", "console"]) {
    cpSync(join("dist", name), join(folder, "dist", name), {
      recursive: true,
      filter: (path) => !path.endsWith(".cache"),
    });
  }
  const { dependencies } = manifest("packages/host/package.json");
  // Those with native parts. All others are bundled.
  const native = ["@lydell/node-pty", "@napi-rs/keyring", "@photostructure/sqlite"];
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licencesOfBundled(native));
  write(join(folder, "package.json"), {
    ...published("bobbin", root.description),
    bin: root.bin,
    files: ["bin", "dist", "THIRD-PARTY-LICENSES.txt"],
    dependencies: Object.fromEntries(native.map((name) => [name, dependencies[name]])),
  });
  pack(folder, "packages/host/README.md");
}

/**
 * The licences of the libraries that are bundled, as these demand: of all that the lockfile needs at run time, except
 * those that npm installs beside the program.
 * @param {string[]} native
 */
function licencesOfBundled(native) {
  const texts = [];
  for (const [path, { version, license, dev, optional, link }] of Object.entries(
    manifest("package-lock.json").packages,
  )) {
    const name = path.replace(/^.*node_modules\//, "");
    if (!path.startsWith("node_modules/") || dev || optional || link || native.includes(name)) continue;
    const file = readdirSync(path).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(path, file), "utf8").trim();
    texts.push(`${name} ${version} (${license})\n\n${text}\n`);
  }
  return `Bobbin contains parts of these libraries.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** @param {string} name @param {string} description */
function published(name, description) {
  const { version, license, engines } = root;
  return { name, version, description, license, type: "module", engines };
}

/** @param {string} folder @param {string} readme */
function pack(folder, readme) {
  cpSync(readme, join(folder, "README.md"));
  cpSync("LICENSE", join(folder, "LICENSE"));
  run("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", out], folder);
}

/** @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => posix.join(one.parentPath, one.name));
}

/** @param {string} path */
function manifest(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** @param {string} path @param {object} content */
function write(path, content) {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** @param {string} command @param {string[]} args @param {string} [cwd] */
function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
    ...(cwd && { cwd }),
  });
  if (status === 0) return;
  process.stderr.write(`pack: ${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}\n`);
  process.exit(1);
}
