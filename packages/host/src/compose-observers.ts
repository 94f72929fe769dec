import type { UsageLedger } from "./account/usage/usage-ledger.ts";
import { forgetSecrets } from "./compose-rap.ts";
import type { Hooks } from "./hooks/thread-hooks.ts";
import type { UserNotifier } from "./hooks/user-notifier.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { ThreadConfigs } from "./server/thread-configs.ts";
import type { Actor } from "./thread/actor.ts";
import type { ChildEffectPerformer } from "./thread/child-effect-performer.ts";
import type { ClientAnswerRouting } from "./thread/client-answer-routing.ts";
import type { HelperEffectPerformer } from "./thread/helper-effect-performer.ts";
import type { Idle } from "./thread/idle-unload.ts";
import type { ThreadObserver } from "./thread/observers.ts";
import type { RawResponseItems } from "./thread/raw-response-items.ts";
import type { Secrets } from "./thread/request-secrets.ts";
import { turnCounter } from "./thread/thread-metrics.ts";
import { logTurns } from "./thread/turn-log-lines.ts";
import type { Toolbox } from "./tool/toolbox.ts";
import type { ActiveRunners } from "./turn/active-runners.ts";
import type { ModelHistories } from "./turn/context/model-history.ts";
import type { ObservingHooks } from "./turn/observing-hooks.ts";

interface ObservedParts {
  readonly configs: ThreadConfigs;
  readonly modelHistories: ModelHistories;
  readonly toolbox: Toolbox;
  readonly runners: ActiveRunners;
  readonly metrics: Metrics;
  readonly usage: UsageLedger;
  readonly secrets: Secrets;
  readonly supervisor: Supervisor;
  readonly hooks: Hooks;
  readonly observing: ObservingHooks;
  readonly notifier: UserNotifier;
  readonly rawItems: RawResponseItems;
  readonly questions: ClientAnswerRouting;
  readonly idle: Idle;
  readonly log: Log;
  /** Functions, because these parts are created later. */
  children(): ChildEffectPerformer;
  helpers(): HelperEffectPerformer;
}

/** All observers of threads, in the order in which they are called after a commit. */
export function composeObservers(parts: ObservedParts): readonly ThreadObserver[] {
  const { configs, modelHistories, toolbox, runners, metrics, usage, secrets, supervisor } = parts;
  const { hooks, observing, notifier, rawItems, questions, idle, children, helpers, log } = parts;
  return [
    {
      loaded: (_actor, state) => configs.bind(state),
      unloaded: ({ id }) => configs.unbind(id),
    },
    // Called before the runners, so that the next model call includes this commit.
    { committed: (commit, _state, { journal }) => modelHistories.add(journal, commit) },
    {
      loaded: (_actor, state) => toolbox.load(state),
      committed: (commit, state) => toolbox.committed(commit, state),
      unloaded: ({ id }) => toolbox.unload(id),
    },
    runners,
    { committed: turnCounter(metrics) },
    { committed: (commit, { facts }) => logTurns(log, facts.id, commit) },
    usage,
    {
      committed: (commit, state) => {
        children().committed(commit, state);
        helpers().committed(commit, state);
        forgetSecrets(secrets, supervisor, commit, state);
      },
    },
    {
      committed: (commit, state) => observing.committed(commit, state),
      unloaded: ({ id }) => hooks.unload(id),
    },
    notifier,
    rawItems,
    presence(questions, idle),
  ];
}

/**
 * Updates open questions and the unload timer after each change. Must be the last observer, because it may unload the
 * thread.
 */
function presence(questions: ClientAnswerRouting, idle: Idle): ThreadObserver {
  const changed = (actor: Actor): void => {
    questions.changed(actor);
    idle.consider(actor);
  };
  return {
    loaded: changed,
    committed: (_commit, _state, { actor }) => {
      if (actor !== undefined) changed(actor);
    },
    failed: changed,
    unloaded: (actor) => {
      questions.gone(actor);
      idle.gone(actor);
    },
  };
}
