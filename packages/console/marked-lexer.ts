import type { Plugin } from "vite";

/**
 * Bundles only the lexer of `marked`: the console makes its own elements of the tokens. Tree shaking keeps the whole
 * module, because it creates a default instance of everything when it is loaded. The classes of the renderer and what
 * follows them are cut off; if a later version has another order, the whole module is bundled.
 */
export function markedLexerOnly(): Plugin {
  return {
    name: "marked-lexer-only",
    transform(code, id) {
      if (!/\/marked\.esm\.js$/.test(id)) return undefined;
      const nameOf = (exported: string) => new RegExp(`[{,](\\w+) as ${exported}[,}]`).exec(code)?.[1];
      const lexer = nameOf("Lexer");
      const lexerAt = code.indexOf(`;var ${lexer}=class`);
      const rendererAt = code.indexOf(`;var ${nameOf("Renderer")}=class`);
      if (lexerAt < 0 || rendererAt < lexerAt) return undefined;
      return `${code.slice(0, rendererAt)};export{${lexer} as Lexer};`;
    },
  };
}
