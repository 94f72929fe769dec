import { main } from "./main.ts";

// Whoever reads our output may leave before its end, as `| head` does.
process.stdout.on("error", () => {});

main(process.argv.slice(2)).then(
  // Whatever may still be open (a pipe that nobody reads, say) does not keep a program that is done.
  (code) => process.exit(code),
  (cause: unknown) => {
    process.stderr.write(`bobbin: ${cause instanceof Error ? cause.stack : cause}\n`);
    process.exit(1);
  },
);
