import { createToolServer, type ToolServer, type ToolServerOptions, tool } from "@bobbin/rap";
import { z } from "zod";

const DAY_S = 24 * 3600;
const MAX_DELAY_S = 366 * DAY_S;

const remindMe = tool({
  name: "remind_me",
  description:
    "Reminds this conversation of something later. Answers at once; the reminder comes as an event when it is time.",
  input: z.object({
    text: z.string().min(1).max(2000).describe("What to be reminded of"),
    in_seconds: z.number().positive().max(MAX_DELAY_S).describe("How long from now"),
  }),
  annotations: { readOnly: true },
  async run({ text, in_seconds }, ctx) {
    const at = Date.now() + in_seconds * 1000;
    const { id } = await ctx.subscribe({ text, at });
    return `I will remind you at ${new Date(at).toISOString()}. Subscription ID: ${id}`;
  },
  // Called when the reminder is set, and again at every start of the server.
  async listen(subscription) {
    const { text, at } = subscription.state;
    if (!(await subscription.sleepUntil(Number(at)))) return;
    // `associative`: the event goes into the conversation that asked for it.
    await subscription.emit(`Reminder: ${text}`, { associative: true, final: true });
  },
});

/** An example of subscriptions: reminds a conversation of something later. */
export function createReminderServer(options: Omit<ToolServerOptions, "name" | "tools">): ToolServer {
  return createToolServer({
    name: "reminder",
    description: "Reminders",
    tools: [remindMe],
    ...options,
    // A reminder has no event until its time, so the subscription must not expire earlier.
    limits: { subscriptionTtlMs: (MAX_DELAY_S + DAY_S) * 1000, ...options.limits },
  });
}
