import { type Loose, objectIn } from "../../model/loose-json.ts";

/** The text of a code review for people: the overall explanation, then each finding with its file and lines. */
export function codeReviewText(answer: string): string {
  const output = readOutput(answer);
  // Some models answer in prose although JSON was requested. The prose is then the review.
  if (output === undefined) return answer.trim() === "" ? NOTHING : answer.trim();
  const { explanation, findings } = output;
  const head = findings.length > 1 ? "Full review comments:" : "Review comment:";
  const sections = [
    ...(explanation === "" ? [] : [explanation]),
    ...(findings.length === 0 ? [] : [[head, ...findings].join("\n\n")]),
  ];
  return sections.length === 0 ? NOTHING : sections.join("\n\n");
}

const NOTHING = "The reviewer had nothing to say.";

interface Output {
  readonly explanation: string;
  readonly findings: readonly string[];
}

/** Reads the JSON of a code review, even in a code fence or between other text. */
function readOutput(answer: string): Output | undefined {
  const json = parsed(answer) ?? parsed(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1));
  if (json === undefined) return undefined;
  const findings = Array.isArray(json.findings) ? json.findings : [];
  return {
    explanation: String(json.overall_explanation ?? "").trim(),
    findings: findings.map((finding) => findingText(objectIn(finding))),
  };
}

function parsed(text: string): Loose | undefined {
  try {
    const json: unknown = JSON.parse(text);
    const isOutput =
      typeof json === "object" && json !== null && ("findings" in json || "overall_explanation" in json);
    return isOutput ? (json as Loose) : undefined;
  } catch {
    return undefined;
  }
}

function findingText({ title, body, code_location }: Loose): string {
  const { absolute_file_path: path, line_range } = objectIn(code_location);
  const { start, end } = objectIn(line_range);
  const place =
    path === undefined ? "" : ` — ${path}${start === undefined ? "" : `:${start}-${end ?? start}`}`;
  const lines = String(body ?? "").split("\n");
  return [`- ${title ?? "Finding"}${place}`, ...lines.map((line) => `  ${line}`)].join("\n").trimEnd();
}
