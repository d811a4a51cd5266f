/**
 * SMTP server that accepts all mail and stores none, so that it never limits a measurement. It answers the message
 * `count` with the number of emails and the time of the first; `reset` clears both.
 */
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

let count = 0;
let firstAt: number | null = null;

const END = '\r\n.\r\n';

function serve(socket: Socket): void {
  let buffered = '';
  let inData = false;
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.write('220 sink ESMTP\r\n');
  socket.on('data', (chunk) => {
    buffered += chunk.toString('latin1');
    for (;;) {
      if (inData) {
        const end = buffered.indexOf(END);
        if (end < 0) {
          buffered = buffered.slice(-(END.length - 1));
          return;
        }
        buffered = buffered.slice(end + END.length);
        inData = false;
        count += 1;
        firstAt ??= Date.now();
        socket.write('250 taken\r\n');
        continue;
      }
      const end = buffered.indexOf('\r\n');
      if (end < 0) return;
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') socket.write('250-sink\r\n250-AUTH PLAIN\r\n250 8BITMIME\r\n');
      else if (verb === 'AUTH') socket.write('235 in\r\n');
      else if (verb === 'DATA') {
        inData = true;
        // Adds a line break, so that the end mark is found even if the email consists only of this mark.
        buffered = `\r\n${buffered}`;
        socket.write('354 go on\r\n');
      } else if (verb === 'QUIT') {
        socket.end('221 bye\r\n');
        return;
      } else socket.write('250 ok\r\n');
    }
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', (question) => {
  if (question === 'reset') {
    count = 0;
    firstAt = null;
  }
  process.send!({ count, firstAt });
});
