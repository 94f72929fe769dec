import type { ExternalAgentConfigImportHistory as History } from "@bobbin/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { IndexFile } from "../../../../test/simulation/memory-index.ts";
import type { DocumentStore } from "../store/documents.ts";
import { SharedMemory } from "../store/memory/in-memory-store.ts";
import { ImportHistories } from "./past-imports.ts";

const NAME = "import_histories";

function history(importId: string): History {
  return { importId, providerId: null, completedAtMs: 1, successes: [], failures: [] };
}

let documents: DocumentStore;
let warnings: string[];
beforeEach(() => {
  ({ documents } = new SharedMemory().open("host", new IndexFile().open()));
  warnings = [];
});

/** The histories as one of the hosts that share the documents sees them. */
function onOneHost(changed: Partial<DocumentStore> = {}): ImportHistories {
  const log = { warn: (message: string) => void warnings.push(message) };
  return new ImportHistories({ documents: { ...documents, ...changed }, log });
}

const ids = async (histories: ImportHistories): Promise<readonly string[]> =>
  (await histories.all()).map(({ importId }) => importId);

describe("histories of imports", () => {
  it("are there for every host, the latest first, at most a hundred", async () => {
    const histories = onOneHost();
    expect(await ids(histories)).toEqual([]);
    for (let nth = 1; nth <= 101; nth++) await histories.add(history(`import ${nth}`));
    const found = await ids(onOneHost());
    expect([found.length, found[0], found.at(-1)]).toEqual([100, "import 101", "import 2"]);
    expect(warnings).toEqual([]);
  });

  it("are all kept when hosts add theirs at the same time", async () => {
    const hosts = [onOneHost(), onOneHost(), onOneHost()];
    await Promise.all(hosts.map((host, nth) => host.add(history(`of host ${nth}`))));
    expect((await ids(onOneHost())).toSorted()).toEqual(["of host 0", "of host 1", "of host 2"]);
  });

  it("are an empty list where the document is broken, and begin anew", async () => {
    for (const text of ["no JSON", "{}"]) {
      const { version } = (await documents.read(NAME)) ?? {};
      await documents.replace(NAME, text, version);
      expect(await ids(onOneHost())).toEqual([]);
    }
    expect(warnings).toHaveLength(2);
    await onOneHost().add(history("new"));
    expect(await ids(onOneHost())).toEqual(["new"]);
  });

  it("are not replaced where they cannot be read", async () => {
    await onOneHost().add(history("old"));
    const failing = onOneHost({ read: () => Promise.reject(new Error("EIO")) });
    await expect(failing.add(history("new"))).rejects.toMatchObject({ code: "notSaved" });
    expect(await ids(failing)).toEqual([]);
    expect(await ids(onOneHost())).toEqual(["old"]);
  });
});
