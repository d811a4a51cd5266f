import type { Socket } from 'node:net';

const START = Buffer.from('HTTP/1.1 100');
const END = '\r\n\r\n';
/** Maximum size (bytes) of an interim answer. A longer answer is passed to the HTTP parser, which refuses it. */
const MAX_BYTES = 16 * 1024;

/**
 * Removes interim answers (`100 Continue`) from the bytes that a socket receives before the final answer. Some servers
 * send an interim answer although the request did not ask for it. undici then closes the connection although the final
 * answer follows. undici reads all bytes with `read()`, which this function replaces.
 * @returns a function to call before each request, because interim answers are removed only at the start of an answer
 */
export function skipContinue(socket: Socket): () => void {
  const read = socket.read.bind(socket) as () => Buffer | null;
  let held: Buffer | undefined;
  socket.read = (): Buffer | null => {
    if (!held) return read();
    for (let chunk = read(); chunk !== null; chunk = read()) {
      held = withoutContinue(Buffer.concat([held, chunk]));
      if (mayContinue(held)) continue;
      const start = held;
      held = undefined;
      return start;
    }
    return null;
  };
  return () => {
    held = Buffer.alloc(0);
  };
}

/** Returns true while more bytes are needed to decide if this is an interim answer, or to complete it. */
function mayContinue(bytes: Buffer): boolean {
  return bytes.length < MAX_BYTES && bytes.subarray(0, START.length).equals(START.subarray(0, bytes.length));
}

function withoutContinue(bytes: Buffer): Buffer {
  let rest = bytes;
  while (rest.subarray(0, START.length).equals(START)) {
    const end = rest.indexOf(END);
    if (end < 0) break;
    rest = rest.subarray(end + END.length);
  }
  return rest;
}
