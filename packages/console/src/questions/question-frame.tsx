import type { ComponentChildren } from "preact";

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
    <section class="question" aria-label={title}>
      <h2>{title}</h2>
      {reason ? <p class="reason">{reason}</p> : null}
      {children}
    </section>
  );
}
