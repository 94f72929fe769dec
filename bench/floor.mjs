// The baseline ("floor") for a start on stdio: a minimal Node program that imports nothing and answers every line with
// an empty result. The time that a host takes beyond this is its own.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id } = JSON.parse(line);
    if (id !== undefined) process.stdout.write(`{"id":${JSON.stringify(id)},"result":{}}\n`);
  }
});
