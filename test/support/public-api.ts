// What the packages export, with its doc comments, as the TypeScript compiler reads them.
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { API, type Checker, type Symbol as Named, SymbolFlags } from "typescript/unstable/sync";
import { freshFolder } from "./folder.ts";
import { ROOT } from "./markdown.ts";

/** An export of a package, or a member of one. */
export interface PublicName {
  /** As a person would look for it: `@bobbin/client Bobbin.close`. */
  readonly name: string;
  readonly kind: "class" | "function" | "interface" | "other";
  readonly doc: string;
  /** The texts of its `@example` tags. */
  readonly examples: readonly string[];
  /** Marked as `@internal`: it is left out of the published types. */
  readonly isInternal: boolean;
  /** Public members of a class or an interface. */
  readonly members: readonly PublicName[];
}

export interface PublicEntry {
  /** What programs import: `@bobbin/client/react`. */
  readonly specifier: string;
  readonly exports: readonly PublicName[];
}

/** The entries of some packages of packages/, each with its exports. */
export async function publicEntries(...packages: readonly string[]): Promise<readonly PublicEntry[]> {
  const config = join(await freshFolder("types"), "tsconfig.json");
  const include = packages.map((name) => join(ROOT, "packages", name, "src"));
  await writeFile(config, JSON.stringify({ extends: join(ROOT, "tsconfig.json"), include }));
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} is not opened`);
    return packages.flatMap((name) => {
      const folder = join(ROOT, "packages", name);
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        readonly name: string;
        readonly exports: Readonly<Record<string, string>>;
      };
      return Object.entries(manifest.exports).map(([entry, path]) => {
        const specifier = join(manifest.name, entry);
        const module = project.checker.getSymbolAtLocation(
          project.program.getSourceFile(join(folder, path))!,
        )!;
        const names = project.checker.getExportsOfModule(module);
        return { specifier, exports: names.map((one) => publicName(project.checker, one, specifier)) };
      });
    });
  } finally {
    api.close();
  }
}

function publicName(checker: Checker, symbol: Named, of: string): PublicName {
  const real = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const kind = kindOf(real.flags);
  const name = of.includes(" ") ? `${of}.${symbol.name}` : `${of} ${symbol.name}`;
  const members = kind === "class" || kind === "interface" ? [...real.getMembers().values()] : [];
  const tags = real.getJsDocTags(checker);
  return {
    name,
    kind,
    doc: real.getDocumentationComment(checker).trim(),
    examples: tags.filter((tag) => tag.name === "example").map((tag) => textOf(tag.text)),
    isInternal: tags.some((tag) => tag.name === "internal"),
    members: members
      .filter((one) => one.flags & MEMBER && !one.name.includes("#"))
      .map((one) => publicName(checker, one, name)),
  };
}

const MEMBER = SymbolFlags.Method | SymbolFlags.Property | SymbolFlags.Accessor;

function kindOf(flags: number): PublicName["kind"] {
  if (flags & SymbolFlags.Class) return "class";
  if (flags & (SymbolFlags.Function | SymbolFlags.Method)) return "function";
  return flags & SymbolFlags.Interface ? "interface" : "other";
}

/** A tag's text is a string, or a list of its parts. */
function textOf(text: unknown): string {
  if (Array.isArray(text)) return text.map((part: { readonly text: string }) => part.text).join("");
  return String(text ?? "");
}
