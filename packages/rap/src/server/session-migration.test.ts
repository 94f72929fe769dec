import { expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { bearer, type MigratingSession, memoryData, ToolError, type ToolServer, tool } from "./index.ts";

const DESTINATION = "http://127.0.0.1:9123/tools";

function watching(listened: string[]) {
  return tool({
    name: "watch",
    description: "Watches.",
    async run(_, ctx) {
      await ctx.subscribe({ of: ctx.thread.id });
      return "Watching.";
    },
    async listen(subscription) {
      listened.push(subscription.threadId);
      await new Promise((resolve) => subscription.signal.addEventListener("abort", resolve));
      listened.push(`${subscription.threadId} over`);
    },
  });
}

/** A server with subscriptions in two threads of one session, and in another session. */
async function settled(world: RapWorld, hook: (session: MigratingSession) => Promise<void>) {
  const listened: string[] = [];
  const data = memoryData();
  const server = world.server({ data, tools: [watching(listened)], migrate: hook });
  await world.result(server, "watch", {}, { id: "a", thread: "root" });
  await world.result(server, "watch", {}, { id: "b", thread: "child", thread_ancestors: ["root"] });
  await world.result(server, "watch", {}, { id: "c", thread: "other" });
  await eventually(() => server.subscriptions().length === 3, "all are confirmed");
  return { server, data, listened };
}

const migrate = (world: RapWorld, server: ToolServer, body: object = {}): Promise<Response> =>
  world.post(server, "/migrate", { session_id: "root", destination_url: DESTINATION, ...body });

const reachable = (world: RapWorld): void => {
  world.elsewhere = (url) => {
    expect(url).toBe(`${DESTINATION}/.well-known/rap-toolset`);
    return new Response(null, { status: 401 });
  };
};

it("[RAPS-130] a migration is answered when the other server has everything, and that server continues", async () => {
  const world = new RapWorld();
  reachable(world);
  const there: string[] = [];
  const destination = world.server({ tools: [watching(there)], migrate: async () => {} });
  let transfer = (): void => {};
  const { server, data, listened } = await settled(world, async (session) => {
    expect(session).toMatchObject({ sessionId: "root", destinationUrl: DESTINATION });
    await new Promise<void>((resolve) => {
      transfer = resolve;
    });
    await destination.adoptSession(session.state);
  });
  world.answer = () => 503;
  await server
    .subscriptions()
    .find(({ id }) => id === "a")!
    .emit("on its way");
  await world.quiet();
  let answered = false;
  const response = migrate(world, server).then((done) => {
    answered = true;
    return done;
  });
  await world.quiet();
  expect(answered).toBe(false);
  world.answer = () => 200;
  transfer();
  expect((await response).status).toBe(200);
  expect(server.subscriptions().map(({ id }) => id)).toEqual(["c"]);
  expect((await data.store.list("")).map(([key]) => key)).toEqual([expect.stringContaining('"other"')]);
  expect(destination.subscriptions().map(({ id, state }) => [id, state])).toEqual([
    ["a", { of: "root" }],
    ["b", { of: "child" }],
  ]);
  await eventually(
    () => world.texts().filter((text) => text === "on its way").length === 2,
    "the event arrives",
  );
  expect(listened).toEqual(["root", "child", "other", "root over", "child over"]);
  expect(there).toEqual(["root", "child"]);
});

it("[RAPS-131] a failed migration is answered with an error text, and everything stays", async () => {
  const world = new RapWorld();
  reachable(world);
  let error: Error = new ToolError("The other server has no room.");
  const { server, listened } = await settled(world, async () => {
    throw error;
  });
  const told = await migrate(world, server);
  expect([told.status, await told.json()]).toEqual([500, { error: "The other server has no room." }]);
  error = new Error("scp of /home/secret failed");
  expect(await (await migrate(world, server)).json()).toEqual({ error: "The migration has failed." });
  expect(
    server
      .subscriptions()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(["a", "b", "c"]);
  expect(listened.filter((one) => one === "root")).toHaveLength(3);
  await server
    .subscriptions()
    .find(({ id }) => id === "a")!
    .emit("still from here");
  expect((await world.next("subscription_event")).text).toBe("still from here");
});

it("[RAPS-132] a migration first checks that the destination is reachable, and has a time limit", async () => {
  const world = new RapWorld();
  let begun = 0;
  const { server } = await settled(world, () => {
    begun++;
    return new Promise(() => {});
  });
  const nobody = await migrate(world, server);
  expect([nobody.status, await nobody.json()]).toEqual([
    502,
    { error: "The destination cannot be reached." },
  ]);
  world.elsewhere = () => new Promise(() => {});
  const silent = migrate(world, server);
  await world.advance(10_000);
  expect((await silent).status).toBe(502);
  expect(begun).toBe(0);
  reachable(world);
  const hanging = migrate(world, server);
  await world.advance(10 * 60_000);
  expect((await hanging).status).toBe(500);
  expect(begun).toBe(1);
  expect(server.subscriptions()).toHaveLength(3);
});

it("[RAPS-133] a migration needs credentials and a valid request", async () => {
  const world = new RapWorld();
  reachable(world);
  const migrated: string[] = [];
  const auth = bearer("right-token");
  const migrating = async ({ sessionId }: MigratingSession): Promise<void> => void migrated.push(sessionId);
  const server = world.server({ auth, tools: [watching([])], migrate: migrating });
  const asked = async (body: object, token: string): Promise<number> =>
    (await world.post(server, "/migrate", body, { Authorization: `Bearer ${token}` })).status;
  const good = { session_id: "root", destination_url: DESTINATION };
  expect(await asked(good, "wrong-token")).toBe(401);
  expect(await asked({ ...good, destination_url: "file:///etc" }, "right-token")).toBe(400);
  expect(await asked({ session_id: "root" }, "right-token")).toBe(400);
  expect(migrated).toEqual([]);
  expect(await asked(good, "right-token")).toBe(200);
  expect(migrated).toEqual(["root"]);
});
