import test from 'ava';
import fc from 'fast-check';
import { checkReturnUrl } from './return-url.ts';

const config = {
  APP_URL: 'https://app.example.com/heron',
  API_PUBLIC_URL: 'https://api.example.com',
  CORS_ALLOW_ORIGINS: ['https://desk.example.com', '*'],
};

test('a checkout leads back to the origins of the installation alone', (t) => {
  for (const good of [
    'https://app.example.com/mailboxes?order=1',
    'https://api.example.com',
    'https://desk.example.com/x#y',
  ])
    t.is(checkReturnUrl(config, good), new URL(good).href);
  for (const bad of [
    'https://app.example.com.evil.example/',
    'https://app.example.com@evil.example/',
    'https://user:pass@app.example.com/',
    'http://app.example.com/',
    'https://app.example.com:8443/',
    '//app.example.com/',
    'https:\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/mailboxes',
    '',
  ]) {
    const error = t.throws(() => checkReturnUrl(config, bad), { message: /outside the origins/ }, bad);
    t.is((error as { code?: string } | undefined)?.code, 'redirect_not_allowed');
  }
});

test('no return URL whatever has another origin than one of ours', (t) => {
  const piece = fc.constantFrom('app.example.com', '@', '/', '\\', 'evil.example', '#', '?', ':', '.', '%2e', '\t');
  const target = fc
    .tuple(fc.constantFrom('https://', 'https:', 'https://app.example.com'), fc.array(piece, { maxLength: 6 }))
    .map(([start, pieces]) => start + pieces.join(''));
  fc.assert(
    fc.property(target, (given) => {
      let passed: string | undefined;
      try {
        passed = checkReturnUrl(config, given);
      } catch {
        // It is refused.
      }
      t.true(passed === undefined || new URL(passed).origin === 'https://app.example.com', given);
    }),
  );
});
