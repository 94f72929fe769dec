import { expect, it } from "vitest";
import { fault } from "../errors.ts";
import { guardStorage, storageFault } from "./storage-fault.ts";

it.each(["ERR_SQLITE_ERROR", "ENOSPC", "EIO", "EROFS", "ENOTFILE"])(
  "takes %s for a failure of the storage",
  (code) => {
    const found = storageFault(Object.assign(new Error("no room"), { code }));
    expect(found).toMatchObject({
      code: "storageFailed",
      message: expect.stringContaining("no room") as string,
    });
  },
);

it.each([[undefined], [null], ["ENOSPC"], [new Error("a bug")], [{ code: "ENOENT" }], [{ code: 5 }]])(
  "takes %j for no failure of the storage",
  (cause) => {
    expect(storageFault(cause)).toBeUndefined();
  },
);

it("guards work: gives back its result, passes on a refusal, and turns any other error into one", async () => {
  expect(await guardStorage(async () => 7)).toBe(7);
  const refused = fault("heldElsewhere", "t", "host");
  await expect(guardStorage(() => Promise.reject(refused))).rejects.toBe(refused);
  await expect(guardStorage(() => Promise.reject(new Error("EIO")))).rejects.toMatchObject({
    code: "storageFailed",
    message: expect.stringContaining("EIO") as string,
  });
});
