// Preloaded into a host: the signal SIGUSR2 takes all free descriptors, and the next one gives them back.
import { closeSync, openSync, writeSync } from "node:fs";

/** @type {number[]} */
const taken = [];

process.on("SIGUSR2", () => {
  const frees = taken.length > 0;
  for (const descriptor of taken.splice(0)) closeSync(descriptor);
  if (!frees) takeAll();
  writeSync(2, `${JSON.stringify({ msg: frees ? "descriptors are free" : "descriptors are taken" })}\n`);
});

function takeAll() {
  try {
    for (;;) taken.push(openSync("/dev/null"));
  } catch {
    // All are taken.
  }
}
