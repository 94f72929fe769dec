/** The Lark grammar of patches, for providers that constrain the model's output by it. */
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
