import test from 'ava';
import { bestStatus, bounceType } from './bounce-class.ts';

const CASES: readonly (readonly [string | null, string, 'hard' | 'soft'])[] = [
  ['5.1.1', '550 5.1.1 User unknown', 'hard'],
  ['5.1.10', '550 5.1.10 RESOLVER.ADR.RecipientNotFound', 'hard'],
  ['5.1.2', 'Host unknown', 'hard'],
  ['5.2.1', 'account inactive', 'hard'],
  ['5.4.1', '550 5.4.1 Recipient address rejected: Access denied', 'hard'],
  ['5.4.4', 'unable to route', 'hard'],
  ['5.7.1', '550 5.7.1 no such user here', 'hard'],
  ['5.0.0', '', 'hard'],
  ['4.0.0', "DNS type 'mx' lookup responded with code NXDOMAIN", 'hard'],
  [null, '550 no thank you', 'hard'],
  ['5.2.2', 'mailbox full', 'soft'],
  ['5.1.1', 'Mailbox is full', 'soft'],
  ['5.1.1', '550 5.7.1 IP address blacklisted by recipient', 'soft'],
  ['5.1.8', 'Sender address rejected', 'soft'],
  ['5.3.4', 'message too big', 'soft'],
  ['5.4.14', 'Hop count exceeded', 'soft'],
  ['5.7.1', 'rejected due to DMARC policy', 'soft'],
  ['5.7.509', 'Access denied', 'soft'],
  ['5.0.0', '554 Blocked - see a dnsbl', 'soft'],
  ['4.4.7', 'delivery time expired', 'soft'],
  [null, 'Something odd happened', 'soft'],
];

for (const [status, words, expected] of CASES) {
  test(`${status} ${JSON.stringify(words)} is ${expected}`, (t) => {
    t.is(bounceType(status, words), expected);
  });
}

test('a catch-all status gives way to the precise one in the diagnostic, never the other way round', (t) => {
  t.is(bestStatus('5.0.0', 'smtp; 550 5.1.1 unknown'), '5.1.1');
  t.is(bestStatus('5.1.1', 'smtp; 550 5.7.1 blocked'), '5.1.1');
  t.is(bestStatus('5.0.0 (permanent failure)', ''), '5.0.0');
  t.is(bestStatus(null, 'said: 550-5.2.1 disabled'), '5.2.1');
  t.is(bestStatus(null, 'said: 451 later'), '4.0.0');
  t.is(bestStatus(null, 'host 192.0.2.5 and 5.1.1.9 refused'), null);
});
