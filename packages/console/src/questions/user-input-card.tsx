import type { ToolRequestUserInputQuestion } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { QuestionFrame } from "./question-frame.tsx";
import type { Question } from "./questions.ts";

type Asked = Extract<Question, { method: "item/tool/requestUserInput" }>;

/** Questions of the model: options to choose from, or a text. */
export function UserInputCard({ question }: { question: Asked }) {
  const { questions } = question.params;
  const answers = useSignal<Readonly<Record<string, string>>>({});
  const isComplete = questions.every(({ id }) => (answers.value[id] ?? "").trim() !== "");
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    const given = questions.map(({ id }) => [id, { answers: [answers.value[id]!] }]);
    question.answer({ answers: Object.fromEntries(given) });
  };
  return (
    <QuestionFrame title={questions.length === 1 ? questions[0]!.question : "The model asks"}>
      <form onSubmit={send}>
        {questions.map((one) => (
          <Field
            key={one.id}
            question={one}
            isOnly={questions.length === 1}
            value={answers.value[one.id] ?? ""}
            onValue={(value) => {
              answers.value = { ...answers.value, [one.id]: value };
            }}
          />
        ))}
        <div class="answers">
          <button type="submit" class="primary" disabled={!isComplete}>
            Answer
          </button>
        </div>
      </form>
    </QuestionFrame>
  );
}

interface FieldProps {
  readonly question: ToolRequestUserInputQuestion;
  readonly isOnly: boolean;
  readonly value: string;
  onValue(value: string): void;
}

function Field({ question, isOnly, value, onValue }: FieldProps) {
  const { id, options, isOther, isSecret, header } = question;
  const chosen = options?.some(({ label }) => label === value) ?? false;
  return (
    <fieldset>
      <legend class={isOnly ? "visually-hidden" : ""}>{isOnly ? header : question.question}</legend>
      {options?.map(({ label, description }) => (
        <label key={label} class="option">
          <input
            type="radio"
            name={`question-${id}`}
            checked={value === label}
            onChange={() => onValue(label)}
          />
          <span>
            <strong>{label}</strong>
            {description ? <small>{description}</small> : null}
          </span>
        </label>
      ))}
      {options === null || options.length === 0 || isOther ? (
        <input
          {...(isSecret ? { type: "password" as const } : { type: "text" as const })}
          class="text"
          autocomplete="off"
          placeholder={options === null || options.length === 0 ? "Your answer" : "Something else"}
          aria-label={options === null || options.length === 0 ? question.question : "Something else"}
          value={chosen ? "" : value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : null}
    </fieldset>
  );
}
