import test from 'ava';
import { freshEmail, login, mailedToken, PASSWORD, post, register } from '../../../test/harness/people.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld({ env: { AUTH_LOGIN_CODE: 'new_device' } });
});
test.after.always(() => world?.close());

const me = (token: string) => call(world, 'GET', '/v1/auth/me', { token });

test.serial(
  'a new password voids reset links that were mailed before, and keeps other sessions on request',
  async (t) => {
    const email = freshEmail();
    await register(world, email);
    const here = await login(world, email);
    const there = await login(world, email);
    const askLink = async () => {
      assertStatus(t, await post(world, '/v1/auth/reset-password', { email }), 200);
      return mailedToken(world, email);
    };
    const use = (session: string, password: string) =>
      post(world, '/v1/auth/reset-password/confirm', { session, password });
    const [first, second] = [await askLink(), await askLink()];
    const changed = await post(
      world,
      '/v1/auth/me/password',
      { current_password: PASSWORD, new_password: 'another password 7', keep_other_sessions: true },
      { token: here.access_token },
    );
    assertStatus(t, changed, 200);
    assertStatus(t, await me(there.access_token), 200);
    for (const link of [first, second]) assertStatus(t, await use(link, 'thief password 1'), 401);
    const [third, fourth] = [await askLink(), await askLink()];
    assertStatus(t, await use(fourth, 'reset password 9'), 200);
    assertStatus(t, await use(third, 'thief password 1'), 401);
    assertStatus(t, await me(there.access_token), 401);
  },
);
