import { describe, expect, it } from "vitest";
import { patchInCommand } from "./patch-in-command.ts";

const PATCH = "*** Begin Patch\n*** Add File: a.txt\n+hello $HOME `x` {\n*** End Patch\n";
const document = (head: string, end = "EOF", body = PATCH): string => `${head}\n${body}${end}\n`;

describe("a patch in a command", () => {
  it.each([
    ["a document", document("apply_patch <<'EOF'"), null],
    ["its other name", document("applypatch <<'EOF'"), null],
    ["double quotes around the end's name", document('apply_patch <<"EOF"'), null],
    ["a space before the end's name", document("  apply_patch << 'PATCH'", "PATCH"), null],
    ["no end", `apply_patch <<'EOF'\n${PATCH.trimEnd()}`, null],
    ["no quotes", document("apply_patch <<EOF"), null],
    ["a folder first", document("cd sub/dir && apply_patch <<'EOF'"), "sub/dir"],
    ["a quoted folder first", document("cd 'a b' && apply_patch <<'EOF'"), "a b"],
    ["an absolute folder first", document("cd /work/x&&apply_patch <<'EOF'"), "/work/x"],
    ["an argument", `apply_patch '${PATCH}'`, null],
    ["an argument after a folder", `cd x && apply_patch '${PATCH}'\n`, "x"],
  ])("[PATCH-12] is found: %s", (_name, text, workdir) => {
    const found = patchInCommand(text);
    expect(found?.workdir).toBe(workdir);
    expect(found?.patch.trimEnd()).toBe(PATCH.trimEnd());
  });

  it("[PATCH-12] loses the tabs of `<<-`, and the backslashes that the shell would take away", () => {
    const tabbed = "\t*** Begin Patch\n\t*** End Patch\n\tEOF\n";
    expect(patchInCommand(`apply_patch <<-EOF\n${tabbed}`)?.patch).toBe("*** Begin Patch\n*** End Patch\n");
    expect(patchInCommand("apply_patch <<EOF\n+\\$x \\d \\\\\nEOF\n")?.patch).toBe("+$x \\d \\\n");
    expect(patchInCommand("apply_patch <<'EOF'\n+\\$x\nEOF\n")?.patch).toBe("+\\$x\n");
  });

  it("[PATCH-12] may be long, and full of brackets", () => {
    const body = `*** Begin Patch\n*** Add File: a.js\n${"+((({{{[[[`$(\n".repeat(50_000)}*** End Patch\n`;
    expect(patchInCommand(document("apply_patch <<'EOF'", "EOF", body))?.patch).toBe(body);
  });

  it.each([
    ["something before it", document("echo x && apply_patch <<'EOF'")],
    ["something after it", `${document("apply_patch <<'EOF'")}rm -rf /\n`],
    ["something after it on its line", document("apply_patch <<'EOF' && rm x")],
    ["a pipe", document("apply_patch <<'EOF' | cat")],
    ["a redirect", document("apply_patch <<'EOF' > out")],
    ["the background", document("apply_patch <<'EOF' &")],
    ["a variable", document("X=1 apply_patch <<'EOF'")],
    ["another operator", document("cd x || apply_patch <<'EOF'")],
    ["two folders", document("cd x && cd y && apply_patch <<'EOF'")],
    ["a folder that the shell makes", document("cd $X && apply_patch <<'EOF'")],
    ["a folder of somebody's", document("cd ~/x && apply_patch <<'EOF'")],
    ["a folder by a pattern", document("cd x* && apply_patch <<'EOF'")],
    ["the folder before", document("cd - && apply_patch <<'EOF'")],
    ["a subshell", `${document("(apply_patch <<'EOF'")})`],
    ["an argument besides", document("apply_patch x <<'EOF'")],
    ["a path to it", document("./apply_patch <<'EOF'")],
    ["two documents", document("apply_patch <<'EOF' <<'X'")],
    ["only its name", "apply_patch"],
    ["another command", "git status\n"],
    ["nothing", ""],
  ])("is left to the shell: %s", (_name, text) => {
    expect(patchInCommand(text)).toBeNull();
  });
});
