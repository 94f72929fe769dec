import { expect, it } from "vitest";
import { commandShell, syntaxOf } from "./shell-syntax.ts";

it.each([
  ["/bin/bash", "/bin/bash"],
  ["/usr/bin/zsh", "/usr/bin/zsh"],
  ["/run/current-system/sw/bin/bash", "/run/current-system/sw/bin/bash"],
  ["/usr/bin/fish", "/bin/sh"],
  ["/usr/bin/nu", "/bin/sh"],
  ["/usr/bin/tcsh", "/bin/sh"],
  [undefined, "/bin/sh"],
])("the model's commands of a user with the shell %j run in %j", (users, shell) => {
  expect(commandShell(users)).toBe(shell);
});

it.each(["fish", "/usr/bin/fish", "/bin/tcsh", "/home/ann/bash", "./sh", "/usr/bin/python3", "bash\n"])(
  "the syntax of the shell %j is not known",
  (shell) => {
    expect(syntaxOf(shell)).toBe("unknown");
  },
);
