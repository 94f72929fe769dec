// The parts of React that this package and its tests use. The package @types/react is not used, because it declares
// empty types for the DOM, globally.
declare module "react" {
  export type ReactNode = ReactElement | string | null | undefined;
  export interface ReactElement {
    readonly type: unknown;
  }
  export function createElement(
    type: string | (() => ReactNode),
    props?: null,
    ...children: ReactNode[]
  ): ReactElement;
  export function useEffect(effect: () => undefined | (() => void), dependencies: readonly unknown[]): void;
  export function useMemo<T>(make: () => T, dependencies: readonly unknown[]): T;
  export function useState<T>(initial: T): [T, (next: T) => void];
  export function useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    read: () => T,
    readOnServer: () => T,
  ): T;
}

declare module "react-test-renderer" {
  import type { ReactElement } from "react";
  export interface ReactTestRenderer {
    toJSON(): unknown;
    unmount(): void;
  }
  export function act(run: () => Promise<void>): Promise<void>;
  export function create(element: ReactElement): ReactTestRenderer;
}
