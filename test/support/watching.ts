// A thread with a subscription, and the events that it gets.
import assert from "node:assert/strict";
import { responses } from "./mock-model.ts";
import { answer, call, type RapStage, rapStage, type StageOptions, say } from "./rap-stage.ts";
import { FakeToolServer, type Heard, postBack } from "./tool-server.ts";

export const watch = (callId = "call_1") => responses.call("watch", '{"what":"sky"}', callId);

export interface Watching extends RapStage {
  readonly server: FakeToolServer;
  /** The call that subscribed. */
  readonly heard: Heard;
}

export async function watching(options: Partial<StageOptions> = {}): Promise<Watching> {
  const server = await FakeToolServer.start({ watch: {}, wipe: { annotations: { destructive: true } } });
  const servers = { desk: server, ...options.servers };
  const stage = await rapStage([call(watch()), say("I watch")], { ...options, servers });
  const turnId = await stage.client.say(stage.threadId, "watch the sky");
  const heard = await server.next("/invoke");
  assert.equal(await answer(heard, "Subscribed.", { subscription: true }), 200);
  await stage.client.turnCompleted(turnId);
  return { ...stage, server, heard };
}

/** Posts an event. Returns the status of the reply. */
export function emit({ body }: Heard, text: string, more: object = {}, key?: string): Promise<number> {
  const event = { type: "subscription_event", group_id: body.group_id, tool_call_id: body.id, text, ...more };
  return postBack(body.callback_url, event, key === undefined ? {} : { "idempotency-key": key });
}
