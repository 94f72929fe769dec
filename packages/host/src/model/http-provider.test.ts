import { expect, it } from "vitest";
import { MockModel, refuse } from "../../../../test/support/mock-model.ts";
import { settingsFor } from "../../../../test/support/model-calls.ts";
import { nodePlatform } from "../platform/node.ts";
import { httpProvider } from "./http-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";

async function names(settings: ProviderSettings): Promise<string[]> {
  const provider = httpProvider({ settings, platform: nodePlatform(), env: {} });
  return (await provider.models()).map(({ id }) => id);
}

it("lists the models of a local server instead of the guessed one", async () => {
  const server = await MockModel.start(refuse(200, { data: [{ id: "a" }, { id: "b" }, { odd: 1 }] }));
  const local = settingsFor("chat", server.url, { local: true });
  expect(await names(local)).toEqual(["a", "b"]);
  expect(await names({ ...local, models: ["b"] })).toEqual(["b", "a"]);
  expect(await names({ ...local, models: ["mine", "guess"] })).toEqual(["mine", "guess", "a", "b"]);
});

it("lists the configured models if the server does not answer soon", async () => {
  const server = await MockModel.start(() => {});
  expect(await names(settingsFor("chat", server.url, { local: true }))).toEqual(["m-1"]);
  server.reply(refuse(500, ""));
  expect(await names(settingsFor("chat", server.url, { local: true }))).toEqual(["m-1"]);
  expect(await names(settingsFor("responses", server.url))).toEqual(["m-1"]);
});
