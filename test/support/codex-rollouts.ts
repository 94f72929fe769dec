// Session files as the different versions of the Codex CLI wrote them.

const at = (second: number): string => new Date(Date.UTC(2026, 9, 1, 10, 0, second)).toISOString();

/** A line with the envelope that the Codex CLI has written since autumn 2025. */
const line = (second: number, type: string, payload: object) => ({ timestamp: at(second), type, payload });
const item = (second: number, payload: object) => line(second, "response_item", payload);
const event = (second: number, payload: object) => line(second, "event_msg", payload);
const text = (role: string, words: string) => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text: words }],
});
const CONTEXT = "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>";

export const LEGACY_ID = "01a0f6e8-1500-7111-8333-444455556666";
export const PAGED_ID = "01a0f6e8-1500-7222-8333-444455556666";
export const REVERTED_ROLLOUT = "01a0f6e8-6320-7999-8333-444455556666";
/** In the first versions, session IDs were random. */
export const BARE_ID = "5973b6c0-94b8-487b-a530-2aeb6098ae0e";

const meta = (id: string, more: object = {}) => ({
  id,
  timestamp: at(0),
  cwd: "/srv/shop",
  originator: "codex_cli_rs",
  cli_version: "0.60.0",
  source: "cli",
  model_provider: "openai",
  ...more,
});

const usage = (total: number) => ({
  input_tokens: total - 10,
  cached_input_tokens: 5,
  output_tokens: 10,
  reasoning_output_tokens: 2,
  total_tokens: total,
});

/** A rollout with both items and events. */
export const legacyRollout = [
  line(
    0,
    "session_meta",
    meta(LEGACY_ID, { git: { branch: "main", commit_hash: "abc", repository_url: "u" } }),
  ),
  item(1, text("developer", "<permissions instructions>Be careful.</permissions instructions>")),
  item(1, text("user", CONTEXT)),
  event(1, { type: "task_started", turn_id: "0199a000-aaaa-7000-8000-000000000001" }),
  line(1, "turn_context", { cwd: "/srv/shop", model: "gpt-5-codex", approval_policy: "never" }),
  item(2, text("user", "How many apples are there?")),
  event(2, { type: "user_message", message: "How many apples are there?", images: [] }),
  event(3, { type: "agent_reasoning", text: "Counting" }),
  item(3, {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "Counting apples" }],
    encrypted_content: "x",
  }),
  item(4, {
    type: "function_call",
    name: "shell",
    arguments: JSON.stringify({ command: ["bash", "-lc", "ls apples | wc -l"], workdir: "/srv/shop" }),
    call_id: "call_1",
  }),
  item(5, {
    type: "function_call_output",
    call_id: "call_1",
    output: JSON.stringify({ output: "7\n", metadata: { exit_code: 0, duration_seconds: 0.1 } }),
  }),
  event(6, {
    type: "token_count",
    info: { total_token_usage: usage(200), last_token_usage: usage(100), model_context_window: 272000 },
  }),
  event(7, { type: "agent_message", message: "There are seven apples." }),
  item(7, text("assistant", "There are seven apples.")),
  event(8, { type: "task_complete", turn_id: "0199a000-aaaa-7000-8000-000000000001" }),
  event(9, { type: "task_started", turn_id: "0199a000-aaaa-7000-8000-000000000002" }),
  item(9, text("user", "Eat them")),
  event(9, { type: "user_message", message: "Eat them" }),
  item(10, text("assistant", "I cannot.")),
  event(10, { type: "turn_aborted", reason: "interrupted" }),
  event(11, { type: "thread_rolled_back", num_turns: 1 }),
  "{ torn",
];

/** A rollout with items of turns instead of most events. */
export const pagedRollout = [
  line(0, "session_meta", meta(PAGED_ID, { history_mode: "paginated", cli_version: "0.166.0" })),
  event(1, { type: "task_started", turn_id: "0199a000-bbbb-7000-8000-000000000001" }),
  item(1, text("user", "# AGENTS.md instructions for /srv/shop\n\n<INSTRUCTIONS>\nTabs.\n</INSTRUCTIONS>")),
  item(2, text("user", "Plant a pear tree")),
  event(2, {
    type: "item_completed",
    turn_id: "0199a000-bbbb-7000-8000-000000000001",
    item: { type: "UserMessage", id: "u1", content: [{ type: "text", text: "Plant a pear tree" }] },
  }),
  item(3, {
    type: "custom_tool_call",
    name: "apply_patch",
    call_id: "call_9",
    input: "*** Begin Patch\n*** Add File: pear\n+tree\n*** End Patch",
  }),
  item(4, { type: "custom_tool_call_output", call_id: "call_9", output: "Exit code: 0\nOutput:\nDone" }),
  item(5, { ...text("assistant", "The pear tree is planted."), phase: "final_answer" }),
  event(6, { type: "task_complete", turn_id: "0199a000-bbbb-7000-8000-000000000001" }),
];

