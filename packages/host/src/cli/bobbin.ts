import { main } from "./main.ts";

process.exitCode = await main(process.argv.slice(2));
// Whatever may still be open (a pipe that nobody reads, say) does not keep a program that is done.
process.exit();
