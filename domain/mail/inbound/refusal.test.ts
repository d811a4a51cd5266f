import test from 'ava';
import fc from 'fast-check';
import { bounceTypeOf, classifyRefusal } from './refusal.ts';
import type { RefusalReason, Stage } from './refusal.ts';
import { bestStatus, replyCode, stageIn } from './smtp-words.ts';

type Case = readonly [words: string, stage: Stage | null, reason: RefusalReason];

const CASES: readonly Case[] = [
  // The address does not exist, according to a status code or to words in the response to RCPT.
  ['550 5.1.1 User unknown', null, 'unknown_user'],
  ['550 5.1.1 Mailbox does not exist', 'data', 'unknown_user'],
  ['550 No such user here', 'rcpt', 'unknown_user'],
  ['550 5.7.1 <a@b.example>: Recipient address rejected: user does not exist', 'rcpt', 'unknown_user'],
  ['550 5.4.1 Recipient address rejected: Access denied', 'rcpt', 'unknown_user'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound', null, 'refuses_all_mail'],
  ['550 5.1.2 Bad destination host', null, 'unknown_domain'],
  ['Host or domain name not found. Name service error for name=b.example', null, 'unknown_domain'],
  ['556 5.1.10 Recipient address has null MX', 'rcpt', 'refuses_all_mail'],
  ['521 this host never accepts mail', 'connect', 'refuses_all_mail'],
  ['550 5.1.6 recipient no longer on server', 'rcpt', 'moved'],
  ['Name not listed in public Name & Address Book', null, 'not_in_directory'],
  ['550 #5.1.0 Address rejected.', 'rcpt', 'unknown_user'],
  ['550 5.1.0 Other address status', 'rcpt', 'unconfirmed'],
  ['5.4.4 unable to route', null, 'unknown_domain'],
  ['550 5.4.4 unable to route', 'rcpt', 'connection'],
  ['550 sorry, this recipient is not in my validrcptto list', 'rcpt', 'unknown_user'],
  ['550 no existe esa cuenta', 'rcpt', 'unknown_user'],
  ['550 Recipient domain must exist', 'rcpt', 'unknown_domain'],
  ['550 unknown host b.example', 'data', 'unknown_domain'],
  ['No Ann in name directory', null, 'not_in_directory'],
  ['550 5.1.1 relaying to <a@b.example> not permitted: relay denied', 'rcpt', 'configuration'],
  ['550 this address no longer accepts mail', 'rcpt', 'disabled'],
  ['550 5.1.1 this mailbox is disabled', 'rcpt', 'disabled'],
  ['550 Our policy has changed, see the new rules', 'rcpt', 'policy'],
  ['550 the mailbox has been replaced by <c@b.example>', 'rcpt', 'moved'],
  ['550 recipient is not accepting mail with attachments', 'rcpt', 'unknown'],
  ['550 this host does not accept email over IPv6', 'rcpt', 'unknown'],
  ['550 this domain does not accept mail', 'rcpt', 'refuses_all_mail'],
  ['554 Error: no valid recipients from 192.0.2.1', 'rcpt', 'reputation'],
  ['550 5.1.1 go away', 'rcpt', 'reputation'],
  ["550 5.1.1 the user's space has been used up", 'rcpt', 'full'],
  // The address exists but is unavailable, or may exist.
  ['552 5.2.2 Mailbox full', 'rcpt', 'full'],
  ['550 5.1.1 mailbox is over quota', 'rcpt', 'full'],
  ['550 5.2.1 This account is disabled', 'rcpt', 'disabled'],
  ['450 4.2.0 Greylisted, try again later', 'rcpt', 'slow'],
  ['450 4.1.1 User unknown', 'rcpt', 'unconfirmed'],
  ['550 User unknown', 'data', 'unconfirmed'],
  ['550 User unknown', null, 'unconfirmed'],
  ['554 no', null, 'unknown'],
  // Refusals of this message.
  ['550 5.7.1 Message rejected as spam', 'data', 'spam'],
  ['552 5.3.4 Message size exceeds fixed limit', 'mail', 'size'],
  ['550 5.7.1 rejected by our mail policy', 'rcpt', 'policy'],
  // Refusals of the sending mailbox.
  ['550 5.1.90 you have reached your daily limit', 'data', 'rate_limit'],
  ['550 5.4.5 Daily user sending quota exceeded', 'data', 'rate_limit'],
  ['421 4.7.0 too many messages from you, slow down', 'connect', 'rate_limit'],
  ['550 Your account has been suspended for sending', 'mail', 'suspended'],
  ['530 5.7.0 Authentication required', 'mail', 'authentication'],
  ['554 Message rejected: Email address is not verified', 'data', 'not_verified'],
  ['554 5.7.1 Client host [192.0.2.1] blocked using bl.example', 'rcpt', 'reputation'],
  ['550 5.7.26 Unauthenticated email is not accepted due to the DMARC policy', 'data', 'reputation'],
  ['550 5.7.25 no PTR record', 'connect', 'reputation'],
  ['550 5.1.8 bad sender', 'mail', 'sender_refused'],
  ['550 nothing I understand', 'mail', 'sender_refused'],
  // Faults of the connection or of a configuration.
  ['451 4.4.1 connection timed out', null, 'connection'],
  ['550 5.4.6 routing loop detected', null, 'configuration'],
  ['Name service error: Host not found, try again', null, 'connection'],
  // The server is shut down, overloaded or in maintenance (RFC 3463). Only the reply codes of RFC 7504 mean that it
  // never accepts mail.
  ['550 5.3.2 System not accepting network messages', 'rcpt', 'system'],
  ['554 5.3.2 <a@b.example>: the mail system is not accepting network messages', null, 'system'],
  ['550 5.3.2 host is closed', 'connect', 'system'],
  ['453 4.3.2 System not accepting network messages', 'rcpt', 'system'],
  ['554 5.3.2 Blocked using bl.example', 'rcpt', 'reputation'],
  ['521 5.3.2 this host does not accept mail', 'connect', 'refuses_all_mail'],
  ['550 relaying denied', 'rcpt', 'configuration'],
];

for (const [words, stage, reason] of CASES) {
  test(`${JSON.stringify(words)} to ${stage ?? 'an unknown command'}: ${reason}`, (t) => {
    const evidence = { status: bestStatus(null, words), code: replyCode(words), stage, words };
    t.is(classifyRefusal(evidence).reason, reason);
  });
}

test('words inside addresses and links speak neither for nor against', (t) => {
  const words = '550 5.1.1 <spam-blocked@full-mailbox.example> no such user, see https://help.example/blocklist/spam';
  t.is(classifyRefusal({ status: '5.1.1', code: 550, stage: 'rcpt', words }).reason, 'unknown_user');
});

test('what suppresses never speaks of the sender, the content or a full mailbox as well', (t) => {
  const gone = ['no such user', 'user unknown', 'mailbox does not exist', 'recipient not found'];
  const other = ['mailbox is full', 'blocked using bl.example', 'too many messages', 'SPF check failed', 'over quota'];
  fc.assert(
    fc.property(
      fc.constantFrom(...gone),
      fc.constantFrom(...other),
      fc.boolean(),
      fc.constantFrom('5.1.1', '5.0.0', '5.7.1', null),
      fc.constantFrom<Stage | null>('rcpt', 'data', 'mail', 'connect', null),
      (a, b, turned, status, stage) => {
        const words = turned ? `550 ${b}; ${a}` : `550 ${a}; ${b}`;
        return bounceTypeOf(classifyRefusal({ status, code: 550, stage, words })) === 'soft';
      },
    ),
  );
  t.pass();
});

test('no answer of class 4 at send time, and no unreadable one, ever ends the use of an address', (t) => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('4.1.1', '4.2.1', '4.0.0', null), (text, status) => {
      const evidence = {
        status,
        code: status === null ? null : 450,
        stage: 'rcpt' as const,
        words: text.replace(/5/g, ''),
      };
      return status === null || bounceTypeOf(classifyRefusal(evidence)) === 'soft';
    }),
  );
  t.pass();
});

