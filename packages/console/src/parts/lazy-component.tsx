import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect } from "preact/hooks";

type Load<P> = () => Promise<ComponentType<P>>;

/** Loaded components, by the function that loads them. They are shown without waiting. */
const parts = new WeakMap<object, unknown>();

async function loadPart<P>(load: Load<P>): Promise<ComponentType<P>> {
  const part = await load();
  parts.set(load, part);
  return part;
}

/** Loads a component before it is needed. A failure is ignored: `LazyComponent` loads it again and shows the error. */
export function preload<P>(load: Load<P>): void {
  loadPart(load).catch(() => {});
}

interface Props<P> {
  /** Loads the component. Must be the same function at each render, because loaded components are found by it. */
  readonly load: Load<P>;
  readonly props: P;
  /** Shown until the component is loaded, and instead of the component if loading fails. */
  readonly meanwhile?: ComponentChildren;
}

/** Shows a component whose code is loaded when it is first needed. */
export function LazyComponent<P extends object>({ load, props, meanwhile }: Props<P>) {
  const part = useSignal(parts.get(load) as ComponentType<P> | undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (part.value !== undefined) return;
    loadPart(load).then(
      (loaded) => {
        part.value = loaded;
      },
      (cause: unknown) => {
        // After an update of the host, the files that the open page refers to may not exist any more.
        problem.value = `${cause instanceof Error ? cause.message : String(cause)}. Reload the page.`;
      },
    );
  }, [load, part, problem]);
  const Part = part.value;
  if (Part !== undefined) return <Part {...props} />;
  if (problem.value === undefined || meanwhile !== undefined) return <>{meanwhile}</>;
  return <p class="problem">{problem.value}</p>;
}
