import test, { type ExecutionContext } from 'ava';
import type { SystemMessage } from '../../../lib/mail/index.ts';
import { freshEmail, PASSWORD, register } from '../../../test/harness/people.ts';
import { call, createWorld, type World } from '../../../test/harness/world.ts';

const GERMAN = 'fr;q=0.4,de-AT;q=0.8';

let world: World;
test.before(async () => {
  world = await createWorld({ env: { AUTH_LOGIN_CODE: 'always' } });
});
test.after.always(() => world?.close());

/**
 * Values of Accept-Language, each with the expected language of the mail. Without the header, or with only unknown
 * languages, the mail is in English.
 */
const LANGUAGES: [acceptLanguage: string | undefined, language: 'english' | 'german'][] = [
  [undefined, 'english'],
  ['fr', 'english'],
  ['en-GB,en;q=0.9,de;q=0.3', 'english'],
  [GERMAN, 'german'],
];

interface Kind {
  name: string;
  /** Triggers the mail, and returns its recipient. */
  ask(send: Send): Promise<string>;
  english: { subject: RegExp; text: RegExp };
  german: { subject: RegExp; text: RegExp };
}

type Send = (path: string, body: unknown, token?: string) => Promise<void>;

const KINDS: Kind[] = [
  {
    name: 'the code of a sign-up',
    async ask(send) {
      const email = freshEmail('new');
      await send('/v1/auth/register', { email, password: PASSWORD });
      return email;
    },
    english: { subject: /^\d{6} is your sign-up code$/, text: /^Your code to finish your sign-up is\n\n {4}\d{6}\n/ },
    german: {
      subject: /^\d{6} ist dein Code für die Registrierung$/,
      text: /^Dein Code für die Registrierung ist\n\n {4}\d{6}\n\nEr gilt 10 Minuten und nur einmal\.\n/,
    },
  },
  {
    name: 'the code of a sign-in',
    async ask(send) {
      const email = freshEmail('known');
      await register(world, email);
      await send('/v1/auth/login', { email, password: PASSWORD });
      return email;
    },
    english: { subject: /^\d{6} is your sign-in code$/, text: /^Your code to sign in is\n\n {4}\d{6}\n/ },
    german: {
      subject: /^\d{6} ist dein Code zum Anmelden$/,
      text: /^Dein Code zum Anmelden ist\n\n {4}\d{6}\n\nEr gilt 10 Minuten und nur einmal\.\n/,
    },
  },
  {
    name: 'the link for a new password',
    async ask(send) {
      const email = freshEmail('forgetful');
      await register(world, email);
      await send('/v1/auth/reset-password', { email });
      return email;
    },
    english: {
      subject: /^Set a new password$/,
      text: /^Set a new password here:\n\n {4}http\S+\/reset-password\/\S+\n/,
    },
    german: {
      subject: /^Neues Passwort setzen$/,
      text: /^Setze hier ein neues Passwort:\n\n {4}http\S+\/reset-password\/\S+\n\nDer Link gilt 30 Minuten/,
    },
  },
  {
    name: 'the answer to an address without an account',
    async ask(send) {
      const email = freshEmail('nobody');
      await send('/v1/auth/reset-password', { email });
      return email;
    },
    english: { subject: /^There is no account for this address$/, text: /^Somebody asked .+ at http\S+, but/ },
    german: {
      subject: /^Für diese Adresse gibt es kein Konto$/,
      text: /^Jemand hat .+ auf http\S+ ein neues Passwort/,
    },
  },
  {
    name: 'an invitation',
    async ask(send) {
      const { sessionToken, organizationId } = await world.tenant('North\nwind');
      const role = await world.deps.db('roles').where({ organization_id: organizationId, name: 'Member' }).first('id');
      const email = freshEmail('guest');
      await send('/v1/organizations/current/invitations', { email, role_id: role.id }, sessionToken);
      return email;
    },
    english: {
      subject: /^You are invited to North wind$/,
      text: /^You are invited to join the workspace North\nwind\. Accept here within 7 days:\n\n {4}http\S+\/invitations\/\S+\n/,
    },
    german: {
      subject: /^Du bist zu North wind eingeladen$/,
      text: /^Du bist in den Arbeitsbereich North\nwind eingeladen\. Nimm hier innerhalb von 7 Tagen an:\n\n {4}http\S+\/invitations\/\S+\n/,
    },
  },
];

/** Returns the mail that is sent because of a request with this header. */
async function mailOf(t: ExecutionContext, kind: Kind, acceptLanguage: string | undefined): Promise<SystemMessage> {
  const to = await kind.ask(async (path, body, token) => {
    await world.deps.db('auth_throttles').delete();
    const headers: Record<string, string> = acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage };
    const { status } = await call(world, 'POST', path, { body, headers, ...(token ? { token } : {}) });
    t.true(status < 300, `${path}: ${status}`);
  });
  return world.outgoing.findLast((message) => message.to === to)!;
}

for (const kind of KINDS) {
  test.serial(
    `${kind.name} is mailed in the language that the request asks for, in English when it asks for none`,
    async (t) => {
      for (const [acceptLanguage, language] of LANGUAGES) {
        const { subject, text } = await mailOf(t, kind, acceptLanguage);
        t.regex(subject, kind[language].subject, acceptLanguage);
        t.regex(text, kind[language].text, acceptLanguage);
      }
    },
  );
}

test.serial('a German mail has no line of the English one', async (t) => {
  const linesOf = ({ subject, text }: SystemMessage) =>
    [subject, ...text.split('\n')].filter((line) => /^\S.*[a-z]{2}/i.test(line));
  for (const kind of KINDS) {
    const english = new Set(linesOf(await mailOf(t, kind, undefined)));
    t.deepEqual(
      linesOf(await mailOf(t, kind, GERMAN)).filter((line) => english.has(line)),
      [],
      kind.name,
    );
  }
});
