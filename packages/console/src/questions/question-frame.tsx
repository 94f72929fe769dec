import type { ComponentChildren } from "preact";
import { visibleText } from "../parts/visible-text.ts";

/** The frame of a question: its title, its subject, and the possible answers. */
export function QuestionFrame({
  title,
  reason,
  children,
}: {
  title: string;
  reason?: string | null | undefined;
  children: ComponentChildren;
}) {
  return (
    <section class="question" aria-label={visibleText(title)}>
      <h2>{visibleText(title)}</h2>
      {reason ? <p class="reason">{visibleText(reason)}</p> : null}
      {children}
    </section>
  );
}
