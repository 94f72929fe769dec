import type { PatchChangeKind } from "@bobbin/protocol";
import type { RefObject } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import { languageOfFile } from "../../highlight/languages.ts";
import { lineRuns, type TokenRun } from "../../highlight/token-runs.ts";
import { TokenText } from "../../highlight/token-text.tsx";
import { useHighlight } from "../../highlight/use-highlight.ts";
import { pathWithin } from "../../parts/file-paths.ts";
import { ThreadFolder } from "../thread-folder-context.ts";
import { type DiffLine, diffCounts, diffLines } from "./diff-lines.ts";

/** Limit on the lines of one file's diff that are shown. */
const SHOWN = 600;

interface Props {
  readonly path: string;
  readonly kind: PatchChangeKind;
  readonly diff: string;
}

/** The changes of one file. */
export function DiffView({ path, kind, diff }: Props) {
  const lines = useMemo(() => diffLines(diff, kind.type), [diff, kind.type]);
  const box = useRef<HTMLElement>(null);
  const runs = useLineRuns(box, lines, languageOfFile(moved(kind) ?? path));
  const { added, removed } = diffCounts(lines);
  const folder = useContext(ThreadFolder);
  const target = moved(kind);
  const shown = [path, ...(target ? [target] : [])].map((one) => pathWithin(folder, one)).join(" → ");
  return (
    <figure class="diff" ref={box}>
      <figcaption>
        <span class="path" title={target ? `${path} → ${target}` : path}>
          {shown}
        </span>
        <span class="counts">
          <span class="added">+{added}</span> <span class="removed">−{removed}</span>
        </span>
      </figcaption>
      {lines.length === 0 ? null : (
        <div class="diff-scroll" tabIndex={0} role="group" aria-label={`Changes of ${path}`}>
          <table>
            <tbody>
              {lines.slice(0, SHOWN).map((line, at) => (
                <tr key={at} class={line.kind}>
                  <td class="number">{line.oldNumber}</td>
                  <td class="number">{line.newNumber}</td>
                  <td class="sign">{line.kind === "added" ? "+" : line.kind === "removed" ? "−" : ""}</td>
                  <td class="text">
                    {runs[at] === undefined ? line.text : <TokenText text={line.text} runs={runs[at]} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {lines.length > SHOWN ? <p class="dim">{`${lines.length - SHOWN} more lines`}</p> : null}
    </figure>
  );
}

/** The new path of a file that was moved. */
function moved(kind: PatchChangeKind): string | null {
  return kind.type === "update" ? (kind.move_path ?? null) : null;
}

/** The tokens of each line of a diff. The old and the new text are highlighted separately. */
function useLineRuns(
  box: RefObject<Element | null>,
  lines: readonly DiffLine[],
  language: string | undefined,
): readonly (readonly TokenRun[] | undefined)[] {
  const sides = useMemo(() => {
    const shown = lines.slice(0, SHOWN);
    const without = (kind: DiffLine["kind"]) =>
      shown
        .filter((line) => line.kind !== kind && line.kind !== "place")
        .map(({ text }) => text)
        .join("\n");
    return { before: without("added"), after: without("removed") };
  }, [lines]);
  const before = useHighlight(box, sides.before, language);
  const after = useHighlight(box, sides.after, language);
  return useMemo(() => {
    const old = before?.text === sides.before ? lineRuns(before.text, before.runs) : [];
    const fresh = after?.text === sides.after ? lineRuns(after.text, after.runs) : [];
    let oldAt = 0;
    let newAt = 0;
    return lines.slice(0, SHOWN).map(({ kind }) => {
      if (kind === "place") return undefined;
      const here = kind === "removed" ? old[oldAt] : fresh[newAt];
      if (kind !== "added") oldAt++;
      if (kind !== "removed") newAt++;
      return here;
    });
  }, [lines, sides, before, after]);
}
