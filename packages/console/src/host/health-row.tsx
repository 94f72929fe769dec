import type { ComponentChildren } from "preact";

interface Props {
  readonly name: string;
  /** Null if nothing depends on it. Then the dot is grey. */
  readonly isWell: boolean | null;
  readonly children: ComponentChildren;
}

/** One row of a list: a name, a dot that shows whether the thing works, and details as `children`. */
export function HealthRow({ name, isWell, children }: Props) {
  return (
    <li>
      <strong>
        {isWell === null ? (
          <span class="dot unloaded" aria-hidden="true" />
        ) : (
          <span
            class={`dot ${isWell ? "idle" : "failed"}`}
            role="img"
            aria-label={isWell ? "Well" : "Not well"}
          />
        )}{" "}
        {name}
      </strong>
      <span>{children}</span>
    </li>
  );
}