/** The same rollout, compressed with `zstd`. */
export const packedRollout = Buffer.from(
  [
    "KLUv/QRYfRMAJmh2JvCSVgdUg/iC6u5cNKb8owicZ5HhdRddB9MUqLJi+hnmicPiGRhUbABnAG8Av/ZFKT0Pnqh0d0sbzpiJ",
    "lp69Us0d2Ng7cPepQ2KPoiiqVCoVCoVCeSaTScEjkUgIntYq0FPA0UaDULv7FP/hPkEqObCeHTZTb9J4L9+7c+X02TFaa5HW",
    "XGuuQRaoPQ16IkmT3L1SsC9Tsf8RlymKOz6+k9bLFmpPa63gaa0RPBgMBvO01qCBwZu26rNP3Bb2fRwXduZSrydvGPoA6HQ+",
    "Max354lSj2Np36g5e4STK7275SluqK1P8kSps0cp3Z0lW9F79haJIijS7j5pvJY3L0rpLFB6ktJ+FO1bSROoirB8L9wZy0pR",
    "6VHckdn2spDrgqsnlBQSjc4HDuYlcjHQMi8IFhITEJaFiwqLhQTEwbzMy7J0Y91JY0uV7TvjmqiIhUWi4SFhBdydvT24X1d1",
    "xgz3ntyTSme3fKu7s6T27JyBN5Hljjvhk3DGjbvzhZp6ptF5ZOKeUNZ142KNpSfsG++FFZ6UYV7cxLy05Xii0uro0XDXVe2K",
    "Pso0G5htC8yLYxkd1jQlLAgEMi8aqSHFmjHDCgsCgdyd3UBKKJ1dIzWsjyNrhXdnCs6zSxk2IFACITODdwPCKgfKg6sSIOdE",
    "uLsNNXkWGzwB1KGFAZBAuf2eQaNbRcS0KPbNwBHFqkHAR5cqkdAeD29MbLlP0p/pLqBLDkUi2cQBORXIXgbfKLL5DeMUTVuF",
    "RS+mEZ0T4uK6lU7QSAX1kaPtuItZOfp+BVM8Fr+P5BwWQmEI3YXdhSIpK3CrV9y2DcC1S+p3ac4Ecy+1",
  ].join(""),
  "base64",
);

/** The size of a rollout in bytes, including line ends. */
export function bytesOf(lines: readonly unknown[]): number {
  return lines.reduce((sum: number, one) => sum + Buffer.byteLength(JSON.stringify(one)) + 1, 0);
}

/** The paged thread after it was reverted to before its last line and continued differently. */
export const revertedRollout = [
  line(
    20,
    "session_meta",
    meta(PAGED_ID, {
      history_mode: "paginated",
      history_base: { thread_id: PAGED_ID, end_ordinal_exclusive: 9, end_byte_offset: bytesOf(pagedRollout) },
    }),
  ),
  event(21, { type: "task_started", turn_id: "0199a000-cccc-7000-8000-000000000001" }),
  event(21, {
    type: "item_completed",
    item: { type: "UserMessage", id: "u2", content: [{ type: "text", text: "And a plum tree" }] },
  }),
  item(22, text("assistant", "The plum tree is planted.")),
  event(23, { type: "task_complete" }),
];

/** Lines without an envelope, as written in summer 2025. */
export const bareRollout = [
  { id: BARE_ID, timestamp: "2025-05-07T17:24:21.597Z", instructions: null, git: null },
  { record_type: "state" },
  text("user", "<user_instructions>\n\nTabs.\n\n</user_instructions>"),
  text("user", "Which cherries are ripe?"),
  { type: "reasoning", id: "rs_1", summary: [] },
  {
    type: "local_shell_call",
    call_id: "c1",
    status: "completed",
    action: { type: "exec", command: ["ls", "cherry tree"], working_directory: "/srv/old" },
  },
  { type: "function_call_output", call_id: "c1", output: { content: "none", success: false } },
  text("assistant", "No cherries are ripe."),
];

/** A single JSON object, as written in spring 2025. */
export const firstRollout = {
  session: {
    timestamp: "2025-04-20T08:00:00.000Z",
    id: "4d2f5f5e-0000-4000-8000-000000000001",
    instructions: "",
  },
  items: [text("user", "Name a fig"), text("assistant", "Brown Turkey is a fig.")],
};

/** A short rollout about something, with a line of `words` that is not part of the conversation. */
export function smallRollout(id: string, about: string, words: string): readonly object[] {
  return [
    line(0, "session_meta", meta(id)),
    item(1, text("user", `Tell me about ${about}`)),
    event(1, { type: "user_message", message: `Tell me about ${about}`, images: [] }),
    event(2, { type: "exec_command_output_delta", chunk: words }),
    item(3, text("assistant", `There is a lot to say about ${about}.`)),
    event(3, { type: "agent_message", message: `There is a lot to say about ${about}.` }),
  ];
}

/** The files of a Codex home that contains all of these. */
export const codexTree = {
  [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: legacyRollout,
  [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-01-${PAGED_ID}.jsonl`]: pagedRollout,
  [`.codex/sessions/2026/10/02/rollout-2026-10-02T12-00-01-${PAGED_ID}_${REVERTED_ROLLOUT}.jsonl`]:
    revertedRollout,
  [`.codex/sessions/rollout-2025-05-07T17-24-21-${BARE_ID}.jsonl`]: bareRollout,
  ".codex/sessions/rollout-2025-04-20-4d2f5f5e-0000-4000-8000-000000000001.json": firstRollout,
  ".codex/session_index.jsonl": [
    { id: LEGACY_ID, thread_name: "Apples", updated_at: at(9) },
    { id: LEGACY_ID, thread_name: "Seven apples", updated_at: at(10) },
  ],
};
