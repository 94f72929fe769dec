/** A failure that is explained to the user without a stack trace. The command exits with code 1. */
export class CommandFailure extends Error {}
