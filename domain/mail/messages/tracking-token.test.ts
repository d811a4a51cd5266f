import { randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { newId } from '../../../lib/ids.ts';
import { readTrackingToken, trackingToken } from './tracking-token.ts';

const SECRET = 'a secret of this installation, long enough';

test('a token opens for its purpose and secret only', (t) => {
  const id = newId();
  const token = trackingToken(SECRET, 'unsubscribe', id);
  t.is(readTrackingToken([SECRET], 'unsubscribe', token), id);
  t.is(readTrackingToken([SECRET], 'open', token), undefined);
  t.is(readTrackingToken([`${SECRET}.`], 'unsubscribe', token), undefined);
  t.regex(token, /^[A-Za-z0-9_-]{44}$/, 'it needs no escaping in a URL');
});

test('no other text is a token, least of all one that differs in a single character', (t) => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(43), fc.constantFrom(...'ABCxyz019-_'), (id, at, character) => {
      const token = trackingToken(SECRET, 'open', id);
      if (token[at] === character) return;
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      const read = readTrackingToken([SECRET], 'open', changed);
      // The last character of each half has unused bits, so a change can give another spelling of the same bytes.
      t.true(read === undefined || read === id);
    }),
  );
  for (const text of ['', 'x', randomBytes(33).toString('base64url'), '../../etc/passwd', newId()])
    t.is(readTrackingToken([SECRET], 'open', text), undefined);
});
