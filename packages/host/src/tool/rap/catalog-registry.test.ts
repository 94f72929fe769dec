import { describe, expect, it } from "vitest";
import { CatalogRegistry } from "./catalog-registry.ts";
import type { ToolServerSettings } from "./rap-settings.ts";
import type { Catalog } from "./server-catalog.ts";

const server = (name: string) => ({ name, url: `http://${name}.example` }) as ToolServerSettings;

function stage() {
  const desk = server("desk");
  let made = 0;
  const catalogs = new CatalogRegistry({
    configured: [desk],
    make: ({ name }) => ({ name, made: ++made }) as unknown as Catalog,
  });
  return { desk, catalogs };
}

describe("the catalogs of tool servers", () => {
  it("are one for all threads that bring the same server, and go with the last of them", () => {
    const { catalogs } = stage();
    catalogs.hold([server("mine")]);
    const shared = catalogs.of(server("mine"));
    catalogs.hold([server("mine")]);
    expect(catalogs.of(server("mine"))).toBe(shared);
    catalogs.release([server("mine")]);
    expect(catalogs.of(server("mine"))).toBe(shared);
    catalogs.release([server("mine")]);
    expect(catalogs.of(server("mine"))).not.toBe(shared);
  });

  it("are not kept for a server that no thread has", () => {
    const { catalogs } = stage();
    expect(catalogs.of(server("gone"))).not.toBe(catalogs.of(server("gone")));
  });

  it("stay for servers that are configured", () => {
    const { catalogs, desk } = stage();
    const first = catalogs.of(desk);
    catalogs.hold([desk]);
    catalogs.release([desk]);
    expect(catalogs.of(desk)).toBe(first);
  });
});
