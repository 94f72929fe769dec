import { type Loose, objectIn } from "../model/loose.ts";

/** What people are shown of a review: the verdict's explanation, then each finding with its place. */
export function reviewText(said: string): string {
  const output = readOutput(said);
  // Some models answer in prose, whatever they are asked for: then that is the review.
  if (output === undefined) return said.trim() === "" ? NOTHING : said.trim();
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

/** The JSON that a reviewer was asked for, also if it stands in a fence or between words. */
function readOutput(said: string): Output | undefined {
  const json = parsed(said) ?? parsed(said.slice(said.indexOf("{"), said.lastIndexOf("}") + 1));
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
