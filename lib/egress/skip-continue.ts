import type { Socket } from 'node:net';

const START = Buffer.from('HTTP/1.1 100');
const END = '\r\n\r\n';
/** Maximum size (bytes) of an interim answer. A longer one is left to the parser, which refuses it. */
const MAX_BYTES = 16 * 1024;

/**
 * Removes `100 Continue` from what a socket receives before an answer. Some servers send it unasked, and undici closes
 * such a connection although the answer follows. undici takes all bytes by `read()`, which is replaced here.
 * @returns function to call before each request: the next bytes are the start of an answer
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

/** Returns true while more bytes must arrive to tell if this is an interim answer, or to complete it. */
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
