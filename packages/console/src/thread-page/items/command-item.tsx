import type { ThreadItem } from "@bobbin/protocol";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import { pathWithin } from "../../parts/file-paths.ts";
import { TerminalIcon } from "../../parts/icons.tsx";
import { durationText } from "../../parts/quantity-text.ts";
import { plainTerminalText } from "../../parts/terminal-text.ts";
import { ThreadFolder } from "../thread-folder-context.ts";
import { FoldedItem, type ItemState } from "./folded-item.tsx";

type Command = Extract<ThreadItem, { type: "commandExecution" }>;

const STATES: Readonly<Record<Command["status"], ItemState>> = {
  inProgress: "running",
  completed: "done",
  failed: "failed",
  declined: "declined",
};

/** Limit on the characters of output that are shown. The journal contains the whole output. */
const SHOWN = 20_000;

/** Within this distance of its end, the output scrolls to new lines. */
const NEAR_END_PX = 40;

/** A command, its output while it runs, and its exit code. */
export function CommandItem({ item }: { item: Command }) {
  const { command, cwd, aggregatedOutput, exitCode, durationMs, status } = item;
  const folder = useContext(ThreadFolder);
  const output = plainTerminalText((aggregatedOutput ?? "").slice(-SHOWN));
  const facts = [
    exitCode === null || exitCode === 0 ? "" : `exit ${exitCode}`,
    status === "declined" ? "declined" : "",
    durationMs === null ? "" : durationText(durationMs),
  ].filter((fact) => fact !== "");
  const { box, onScroll } = useNewestInSight(output !== "" && status === "inProgress");
  return (
    <FoldedItem
      icon={<TerminalIcon />}
      title={<code>{shortCommand(command)}</code>}
      facts={facts.join(" · ")}
      state={STATES[status]}
      isOpen={status === "inProgress" || (exitCode ?? 0) !== 0}
    >
      <pre class="terminal" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label="Output">
        <span class="prompt" title={cwd}>{`${cwd === folder ? "" : pathWithin(folder, cwd)}$ `}</span>
        {`${shortCommand(command)}\n`}
        {(aggregatedOutput?.length ?? 0) > SHOWN ? "…\n" : ""}
        {output}
        {output === "" && status !== "inProgress" ? <span class="prompt">(no output)</span> : null}
      </pre>
      {exitCode === null ? null : <p class="dim">{`exit code ${exitCode}`}</p>}
    </FoldedItem>
  );
}

/** Scrolls to new output, unless the user has scrolled up. */
function useNewestInSight(isGrowing: boolean) {
  const box = useRef<HTMLPreElement>(null);
  const lastTop = useRef(0);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isGrowing && isAtEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
  });
  const onScroll = ({ currentTarget }: Event) => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget as Element;
    // Only a move upwards leaves the end: the output may have grown since the page itself scrolled there.
    if (scrollHeight - scrollTop - clientHeight < NEAR_END_PX) isAtEnd.current = true;
    else if (scrollTop < lastTop.current) isAtEnd.current = false;
    lastTop.current = scrollTop;
  };
  return { box, onScroll };
}

/** The command itself, without the shell call that wraps it. */
export function shortCommand(command: string): string {
  const wrapped = /^(?:\/\S*\/)?(?:bash|sh|zsh) -l?c (['"]?)([\s\S]*)\1$/.exec(command);
  return wrapped?.[2] ?? command;
}
