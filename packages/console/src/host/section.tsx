import type { ComponentChildren } from "preact";

interface Props {
  readonly title: string;
  readonly problem?: string | undefined;
  readonly children: ComponentChildren;
}

export function Section({ title, problem, children }: Props) {
  return (
    <section class="host-section" aria-label={title}>
      <h2>{title}</h2>
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      {children}
    </section>
  );
}

export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="dim">{children}</p>;
}
