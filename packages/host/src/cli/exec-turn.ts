import { type BobbinClient, overLink } from "@bobbin/client";
import type { Turn } from "@bobbin/protocol";
import { memoryPair } from "@bobbin/rpc";
import { compose, type HostOptions } from "../compose.ts";
import { BOBBIN_VERSION } from "../version.ts";
import type { Access } from "./exec-access.ts";
import { type AnswerPolicy, answerQuestions, unasked } from "./exec-questions.ts";
import type { ExecReport } from "./exec-report.ts";

export interface TurnRequest {
  readonly prompt: string;
  readonly ephemeral: boolean;
  readonly outputSchema: unknown;
  readonly access: Access;
  readonly policy: AnswerPolicy;
  /** Interrupts the turn. */
  readonly signal: AbortSignal;
}

export interface TurnOutcome {
  readonly status: Turn["status"];
  /** The last message. */
  readonly answer: string | undefined;
}

/** One turn of a new thread, on a host that lives as long as that. */
export async function execTurn(
  hostOptions: HostOptions,
  request: TurnRequest,
  report: ExecReport,
): Promise<TurnOutcome> {
  const { host } = compose(hostOptions);
  const [ours, theirs] = memoryPair();
  theirs.attach(host.accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
  const client = overLink(ours);
  answerQuestions(client, request.policy, report);
  try {
    // Which answers a question takes is an experimental field.
    const capabilities = { experimentalApi: true };
    const info = { name: "bobbin_exec", title: "Bobbin exec", version: BOBBIN_VERSION };
    await client.initialize(info, capabilities);
    return await runTurn(client, request, report);
  } finally {
    await client.close();
    await host.close();
  }
}

async function runTurn(client: BobbinClient, request: TurnRequest, report: ExecReport): Promise<TurnOutcome> {
  const { prompt, ephemeral, outputSchema, access, signal } = request;
  const { thread, ...started } = await client.request("thread/start", {
    ephemeral,
    ...access,
  });
  report.started({ id: thread.id, model: started.model, cwd: started.cwd });
  let answer: string | undefined;
  const options = { signal, ...(outputSchema !== undefined && { outputSchema }) };
  for await (const notification of client.runTurn(thread.id, prompt, options)) {
    report.notification(notification);
    const decision = unasked(notification);
    if (decision !== undefined) report.decided(decision);
    const { method, params } = notification;
    if (method === "item/completed" && params.item.type === "agentMessage") answer = params.item.text;
    if (method === "turn/completed") return { status: params.turn.status, answer };
  }
  throw new Error("the turn has no end");
}
