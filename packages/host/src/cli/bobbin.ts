import { main } from "./main.ts";

// The reader of stdout may close the pipe early, as `| head` does.
process.stdout.on("error", () => {});

main(process.argv.slice(2)).then(
  // Exits at once, so that open handles, such as a pipe without a reader, do not keep the process alive.
  (code) => process.exit(code),
  (cause: unknown) => {
    process.stderr.write(`bobbin: ${cause instanceof Error ? cause.stack : cause}\n`);
    process.exit(1);
  },
);
