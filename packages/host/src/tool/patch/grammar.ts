/** The form of a patch, for providers that hold a model to it while it writes. */
export const GRAMMAR = {
  type: "grammar",
  syntax: "lark",
  definition: `start: "*** Begin Patch" LF file+ "*** End Patch" LF?

file: add | delete | update
add: "*** Add File: " name LF added*
delete: "*** Delete File: " name LF
update: "*** Update File: " name LF move? hunk*
move: "*** Move to: " name LF

hunk: anchor* line+ end?
anchor: "@@" (" " /[^\\n]+/)? LF
line: (" " | "-" | "+") /[^\\n]*/ LF
added: "+" /[^\\n]*/ LF
end: "*** End of File" LF

name: /[^\\n]+/
LF: "\\n"
`,
} as const;