test('a catch-all status gives way to the precise one in the diagnostic, and the one of the reporter to that of the server', (t) => {
  t.is(bestStatus('5.0.0', 'smtp; 550 5.1.1 unknown'), '5.1.1');
  t.is(bestStatus('5.1.1', 'smtp; 550 blocked'), '5.1.1');
  t.is(bestStatus('5.1.1', 'smtp; 550 5.7.1 blocked'), '5.7.1', "the server's own status beats the reporter's");
  t.is(bestStatus('5.0.0 (permanent failure)', ''), '5.0.0');
  t.is(bestStatus(null, 'said: 550-5.2.1 disabled'), '5.2.1');
  t.is(bestStatus(null, 'said: 451 later'), '4.0.0');
  t.is(bestStatus(null, 'host 192.0.2.5 and 5.1.1.9 refused'), null);
});

test('the stage is read from the forms mail systems use', (t) => {
  t.is(stageIn('said: 550 no (in reply to RCPT TO command)'), 'rcpt');
  t.is(stageIn('SMTP error from remote mail server after RCPT TO:<a@b.example>: 550 no'), 'rcpt');
  t.is(stageIn('>>> DATA\n<<< 550 user unknown'), 'data');
  t.is(stageIn('>>> DATA\n<<< 550 user unknown\n<<< 554 5.5.1 Error: no valid recipients'), 'rcpt', 'pipelined');
  t.is(stageIn('said: 550 spam (in reply to end of DATA command)'), 'data');
  t.is(stageIn('after MAIL FROM:<a@b.example>: 550 no'), 'mail');
  t.is(stageIn('refused to talk to me: 554 no'), 'connect');
  t.is(stageIn('550 no'), null);
});
