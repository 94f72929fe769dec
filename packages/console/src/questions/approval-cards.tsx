import type {
  AdditionalPermissionProfile,
  CommandExecutionApprovalDecision,
  FileSystemSandboxEntry,
} from "@bobbin/protocol";
import { visibleText } from "../parts/visible-text.ts";
import { QuestionFrame } from "./question-frame.tsx";
import type { Question } from "./questions.ts";

type Of<M extends Question["method"]> = Extract<Question, { method: M }>;

/** May a command run? */
export function ApprovalCard({ question }: { question: Of<"item/commandExecution/requestApproval"> }) {
  const { params } = question;
  const { command, cwd, reason, kind, networkApprovalContext: network, availableDecisions } = params;
  const decisions = availableDecisions ?? ["accept", "acceptForSession", "decline", "cancel"];
  const title = network
    ? `Allow a connection to ${network.host}?`
    : kind === "writeStdin"
      ? "Send this to the running program?"
      : "Run this command?";
  return (
    <QuestionFrame title={title} reason={reason}>
      {command ? (
        <pre class="asked" tabIndex={0} role="group" aria-label="Command">
          {visibleText(command)}
        </pre>
      ) : null}
      {network ? <p class="dim">{visibleText(`${network.protocol} · ${network.host}`)}</p> : null}
      {cwd ? <p class="dim path">in {visibleText(cwd)}</p> : null}
      {params.additionalPermissions ? (
        <>
          <p>It asks for these permissions:</p>
          <Permissions permissions={params.additionalPermissions} />
        </>
      ) : null}
      <div class="answers">
        {decisions.map((decision) => (
          <button
            key={JSON.stringify(decision)}
            type="button"
            class={decision === "accept" ? "primary" : ""}
            onClick={() => question.answer({ decision })}
          >
            {visibleText(decisionText(decision))}
          </button>
        ))}
      </div>
    </QuestionFrame>
  );
}

const DECISIONS = {
  accept: "Yes",
  acceptForSession: "Yes, and do not ask again in this session",
  decline: "No",
  cancel: "No, and end the turn",
} as const;

export function decisionText(decision: CommandExecutionApprovalDecision): string {
  if (typeof decision === "string") return DECISIONS[decision];
  if ("acceptWithExecpolicyAmendment" in decision) {
    const prefix = decision.acceptWithExecpolicyAmendment.execpolicy_amendment.join(" ");
    return `Yes, and never ask again for “${prefix}”`;
  }
  const { action, host } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  return action === "allow" ? `Always allow ${host}` : `Never allow ${host}`;
}

/** May files be changed? The diff is in the item above. */
export function FileApprovalCard({ question }: { question: Of<"item/fileChange/requestApproval"> }) {
  const { reason, grantRoot } = question.params;
  return (
    <QuestionFrame title="Change these files?" reason={reason}>
      {grantRoot ? (
        <p class="dim path">and write everywhere in {visibleText(grantRoot)} for this session</p>
      ) : null}
      <div class="answers">
        {(["accept", "acceptForSession", "decline", "cancel"] as const).map((decision) => (
          <button
            key={decision}
            type="button"
            class={decision === "accept" ? "primary" : ""}
            onClick={() => question.answer({ decision })}
          >
            {DECISIONS[decision]}
          </button>
        ))}
      </div>
    </QuestionFrame>
  );
}

/** May the model have more permissions? */
export function PermissionCard({ question }: { question: Of<"item/permissions/requestApproval"> }) {
  const { permissions, reason, cwd } = question.params;
  const { fileSystem, network } = permissions;
  const granted = { ...(fileSystem && { fileSystem }), ...(network && { network }) };
  return (
    <QuestionFrame title="Give these permissions?" reason={reason}>
      <Permissions permissions={permissions} />
      <p class="dim path">in {visibleText(cwd)}</p>
      <div class="answers">
        <button
          type="button"
          class="primary"
          onClick={() => question.answer({ permissions: granted, scope: "turn" })}
        >
          For this turn
        </button>
        <button type="button" onClick={() => question.answer({ permissions: granted, scope: "session" })}>
          For this session
        </button>
        <button type="button" onClick={() => question.answer({ permissions: {} })}>
          No
        </button>
      </div>
    </QuestionFrame>
  );
}

function Permissions({ permissions }: { permissions: AdditionalPermissionProfile }) {
  return (
    <ul class="permissions">
      {permissionTexts(permissions).map((text) => (
        <li key={text}>{visibleText(text)}</li>
      ))}
    </ul>
  );
}

/** Each permission once: most are in the lists of paths and among the entries. */
function permissionTexts({ fileSystem, network }: AdditionalPermissionProfile): readonly string[] {
  const texts = [
    ...(network?.enabled ? ["use the network"] : []),
    ...(fileSystem?.read ?? []).map((path) => `read ${path}`),
    ...(fileSystem?.write ?? []).map((path) => `write ${path}`),
    ...(fileSystem?.entries ?? []).map(entryText),
  ];
  return [...new Set(texts)];
}

function entryText({ access, path }: FileSystemSandboxEntry): string {
  switch (path.type) {
    case "path":
      return `${access} ${path.path}`;
    case "glob_pattern":
      return `${access} ${path.pattern}`;
    case "special":
      return `${access} ${path.value.kind.replaceAll("_", " ")}`;
  }
}
