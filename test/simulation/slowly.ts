import type { Owner } from "./scheduler.ts";
import type { World } from "./world.ts";

/**
 * A port whose promises are kept when the scheduler pleases: each call waits for a step before it happens and
 * for another one before its outcome is known. Calls of one object keep their order.
 */
export function slowly<T extends object>(port: T, name: string, world: World, owner: Owner): T {
  let made = 0;
  const step = (label: string) =>
    new Promise<void>((resolve) => world.scheduler.post(`${owner.name} ${name}`, label, resolve, owner));
  return new Proxy(port, {
    get(target, key) {
      const member = Reflect.get(target, key, target) as unknown;
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        const label = String(key);
        if (label === "read") return pieces(Reflect.apply(member, target, given), () => step("read"));
        return step(label).then(async () => {
          const outcome: unknown = await Reflect.apply(member, target, given);
          await step(`${label} told`);
          return isPort(outcome) ? slowly(outcome, `${name} ${++made}`, world, owner) : outcome;
        });
      };
    },
  });
}

async function* pieces(all: AsyncIterable<unknown>, step: () => Promise<void>): AsyncIterable<unknown> {
  await step();
  for await (const piece of all) {
    yield piece;
    await step();
  }
}

/** An object with methods on its class, not plain data. */
function isPort(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && !Array.isArray(value);
}
