import { ModelFault } from "../../model/faults.ts";
import type { ModelProvider, ModelStream } from "../../model/model.ts";

/** Wraps a provider. While `problem` returns a text, model calls fail with that text. */
export function usageLimitedProvider(
  provider: ModelProvider,
  problem: () => Promise<string | undefined>,
): ModelProvider {
  const { id, reviewProblem } = provider;
  return {
    id,
    ...(reviewProblem !== undefined && { reviewProblem }),
    models: () => provider.models(),
    async *stream(request, signal): ModelStream {
      const why = await problem();
      if (why !== undefined) yield [new ModelFault(why, "usageLimitExceeded").toEvent()];
      else yield* provider.stream(request, signal);
    },
  };
}
