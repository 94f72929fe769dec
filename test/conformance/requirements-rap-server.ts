import type { RapLines } from "./requirements-rap.ts";

/** What the tool protocol asks of a tool server, and our SDK promises. */
export const rapServerLines = {
  // What is served.
  "RAPS-1": [
    "lifecycle toolsets",
    "Discovery at /.well-known/rap-toolset under the base URL and the endpoint that it names are both served.",
  ],
  "RAPS-2": ["lifecycle", "/close_thread and /cancel_tool_call are served."],
  "RAPS-3": [
    "lifecycle migration",
    "/migrate is served where the toolset declares needsMigration, and only there; without it the field is unset.",
  ],
  "RAPS-4": ["lifecycle", "Nothing is answered before the server has taken up what it kept."],
  "RAPS-5": [
    "lifecycle toolsets",
    "Discovery answers with the whole current toolset as JSON, one that hosts' validation takes.",
  ],
  "RAPS-6": [
    "toolsets",
    "A toolset that no host may take is refused when the server is made: name, tools, endpoint, schemas.",
  ],
  "RAPS-7": [
    "toolsets",
    "Names of tools have 1 to 128 letters, digits, underscores and hyphens, are unique, and differ by case.",
  ],
  "RAPS-8": ["toolsets", "Schemas are told as JSON Schema of draft 2020-12."],
  "RAPS-9": ["toolsets", "A tool without arguments tells that only an empty object is taken."],
  "RAPS-10": ["toolsets", "An annotation that is not the protocol's needs a name of its own space."],
  "RAPS-11": ["subscriptions", "The name that hosts keep for events is refused for a tool."],
  "RAPS-12": [
    "oauth",
    "A tool says which authorization it needs in requiresAuth, and one that the server does not have is refused.",
  ],

  // Calls.
  "RAPS-20": [
    "lifecycle transport invocation",
    "A call is acknowledged with 200 at once; the work is done afterwards, and may take any time.",
  ],
  "RAPS-21": [
    "lifecycle transport invocation result",
    "A result goes to the callback URL as a POST of JSON in UTF-8, typed as application/json.",
  ],
  "RAPS-22": [
    "overview lifecycle transport invocation result",
    "Every message has the group_id, and the id, of its call; a call_id is echoed.",
  ],
  "RAPS-23": ["transport invocation", "The callback URL is used exactly as it was given."],
  "RAPS-24": [
    "lifecycle transport invocation",
    "An unknown operation is acknowledged, and its error comes as a result.",
  ],
  "RAPS-25": [
    "lifecycle transport invocation",
    "Arguments that do not fit are acknowledged, never reach the tool, and their error comes as a result.",
  ],
  "RAPS-26": [
    "overview transport invocation",
    "A call whose envelope cannot be read gets an error as a result if it has a callback URL; without ids that can be read, or without that URL, it gets a 4xx.",
  ],
  "RAPS-27": [
    "lifecycle toolsets",
    "Arguments of an older schema get an error as a result, and are never dropped in silence.",
  ],
  "RAPS-28": [
    "lifecycle invocation result",
    "What a tool throws becomes a result: no call ends without one.",
  ],
  "RAPS-29": ["lifecycle", "Calls that run at once get their own results at their own addresses."],
  "RAPS-30": [
    "lifecycle transport",
    "A result that is not taken (5xx, no connection, too slow) is sent again, with growing pauses.",
  ],
  "RAPS-31": [
    "lifecycle transport",
    "A result that is answered with 4xx is not sent again, and the log says so.",
  ],
  "RAPS-32": [
    "lifecycle",
    "A call that was acknowledged survives a restart: it is run again where that does no harm, else gets an error.",
  ],
  "RAPS-33": ["lifecycle", "A result that was not delivered before a restart is delivered after it."],
  "RAPS-34": [
    "overview lifecycle invocation",
    "Calls over the rate get an error as a result; too many at once are not acknowledged, and may come again.",
  ],
  "RAPS-35": ["invocation", "user_id and thread_ancestors reach the tool, which decides by them."],
  "RAPS-36": [
    "overview",
    "Nothing of a call is kept once its result has arrived, and messages hold nothing but what the protocol names.",
  ],
  "RAPS-37": ["transport", "The same call sent twice runs once."],
  "RAPS-38": [
    "overview transport",
    "Calls and discovery need the credentials that the server was made with.",
  ],
  "RAPS-39": [
    "invocation",
    "A call with the id of another one, and another operation or other arguments, is refused with 409 and logged; the first one goes on.",
  ],

  // Results.
  "RAPS-40": ["result", "A result has a text or content, and structured data is JSON in the text."],
  "RAPS-41": ["result", "Content with images begins with a text that stands for them."],
  "RAPS-42": [
    "result",
    "Segments for people end with a short line of text, also behind an image, and are left out where they repeat the result.",
  ],
  "RAPS-43": ["result", "Errors begin with 'Error: '."],
  "RAPS-44": [
    "lifecycle invocation result",
    "Errors that were not written for the model are told without their words, stack or paths; the log has them.",
  ],
  "RAPS-45": ["result", "Errors that were written for the model reach it with their words."],
  "RAPS-46": [
    "result lifecycle",
    "A result that is out of the wire's bounds, or that the host refuses as such, gives way to an error that says so.",
  ],

  // Cancellation.
  "RAPS-50": [
    "cancellation",
    "/cancel_tool_call is answered with an empty 200, whether the call is known, unknown, over, or told twice.",
  ],
  "RAPS-51": [
    "cancellation",
    "A cancelled call's signal aborts; whatever the tool does then, its result is sent.",
  ],
  "RAPS-52": [
    "cancellation",
    "A cancellation that comes after the result, or beside it, changes nothing and disturbs no other call.",
  ],
  "RAPS-53": ["cancellation", "A call that nobody cancels ends by its own time limit."],
  "RAPS-54": ["cancellation", "/cancel_tool_call without credentials is 401, and cancels nothing."],
  "RAPS-55": ["cancellation", "/cancel_tool_call is limited in its rate, with 429."],
  "RAPS-56": [
    "cancellation",
    "Ids that are hostile or no ids are answered like any other, and nothing is looked up by them.",
  ],
  "RAPS-57": ["cancellation", "One tenant cannot cancel the calls of another."],

  // Closed threads.
  "RAPS-60": [
    "lifecycle transport closure",
    "/close_thread is answered with an empty 200, whether the thread is known, unknown, told twice, or has its first call afterwards.",
  ],
  "RAPS-61": [
    "closure",
    "Everything that is kept for a closed thread is freed: resources, folder, calls, subscriptions.",
  ],
  "RAPS-62": ["closure", "The answer does not wait for the cleanup."],
  "RAPS-63": [
    "closure",
    "A cleanup that fails is logged, changes no answer, and does not stop the rest of it.",
  ],
  "RAPS-64": [
    "closure",
    "What is kept for a thread that is never closed is freed after its time, by a sweep.",
  ],
  "RAPS-65": [
    "closure",
    "A call for a thread that was closed is a new start, also while the old one is cleaned up.",
  ],
  "RAPS-66": ["closure", "/close_thread without credentials is 401, and frees nothing."],
  "RAPS-67": ["closure", "/close_thread is limited in its rate, with 429; 500 a second pass by default."],
  "RAPS-68": [
    "closure",
    "Path traversal, NUL, unicode and long ids are answered like any other; nothing outside of a thread's own folder is read or removed.",
  ],
  "RAPS-69": ["closure", "A thread that was closed after a restart of the server is freed like any other."],
  "RAPS-70": ["closure", "One tenant cannot close the threads of another."],

  // Subscriptions.
  "RAPS-80": [
    "lifecycle transport subscriptions",
    "A subscription is kept durably with callback URL, group_id and id before it is confirmed.",
  ],
  "RAPS-81": [
    "subscriptions",
    "The confirming result has subscription: true and names the subscription's id; events come after it.",
  ],
  "RAPS-82": [
    "subscriptions",
    "Each event is a subscription_event to the kept URL with group_id, tool_call_id and text, structured data as JSON.",
  ],
  "RAPS-83": ["subscriptions", "After a final event, none follows."],
  "RAPS-84": ["subscriptions", "After a cancellation, or the closing of its thread, no event follows."],
  "RAPS-85": [
    "lifecycle subscriptions",
    "Subscriptions, and events that were not delivered, outlive a crash of the server.",
  ],
  "RAPS-86": [
    "subscriptions",
    "Events of a subscription are limited in their rate: those over it wait, in order.",
  ],
  "RAPS-87": [
    "overview lifecycle",
    "Kept callback URLs are readable by the server's owner alone, and are in no log.",
  ],
  "RAPS-88": [
    "transport",
    "An event carries the same Idempotency-Key each time it is sent, and no other event has it.",
  ],
  "RAPS-89": ["subscriptions", "A subscription that fails tells so with a final event."],
  "RAPS-90": ["subscriptions", "A host that knows nothing of a subscription (404, 410) ends it."],

  // Authorizations.
  "RAPS-100": [
    "oauth",
    "Where there is no token, an oauth message with an https address goes to the host, before anything else is done.",
  ],
  "RAPS-101": [
    "oauth",
    "The address has client, scopes, state, and a redirect to the server's own callback endpoint.",
  ],
  "RAPS-102": [
    "oauth",
    "The code that comes back is exchanged for a token, which is kept for the user; the call goes on and has its result.",
  ],
  "RAPS-103": ["oauth", "A state that is unknown, used, or late is refused."],
  "RAPS-104": ["oauth", "Denied, failed and unfinished authorizations end the call with an error."],
  "RAPS-105": [
    "oauth",
    "Tokens are sealed in the store, and tokens and codes are in no message and in no log.",
  ],
  "RAPS-106": [
    "oauth",
    "A user who has authorized is not asked again: tokens outlive a restart, and are refreshed when they end.",
  ],
  "RAPS-107": ["oauth", "A token that cannot be refreshed is asked for again."],

  // Choices.
  "RAPS-110": [
    "choice",
    "A question goes to the host with prompt, choices, a valid default and an address of the server's own.",
  ],
  "RAPS-111": ["choice", "The answer goes to the tool that asked, and the call has its result."],
  "RAPS-112": [
    "choice",
    "An answer that is none of the choices, or comes too late, ends the call with an error.",
  ],
  "RAPS-113": ["choice", "An answer that is to be remembered is not asked for again in the thread."],
  "RAPS-114": [
    "choice",
    "A question without choices, with labels that cannot be told apart or no default is a fault of the tool.",
  ],
  "RAPS-115": ["choice", "The address of the answer is on the loopback if the server is."],
  "RAPS-116": ["choice", "A question outlives a restart, and is not asked twice."],

  // Views.
  "RAPS-120": ["views", "A view goes to the host with group_id, type and content as it was given."],
  "RAPS-121": ["views", "An empty view is told only to clear one that is shown."],

  // Migration.
  "RAPS-130": ["migration", "/migrate answers 200 when the other server has everything, and not before."],
  "RAPS-131": [
    "migration",
    "A migration that fails is answered with an error in words, and the session's state stays here.",
  ],
  "RAPS-132": [
    "migration",
    "A destination that cannot be reached is refused before anything moves; a migration that hangs is ended.",
  ],
  "RAPS-133": ["migration", "/migrate needs credentials."],
} as const satisfies RapLines;
