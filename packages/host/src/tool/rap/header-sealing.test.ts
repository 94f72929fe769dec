import { expect, it } from "vitest";
import { openedHeaders, sealedHeaders } from "./header-sealing.ts";

const seals = {
  seal: async (text: string) => `sealed ${text}`,
  open: (text: string) => {
    if (text === "sealed broken") return undefined;
    return text.replace(/^sealed /, "");
  },
};

it("[ACCT-7] seals the headers of each server and nothing else, and opens them again", async () => {
  const toolServers = {
    desk: { url: "http://desk", headers: { authorization: "a", "x-key": "b" }, approval: "always" },
    plain: { url: "http://plain" },
    left: false,
    none: null,
  };
  const load = { developerInstructions: "Be brief.", toolServers };
  const sealed = await sealedHeaders(load, seals);
  expect(sealed).toEqual({
    ...load,
    toolServers: {
      ...toolServers,
      desk: { ...toolServers.desk, headers: { authorization: "sealed a", "x-key": "sealed b" } },
    },
  });
  expect(openedHeaders(sealed.toolServers, seals)).toEqual(toolServers);
  expect(await sealedHeaders({ toolServers: null }, seals)).toEqual({ toolServers: null });
  expect(openedHeaders(undefined, seals)).toBeUndefined();
});

it("[ACCT-7] reads headers of an older journal as they are, and leaves out those that cannot be opened", () => {
  const headers = { authorization: "in the clear", "x-key": "sealed broken" };
  expect(openedHeaders({ desk: { url: "http://desk", headers } }, seals)).toEqual({
    desk: { url: "http://desk", headers: { authorization: "in the clear" } },
  });
});
