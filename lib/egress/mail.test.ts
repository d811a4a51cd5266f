import test from 'ava';
import { EgressError, type EgressErrorKind } from './errors.ts';
import { resolveMailHost } from './mail.ts';

const publicOnes = () => Promise.resolve(['2606:4700::1111', '8.8.8.8']);

test('gives the checked address, IPv4 before IPv6, and the name TLS must verify', async (t) => {
  t.deepEqual(await resolveMailHost('SMTP.Example.com', 587, { allowPrivate: false, lookup: publicOnes }), {
    address: '8.8.8.8',
    family: 4,
    servername: 'smtp.example.com',
  });
  const onlySix = () => Promise.resolve(['2606:4700::1111']);
  t.deepEqual(await resolveMailHost('imap.example.com', 993, { allowPrivate: false, lookup: onlySix }), {
    address: '2606:4700::1111',
    family: 6,
    servername: 'imap.example.com',
  });
  t.deepEqual(await resolveMailHost('8.8.8.8', 25, { allowPrivate: false, lookup: publicOnes }), {
    address: '8.8.8.8',
    family: 4,
    servername: undefined,
  });
});

test('asks DNS once, so that the address connected to is the one checked', async (t) => {
  let asked = 0;
  const lookup = () => Promise.resolve([++asked === 1 ? '8.8.8.8' : '127.0.0.1']);
  t.is((await resolveMailHost('smtp.example.com', 25, { allowPrivate: false, lookup })).address, '8.8.8.8');
  t.is(asked, 1);
});

test('refuses hosts that are not public, unless private ones are allowed', async (t) => {
  const mixed = () => Promise.resolve(['8.8.8.8', '192.168.1.1']);
  for (const host of ['smtp.example.com', '127.0.0.1', '::1', '0x7f.1', 'localhost', 'mail', 'mail.internal']) {
    const error = await t.throwsAsync(
      resolveMailHost(host, 25, { allowPrivate: false, lookup: mixed }),
      { instanceOf: EgressError },
      host,
    );
    t.is(error?.kind, 'blocked', host);
  }
  t.deepEqual(await resolveMailHost('127.0.0.1', 2525, { allowPrivate: true }), {
    address: '127.0.0.1',
    family: 4,
    servername: undefined,
  });
  t.is((await resolveMailHost('localhost', 2525, { allowPrivate: true })).servername, 'localhost');
});

test('refuses what is no host or no port, and reports a name that does not resolve', async (t) => {
  const nothing = () => Promise.resolve([]);
  const cases: [string, number, EgressErrorKind][] = [
    ['smtp.example.com', 0, 'blocked'],
    ['smtp.example.com', 65_536, 'blocked'],
    ['smtp.example.com', 2.5, 'blocked'],
    ['', 25, 'blocked'],
    ['a b.example.com', 25, 'blocked'],
    ['smtp.example.com/x', 25, 'blocked'],
    ['user@smtp.example.com', 25, 'blocked'],
    ['smtp.example.com:25', 25, 'blocked'],
    ['smtp.example.com', 25, 'dns'],
  ];
  for (const [host, port, kind] of cases) {
    for (const allowPrivate of [false, true]) {
      const error = await t.throwsAsync(
        resolveMailHost(host, port, { allowPrivate, lookup: nothing }),
        { instanceOf: EgressError },
        host,
      );
      t.is(error?.kind, kind, `${host} ${port}`);
    }
  }
});
