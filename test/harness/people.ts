import { call, type Answer, type World } from './world.ts';

/** Password that every rule accepts. */
export const PASSWORD = 'correct horse 42';

let counter = 0;

/** Returns an unused address. */
export function freshEmail(name = 'person'): string {
  counter += 1;
  return `${name}-${process.pid}-${counter}@example.com`;
}

/** Sends a POST with a unique source address, so that tests do not share rate limits (TRUSTED_PROXIES=loopback). */
export function post(
  world: World,
  path: string,
  body: unknown,
  options: { token?: string; from?: string } = {},
): Promise<Answer> {
  return call(world, 'POST', path, {
    body,
    ...(options.token ? { token: options.token } : {}),
    headers: { 'x-forwarded-for': options.from ?? '192.0.2.1' },
  });
}

/** Returns the code in the latest email to an address. */
export function mailedCode(world: World, email: string): string {
  return lastMail(world, email).match(/^ {4}(\d{6})$/m)![1]!;
}

/** Returns the last path segment of the link in the latest email to an address. */
export function mailedToken(world: World, email: string): string {
  return lastMail(world, email).match(/^ {4}\S+\/([\w-]+)$/m)![1]!;
}

function lastMail(world: World, email: string): string {
  const mail = world.outgoing.findLast((message) => message.to === email);
  if (!mail) throw new Error(`no mail to ${email}`);
  return mail.text;
}

/** Signs an address up over HTTP, including the emailed code. */
export async function register(world: World, email: string, extra: Record<string, unknown> = {}): Promise<Answer> {
  const begun = await post(world, '/v1/auth/register', {
    email,
    password: PASSWORD,
    first_name: 'Pat',
    last_name: 'Person',
    ...extra,
  });
  if (begun.status !== 200) return begun;
  return post(world, '/v1/auth/register/confirm', { session: begun.body.session, code: mailedCode(world, email) });
}

interface SignedIn {
  access_token: string;
  refresh_token: string;
  device_token?: string;
}

/** Signs in over HTTP, with the emailed code if required. */
export async function login(world: World, email: string, extra: Record<string, unknown> = {}): Promise<SignedIn> {
  const begun = await post(world, '/v1/auth/login', { email, password: PASSWORD, ...extra });
  if (!begun.body.session) return begun.body;
  return (await post(world, '/v1/auth/login/confirm', { session: begun.body.session, code: mailedCode(world, email) }))
    .body;
}
