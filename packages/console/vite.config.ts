import { defineConfig } from "vite";
import { markedLexerOnly } from "./marked-lexer.ts";

// Built by scripts/build.mjs into dist/console, which the host serves under a policy that forbids inline scripts and
// styles.
export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  plugins: [markedLexerOnly()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        // Compressed, two files are smaller than many: what every page loads, and what a thread's page adds. The module
        // of that page itself is not in the group: as a part of it, it would load the grammars of code.
        codeSplitting: {
          groups: [
            { name: "first-load", tags: ["$initial"], priority: 1 },
            { name: "conversation", test: /[\\/](conversation\.tsx|thread-session\.ts|thread-title\.ts)$/ },
          ],
        },
      },
    },
  },
});
