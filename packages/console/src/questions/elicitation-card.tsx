import { useSignal } from "@preact/signals";
import { safeLink } from "../markdown/safe-link.ts";
import { visibleText } from "../parts/visible-text.ts";
import { type FormField, type FormValue, formContent, formFields, isFilledIn } from "./elicitation-form.ts";
import { QuestionFrame } from "./question-frame.tsx";
import type { Question } from "./questions.ts";

type Asked = Extract<Question, { method: "mcpServer/elicitation/request" }>;

/** A question of an MCP server: a form, or an address to visit. */
export function ElicitationCard({ question }: { question: Asked }) {
  const { params } = question;
  const title = serverTitle(params);
  const refusals = (
    <>
      <button type="button" onClick={() => question.answer({ action: "decline" })}>
        Decline
      </button>
      <button type="button" onClick={() => question.answer({ action: "cancel" })}>
        Cancel
      </button>
    </>
  );
  if (params.mode === "form")
    return Object.keys(params.requestedSchema.properties).length === 0 ? (
      <ConsentCard question={question} />
    ) : (
      <FormCard question={question} title={title} />
    );
  if (params.mode === "url") {
    const address = safeLink(params.url);
    return (
      <QuestionFrame title={title} reason={params.message}>
        {address === undefined ? (
          <p class="dim path">{visibleText(params.url)}</p>
        ) : (
          <p>
            <a href={address} target="_blank" rel="noreferrer noopener">
              {visibleText(params.url)}
            </a>
          </p>
        )}
        <div class="answers">
          <button type="button" class="primary" onClick={() => question.answer({ action: "accept" })}>
            I have done it
          </button>
          {refusals}
        </div>
      </QuestionFrame>
    );
  }
  const text = "message" in params ? params.message : params.description;
  return (
    <QuestionFrame title={title} reason={text}>
      <p class="dim">This question has a form that the console does not know. It can only be refused here.</p>
      <div class="answers">{refusals}</div>
    </QuestionFrame>
  );
}

function serverTitle({ serverName }: Asked["params"]): string {
  return `${serverName} asks`;
}

/** Data from the host about a call that needs consent. Only the host can set the approval kinds. */
interface ConsentMeta {
  readonly codex_approval_kind?: unknown;
  readonly bobbin_approval_kind?: unknown;
  readonly persist?: unknown;
  readonly tool_description?: unknown;
  readonly tool_params?: unknown;
}

/** A form without fields asks for consent: may a tool be called, or may a server ask the model? */
function ConsentCard({ question }: { question: Asked }) {
  const { params } = question;
  if (params.mode !== "form") return null;
  const meta = (params._meta ?? {}) as ConsentMeta;
  const { persist, tool_description: about, tool_params: args } = meta;
  // A server's text must not be shown as if it came from the host.
  const isOfHost = meta.codex_approval_kind !== undefined || meta.bobbin_approval_kind !== undefined;
  const [first = "", ...rest] = params.message.split("\n");
  const [title, reason] = isOfHost ? [first, rest.join("\n").trim()] : [serverTitle(params), params.message];
  const offered = Array.isArray(persist) ? persist : [persist];
  const accept = (how?: string) =>
    question.answer({ action: "accept", content: {}, ...(how !== undefined && { _meta: { persist: how } }) });
  return (
    <QuestionFrame title={title} reason={reason}>
      {typeof about === "string" && about !== "" ? <p class="dim">{visibleText(about)}</p> : null}
      {args === undefined ? null : (
        <pre class="asked" tabIndex={0} role="group" aria-label="Arguments">
          {visibleText(JSON.stringify(args, null, 2))}
        </pre>
      )}
      <div class="answers">
        <button type="button" class="primary" onClick={() => accept()}>
          Yes
        </button>
        {offered.includes("session") ? (
          <button type="button" onClick={() => accept("session")}>
            Yes, and do not ask again in this session
          </button>
        ) : null}
        {offered.includes("always") ? (
          <button type="button" onClick={() => accept("always")}>
            Yes, and never ask again for this tool
          </button>
        ) : null}
        <button type="button" onClick={() => question.answer({ action: "decline" })}>
          No
        </button>
      </div>
    </QuestionFrame>
  );
}

function FormCard({ question, title }: { question: Asked; title: string }) {
  const { params } = question;
  const values = useSignal<Readonly<Record<string, FormValue>>>({});
  if (params.mode !== "form") return null;
  const fields = formFields(params.requestedSchema);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    question.answer({ action: "accept", content: formContent(fields, values.value) });
  };
  return (
    <QuestionFrame title={title} reason={params.message}>
      <form onSubmit={send}>
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values.value[field.name] ?? field.initial}
            onValue={(value) => {
              values.value = { ...values.value, [field.name]: value };
            }}
          />
        ))}
        <div class="answers">
          <button type="submit" class="primary" disabled={!isFilledIn(fields, values.value)}>
            Send
          </button>
          <button type="button" onClick={() => question.answer({ action: "decline" })}>
            Decline
          </button>
          <button type="button" onClick={() => question.answer({ action: "cancel" })}>
            Cancel
          </button>
        </div>
      </form>
    </QuestionFrame>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: FormValue;
  onValue(value: FormValue): void;
}

function Field({ field, value, onValue }: FieldProps) {
  const { kind, title, description, isRequired, choices } = field;
  if (kind === "boolean") {
    return (
      <label class="option">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        <span>
          <strong>{title}</strong>
          {description ? <small>{description}</small> : null}
        </span>
      </label>
    );
  }
  if (kind === "many") {
    const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
    return (
      <fieldset>
        <legend>{title}</legend>
        {choices.map((choice) => (
          <label key={choice.value} class="option">
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={(event) =>
                onValue(
                  event.currentTarget.checked
                    ? [...chosen, choice.value]
                    : chosen.filter((one) => one !== choice.value),
                )
              }
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the select or the input below.
    <label class="field">
      <span>
        {title}
        {isRequired ? "" : " (optional)"}
      </span>
      {kind === "one" ? (
        <select value={String(value)} onChange={(event) => onValue(event.currentTarget.value)}>
          <option value="">Choose …</option>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      ) : (
        <input
          class="text"
          {...({ type: kind, ...(kind === "number" && { step: "any" }) } as { type: "text" })}
          value={String(value)}
          required={isRequired}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
      {description ? <small>{description}</small> : null}
    </label>
  );
}
