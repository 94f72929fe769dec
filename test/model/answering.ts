import type { Message } from "../simulation/frame-rules.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { Ledger } from "./ledger.ts";

/** Answers the requests to a client, each once per connection. `willing` decides about each request. */
export class Answering {
  readonly #client: SimClient;
  readonly #ledger: Ledger;
  readonly #willing: () => boolean;
  #looked = 0;

  constructor(client: SimClient, ledger: Ledger, willing: () => boolean = () => true) {
    this.#client = client;
    this.#ledger = ledger;
    this.#willing = willing;
  }

  /** Handles the frames since the last call. */
  look(): void {
    const { frames } = this.#client;
    for (; this.#looked < frames.length; this.#looked++) {
      const frame = frames[this.#looked]!;
      const result = answerTo(frame);
      if (result === undefined || !this.#willing()) continue;
      this.#ledger.answering(frame.id!, result);
      this.#client.answer(frame.id!, { result });
    }
  }
}

function answerTo({ id, method, params }: Message): unknown {
  if (id === undefined) return undefined;
  switch (method) {
    case "item/tool/call":
      return { contentItems: [{ type: "inputText", text: "found" }], success: true };
    case "item/tool/requestUserInput": {
      const questions = params!.questions as readonly { id: string; options: readonly { label: string }[] }[];
      const answers = questions.map(({ id, options }) => [id, { answers: [options.at(-1)!.label] }]);
      return { answers: Object.fromEntries(answers) as unknown };
    }
    case "item/commandExecution/requestApproval": {
      const [amendment] = (params!.proposedNetworkPolicyAmendments ?? []) as unknown[];
      if (amendment === undefined) return { decision: "acceptForSession" };
      return { decision: { applyNetworkPolicyAmendment: { network_policy_amendment: amendment } } };
    }
    case "item/fileChange/requestApproval":
      return { decision: "acceptForSession" };
    case "mcpServer/elicitation/request":
      return { action: "accept", content: null, _meta: null };
    default:
      return undefined;
  }
}
