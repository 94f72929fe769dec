import { Component, type ComponentChildren, type ComponentType } from "preact";

/**
 * Renders a component again only if its properties have changed. Like `memo` of `preact/compat`; the rest of that
 * module would enlarge the first load.
 */
export function memo<P extends object>(
  Inner: (props: P) => ComponentChildren,
  isSame: (before: P, after: P) => boolean = isShallowEqual,
): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !isSame(this.props as P, next);
    }

    override render() {
      return <Inner {...(this.props as P)} />;
    }
  };
}

function isShallowEqual<P extends object>(before: P, after: P): boolean {
  const names = Object.keys(before) as (keyof P)[];
  return names.length === Object.keys(after).length && names.every((name) => before[name] === after[name]);
}
