import type { RapLines } from "./requirements-rap.ts";

/** What the tool protocol asks of a runtime, and our host promises. */
export const rapRuntimeLines = {
  // Trust.
  "RAPR-1": [
    "overview",
    "Nothing is dispatched without consent: a configured server is consent, calls that need more of it ask.",
  ],
  "RAPR-2": [
    "overview toolsets",
    "A call of a destructive tool asks the user first, in a form that shows what is called.",
  ],
  "RAPR-3": [
    "overview",
    "A tool server gets the arguments and ids of its calls, and nothing else of the conversation.",
  ],
  "RAPR-4": [
    "overview transport",
    "A callback URL is good for one call, and its lifetime is told in the docs.",
  ],
  "RAPR-5": [
    "overview toolsets",
    "Descriptions and annotations inform the model and the approval, and run nothing.",
  ],
  "RAPR-6": [
    "overview lifecycle transport result",
    "What comes to a callback URL is validated, as a message and as one that is waited for, before anything is done.",
  ],
  "RAPR-7": ["overview transport", "A callback URL cannot be guessed or forged."],
  "RAPR-8": [
    "overview transport",
    "Credentials of a tool server go to it with every request, and to no other origin.",
  ],
  "RAPR-9": ["overview", "Callbacks are limited in rate and size."],
  "RAPR-10": [
    "overview transport",
    "A tool server that is reached over the network without TLS is warned of.",
  ],
  "RAPR-11": ["transport", "A callback that is sent again has no second effect."],

  // Toolsets.
  "RAPR-20": [
    "toolsets",
    "Toolsets are fetched from {base}/.well-known/rap-toolset; what is kept of one serves no new load.",
  ],
  "RAPR-21": [
    "toolsets",
    "A toolset is validated: name, endpoint, at least one tool, each with name, description and schema.",
  ],
  "RAPR-22": ["toolsets", "A toolset that is not valid is reported, and none of its tools is there."],
  "RAPR-23": [
    "toolsets",
    "Several toolsets are there at once, and each call goes to the endpoint of its own.",
  ],
  "RAPR-24": ["toolsets", "A name that two toolsets share is reported, and neither tool is there."],
  "RAPR-25": [
    "toolsets",
    "A toolset is cached for a load of a thread and its children, and fetched afresh for a new load.",
  ],
  "RAPR-26": [
    "lifecycle",
    "A fetch that fails leaves the toolset that was known before, to a thread that outlived its host too; without one, it is reported.",
  ],
  "RAPR-27": ["toolsets", "Names of tools are told apart by case."],
  "RAPR-28": [
    "toolsets",
    "Toolsets come from pinned addresses only: redirects to other origins are not followed.",
  ],
  "RAPR-29": ["toolsets", "displayScript is never run; a call is shown in the default way."],
  "RAPR-30": [
    "subscriptions",
    "The reserved name of events is no tool's, and a model's call of it is an error.",
  ],

  // Calls.
  "RAPR-40": [
    "transport invocation",
    "A call is a POST of JSON in UTF-8, typed as application/json, to the toolset's endpoint.",
  ],
  "RAPR-41": ["invocation", "An operation that no loaded toolset has is not dispatched."],
  "RAPR-42": [
    "toolsets invocation",
    "Arguments are held against the tool's schema before they are dispatched.",
  ],
  "RAPR-43": ["invocation", "The id of a call is unique, also where a model repeats one."],
  "RAPR-44": ["invocation", "A call has a callback URL that works, and the thread's id as group_id."],
  "RAPR-45": ["invocation", "A call of a thread that has ancestors names them, from the root to the parent."],
  "RAPR-46": [
    "transport",
    "A call that is not taken (5xx, no connection) is sent again, with growing pauses.",
  ],
  "RAPR-47": ["transport", "A call that is answered with 4xx is not sent again."],
  "RAPR-48": [
    "lifecycle invocation",
    "A call that is not accepted becomes a tool result that the model can read.",
  ],
  "RAPR-49": ["invocation", "Calls are logged with operation, time and outcome."],
  "RAPR-50": [
    "lifecycle",
    "A deadline of calls is described in the docs, and gives the model an error result.",
  ],
  "RAPR-51": [
    "transport lifecycle",
    "A call that may not be repeated and whose host died before it was acknowledged waits for its result until its deadline; then the model is told that its outcome is not known. It is never sent twice.",
  ],
  "RAPR-52": [
    "transport lifecycle",
    "A call of an idempotent tool whose host died before it was acknowledged is sent again with the same id.",
  ],
  "RAPR-53": [
    "invocation",
    "A tool server gets arguments with the numbers that the model wrote, also those that JavaScript rounds.",
  ],

  // Results.
  "RAPR-60": ["transport result", "A callback that is taken is answered with 200, and is durable by then."],
  "RAPR-61": [
    "lifecycle result",
    "A result for a thread or call that is not waiting is logged, and is in no conversation.",
  ],
  "RAPR-62": ["lifecycle result", "The same result twice has its effect once."],
  "RAPR-63": ["result", "Where there is content, the model gets it in place of the text."],
  "RAPR-64": ["result", "A text is taken as it is, JSON or not."],
  "RAPR-65": ["result", "A model that cannot see gets words in place of images, and the texts around them."],
  "RAPR-66": [
    "result",
    "The first display segment that is known is shown; unknown ones are skipped; else the text.",
  ],
  "RAPR-67": ["result", "Display segments never change what the model gets."],
  "RAPR-68": ["lifecycle", "Messages of one thread are processed one at a time."],
  "RAPR-69": ["lifecycle", "A user who speaks while a tool runs is heard."],
  "RAPR-70": ["lifecycle", "A thread whose state cannot be read does not go on, and says so."],
  "RAPR-71": ["lifecycle", "When a model fails, what came before is kept and the failure is told."],
  "RAPR-72": ["lifecycle", "What cannot be written is never told as done; writing it again is safe."],
  "RAPR-73": ["overview result", "Texts of results are bounded and well-formed before a model gets them."],
  "RAPR-74": [
    "lifecycle result",
    "A result that cannot be read ends its call with an error that names the problem; a display that cannot be read spoils nothing.",
  ],
  "RAPR-75": [
    "transport",
    "Any other message that cannot be read is refused with words, is logged as a warning, and changes nothing.",
  ],

  // Cancellation.
  "RAPR-80": [
    "cancellation",
    "An interrupted call is told to /cancel_tool_call of every configured server, as JSON.",
  ],
  "RAPR-81": [
    "cancellation",
    "Cancellations are sent at once to all, once, and nothing waits for them or depends on them.",
  ],
  "RAPR-82": ["cancellation", "One server that fails keeps no other from being told of a cancellation."],
  "RAPR-83": [
    "cancellation",
    "A result that comes for a cancelled call is acknowledged and changes nothing.",
  ],

  // Closed threads.
  "RAPR-90": [
    "lifecycle transport closure",
    "A closed thread is told to /close_thread of every configured server, used or not, as JSON.",
  ],
  "RAPR-91": [
    "lifecycle transport closure",
    "Closings are sent at once to all, once, never again, and the closing does not wait for them.",
  ],
  "RAPR-92": ["closure", "One server that fails keeps no other from being told of a closing."],

  // Migration.
  "RAPR-100": [
    "migration toolsets",
    "/migrate is called on servers that declare it, on no other, and before a session has moved.",
  ],
  "RAPR-101": ["migration", "A session moves in the order that the specification gives."],
  "RAPR-102": ["migration", "A migration that fails on one server is given up as a whole, and reported."],

  // Authorizations.
  "RAPR-110": [
    "oauth",
    "An authorization is shown to the user so that they can visit it, and the call goes on waiting.",
  ],
  "RAPR-111": ["oauth", "The model is told that an authorization is under way."],
  "RAPR-112": ["oauth", "The host does not call again because of an authorization."],
  "RAPR-113": ["oauth", "The authorization's address is https, and is in no journal."],

  // Choices.
  "RAPR-120": [
    "choice",
    "A choice is shown to the user with its prompt and labels, and the call goes on waiting.",
  ],
  "RAPR-121": ["choice", "What the user selects is posted to the response URL, with the id of the call."],
  "RAPR-122": ["choice", "A user who selects nothing selects the default."],
  "RAPR-123": ["choice", "The host does not call again because of a choice, and answers each choice once."],

  // Subscriptions.
  "RAPR-130": [
    "result subscriptions",
    "A result with subscription: true is recorded as a live subscription of its thread.",
  ],
  "RAPR-131": [
    "subscriptions",
    "An event is shown to the model as a synthetic call, never as a second result.",
  ],
  "RAPR-132": ["subscriptions", "An associative event goes into the thread; any other into a child thread."],
  "RAPR-133": ["subscriptions", "A final event ends its subscription."],
  "RAPR-134": [
    "subscriptions",
    "cancel_subscription is there, takes a tool_call_id, and ends a subscription of its own thread.",
  ],
  "RAPR-135": ["subscriptions", "cancel_subscription of what the thread does not have is an error."],
  "RAPR-136": ["subscriptions", "A cancelled subscription is told to every configured server."],
  "RAPR-137": [
    "overview subscriptions",
    "An event of a subscription that is unknown, cancelled or of a closed thread is logged and discarded.",
  ],
  "RAPR-138": ["subscriptions", "The number of live subscriptions of a thread is limited."],

  // Views.
  "RAPR-140": ["views", "The last content of each view of a thread is kept, and replaces the one before."],
  "RAPR-141": ["views", "A view is sent to all who follow the thread, as it came."],
  "RAPR-142": ["views", "Who begins to follow a thread gets its views."],
  "RAPR-143": ["views", "A view for a thread that is not known is refused."],
} as const satisfies RapLines;

/** Of these there is no test yet. An entry goes when its test comes. */
export const pendingRapLines: readonly (keyof typeof rapRuntimeLines)[] = [];
