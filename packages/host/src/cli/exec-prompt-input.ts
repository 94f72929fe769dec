import { MAX_MESSAGE_BYTES } from "@bobbin/rpc";

interface Stdin extends AsyncIterable<Uint8Array> {
  readonly isTTY?: boolean;
  destroy(): unknown;
}

/** Reads the prompt from the argument, or from stdin. If there is none, resolves with an error message. */
export async function readPromptInput(
  prompt: string | undefined,
  stdin: Stdin,
  signal: AbortSignal,
): Promise<{ readonly text: string } | string> {
  if (prompt && prompt !== "-") return { text: prompt };
  if (prompt === "" || (prompt === undefined && stdin.isTTY)) {
    return 'there is no prompt: say bobbin exec "your prompt", or pipe one in';
  }
  const text = await readText(stdin, signal);
  if (text === undefined) return "the prompt on stdin is no UTF-8 text, or far too long";
  return text.trim() === "" ? "the prompt on stdin is empty" : { text: text.replace(/\r?\n$/, "") };
}

async function readText(stdin: Stdin, signal: AbortSignal): Promise<string | undefined> {
  const stop = () => stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stdin) {
      chunks.push(chunk);
      bytes += chunk.length;
      // The host would refuse a longer message.
      if (bytes > MAX_MESSAGE_BYTES) return undefined;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw cause;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  signal.throwIfAborted();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}
