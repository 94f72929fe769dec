// What the host promises, one line each. A test names the ids that it covers in its title, in brackets; the
// coverage test holds the two against each other.

import { accountLines } from "./requirements-account.ts";
import { clientLines } from "./requirements-clients.ts";
import { configKeyLines } from "./requirements-config-keys.ts";
import { fileLines } from "./requirements-files.ts";
import { helperLines } from "./requirements-helpers.ts";
import { historyLines } from "./requirements-history.ts";
import { hookLines } from "./requirements-hooks.ts";
import { importLines } from "./requirements-import.ts";
import { inputLines } from "./requirements-input.ts";
import { layerLines } from "./requirements-layers.ts";
import { lifeLines } from "./requirements-life.ts";
import { mcpLines } from "./requirements-mcp.ts";
import { mcpAuthLines } from "./requirements-mcp-auth.ts";
import { mcpCallLines } from "./requirements-mcp-calls.ts";
import { peopleLines } from "./requirements-people.ts";
import { rapLines } from "./requirements-rap.ts";
import { seedLines } from "./requirements-seeds.ts";
import { toolLines } from "./requirements-tools.ts";

export interface Requirement {
  readonly id: string;
  readonly says: string;
}

const lines = {
  // Requests and their errors.
  "RPC-1": "A method that is in no table is answered with -32601.",
  "RPC-2": "A method of the table that is not served yet is answered with -32601 and a code of its own.",
  "RPC-3": "Params of the wrong shape are answered with -32602 and the path of the first bad field.",
  "RPC-4": "What is no JSON is answered with -32700 and the id null, and the connection goes on.",
  "RPC-5": "A batch, or JSON that is no message, is answered with one -32600, and nothing of it is run.",
  "RPC-6": "Every error has a stable data.code, and data.retryable says whether trying again can help.",
  "RPC-7":
    "Ids come back as they were written: text, negative, with a fraction, or larger than JavaScript holds.",
  "RPC-8": "Params may be left out or null where every field may be.",
  "RPC-9": "Params and members that nobody knows are ignored.",
  "RPC-10": "A value that an enumeration does not have is refused.",
  "RPC-11": "Values that the documents spell in two ways are taken in both.",
  "RPC-12": "No frame carries `jsonrpc`; one that a client sends is ignored.",
  "RPC-13": "Notifications, and answers to questions that nobody asked, get no reply.",
  "RPC-14":
    "The program writes the protocol as JSON Schema and as TypeScript, stable or with what is experimental.",
  "GATE-1": "An experimental method needs the capability; the refusal names the method.",
  "GATE-2": "An experimental field needs the capability; the refusal names method and field.",
  "GATE-3": "A null counts as absent, for the gate too.",
  "GATE-4": "With the capability nothing is gated.",

  // Connections.
  "INIT-1": "Before initialize a request is refused as not initialized.",
  "INIT-2": "A second initialize is refused, and changes nothing.",
  "INIT-3": "The reply tells user agent, home and platform; the version stands right behind the first slash.",
  "INIT-4": "A client that never says that it is initialized is served like any other.",
  "INIT-5": "Notifications that a client opted out of do not come; replies and all others do.",
  "INIT-6": "An initialize that was refused can be tried again.",

  // Transports.
  "STDIO-1": "Lines end at LF and nowhere else: U+2028 and a lone CR inside a message split nothing.",
  "STDIO-2": "A line of 64 MiB is read.",
  "STDIO-3": "A longer line is skipped with an error, and the connection goes on.",
  "STDIO-4": "Bytes that are no UTF-8 are answered with an error, and the connection goes on.",
  "WS-1": "A WebSocket carries one message a text frame.",
  "WS-2": "Probes are answered over HTTP, with and without authentication.",
  "WS-3": "A person who opens the address sees what it is and how to connect.",
  "WS-4": "Metrics are told to whoever may connect.",
  "UNIX-1": "A Unix socket carries WebSocket, and only its owner may open it.",
  "UNIX-2": "A socket file that nobody serves is replaced; one that is served is not.",
  "DOOR-1": "One host can have several doors, and all of them lead to the same threads.",
  "DOOR-2": "--stdio opens stdin and stdout beside the other doors.",
  "DOOR-3": "With other doors open, the end of stdin is not the end of the host.",
  "FLAG-1": "-c overrides config.toml by dotted path and TOML value.",
  "FLAG-2": "The version is printed in the words that clients parse.",
  "FLAG-3": "A flag, key or address that cannot be used ends the program with code 2 and says what is wrong.",
  "AUTH-1": "Without authentication nothing but loopback is bound; the refusal says what to do.",
  "AUTH-2": "A capability token, given as file or as digest, is asked for before the upgrade.",
  "AUTH-3": "A signed token is checked for signature, time, issuer and audience before the upgrade.",
  "AUTH-4": "Metrics ask for the same credentials.",
  "AUTH-5": "Who comes with a name sees only what is theirs.",
  "AUTH-6": "What is the whole host's is for its own user: each method says what someone with a name hears.",
  "AUTH-7":
    "A signed token whose subject is not usable text is refused; it never acts as the host's own user.",
  "AUTH-8": "A capability token or shared secret that is easy to guess is refused at the start.",
  "REACH-1":
    "A subject reads and writes no file outside of its folders, by whatever path, and none of the host's home.",
  "REACH-2": "A subject reaches no file and no address of the host unless `[subjects]` gives it some.",
  "REACH-6":
    "A command of a subject's thread sees the subject's folders and programs, and nothing else of the host.",
  "REACH-3": "A subject's thread calls no tool server of its own whose address `[subjects]` does not list.",
  "REACH-4": "What `[subjects]` can grant is refused with `notGranted` where it does not.",
  "REACH-5": "A subject's thread has no sandbox that `[subjects]` does not grant, not even by default.",
  "LIMIT-1":
    "An HTTP listener holds a bounded number of connections; those that ask for nothing make room for new ones.",
  "LIMIT-2": "A request that is slow or has long headers ends, and its connection with it.",
  "LIMIT-3":
    "A request with two Host or Authorization headers, or that can otherwise be read in two ways, gets a 400.",
  "LIMIT-4":
    "A socket listener serves at most `max_connections` clients; others get a 503 before the upgrade.",
  "ORIGIN-1": "Web pages of others are refused, our own and allowed ones are not.",
  "ORIGIN-2": "On loopback a foreign name in Host is refused.",

  // The end.
  "END-1": "When stdin ends the host answers what it was asked and exits with 0.",
  "END-2": "SIGTERM and SIGINT end the host with code 0 in a bounded time, however many clients there are.",
  "END-3": "A turn that runs is ended as interrupted, and told so, before the wires are closed.",
  "END-4": "Once the end has begun no request is taken; it is told to come back later.",
  "END-5": "A client that does not read does not hold up the end.",
  "END-6": "A second signal ends the host at once, with code 1 and a line that says what was not done.",
  "END-8": "A connection on which nothing was asked does not hold up the end.",
  "END-9": "A host whose log nobody reads serves on.",
  "END-7": "Replies that wait for a slow reader are written before its wire is closed.",

  // Backpressure.
  "LOAD-1": "With too many requests under way a request is answered with -32001, which is retryable.",
  "LOAD-2": "Each request gets exactly one reply, however many are sent at once.",
  "LOAD-3": "A client that stops reading costs the host a bounded amount of memory.",
  "LOAD-4": "A client that stops reading does not slow others down.",
  "LOAD-5": "Once it reads again, it gets every durable notification exactly once and in order.",
  "LOAD-6": "The deltas that a slow reader gets make up the item's text, without a gap or a repetition.",
  "LOAD-7": "Replies to a slow reader are never lost.",
  "LOAD-9": "A client that sends hundreds of requests at once holds up no other, and is served in order.",
  "LOAD-10":
    "Others are answered while a model streams as fast as it can, or calls thousands of tools at once.",
  "LOAD-11":
    "When thousands of turns end together, few of their syncs run at once, and a folder's are shared.",
  "LOAD-8": "Many turns leave no timer, listener or signal behind, and memory where it was.",

  // A first turn.
  "TURN-1": "thread/start is answered, then thread/started is told.",
  "TURN-2": "A turn is told in a fixed order, from its reply to turn/completed, idle before the latter.",
  "TURN-3": "The deltas of an answer make up its text.",
  "TURN-4": "Usage counts the last answer, and sums up over the thread.",
  "TURN-5": "An interrupt is answered, then the turn is told idle and interrupted; what was said stays.",
  "TURN-6": "An interrupt that comes twice, too late or for another turn is answered as clients expect.",
  "TURN-7": "Input for a running turn joins it, whether it comes as turn/start or as turn/steer.",
  "TURN-8": "A steer of no turn, or of another one, is refused.",
  "TURN-9": "Input past the limit is refused with the numbers; input at the limit is taken.",
  "TURN-10":
    "Threads and statuses are told to every client, turns and items only to those who follow the thread.",
  "TURN-11": "A turn goes on when the client that started it leaves.",
  "TURN-12": "A thread that is not there, or an id that cannot be one, is refused.",
  "TURN-13": "Input without text is a turn like any other.",
  "TURN-14":
    "What a client says beside input is shown to the model, once for as long as it holds, and is as durable.",
  "TURN-15":
    "turn/settings/update changes model, effort, summary, tier and reviewer of the turn that runs, from its next call of the model on and for no other turn; it notifies nobody, and refuses fields that it does not know.",
  "TURN-16": "What was changed for a running turn outlives its host, as the turn does.",
  "MODEL-1": "The offline model is listed and labelled as what it is.",
  "MODEL-2": "The offline model says what it is, and echoes.",

  ...lifeLines,
  ...mcpAuthLines,
  ...mcpCallLines,
  ...importLines,
  ...inputLines,
  ...accountLines,
  ...clientLines,
  ...fileLines,
  ...layerLines,
  ...historyLines,
  ...hookLines,
  ...toolLines,
  ...configKeyLines,
  ...mcpLines,
  ...helperLines,
  ...peopleLines,
  ...seedLines,

  // Bars.
  "BAR-1": "Ten thousand hostile frames on each transport: no crash, no leak, one reply to each readable id.",
  "BAR-2": "While one client is hostile, others are served.",
  "BAR-3": "A thousand WebSocket clients come and go, and the memory is as it was.",
  "BAR-4": "Requests made from every method's schema, right or a little wrong, get no internal error.",

  // Models over HTTP.
  "MODEL-3":
    "A turn streams a model's reasoning and text, and the model gets back what it wants back, unseen.",
  "MODEL-4": "A tool call that nothing can serve is answered with an error, and the turn goes on.",
  "MODEL-5": "The model sees instructions, project files, the environment, pictures and what clients put in.",
  "MODEL-6": "A fault that may pass is retried and each retry is told; what was shown stays.",
  "MODEL-7": "A fault that does not pass ends the turn as failed, with its kind and a sentence that helps.",
  "MODEL-12": "A turn whose model streams without end can be interrupted before a limit ends it.",
  "MODEL-10":
    "An answer past a limit (an item, the answer, calls of an answer or a turn) is cut there, and its turn fails with that limit's code.",
  "PROVIDER-1": "modelProvider/list names every provider, the default, and what a client may edit.",
  "PROVIDER-2": "modelProvider/config/write changes or makes a provider in config.toml, and nothing else.",
  "PROVIDER-3":
    "What modelProvider/config/write cannot do is refused with a stable code, and writes nothing.",
  "MODEL-8": "model/list is never empty.",
  "MODEL-11": "A turn on the offline model warns when its thread names another model.",
  "OFFLINE-1":
    "The offline model runs commands, patches files, calls tools, asks and starts helpers when it is asked to in words.",
  "OFFLINE-2": "The offline model reports what a tool gave.",
  "MODEL-9": "Pictures that are elsewhere are refused; one that is broken is put in words for the model.",
} as const;

export const requirements: readonly Requirement[] = [
  ...Object.entries(lines).map(([id, says]) => ({ id, says })),
  ...Object.entries(rapLines).map(([id, [, says]]) => ({ id, says })),
];
