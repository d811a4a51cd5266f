import test from 'ava';
import { toSite, toSource } from './source.ts';

test('a source is an IPv4 address, or the /64 of an IPv6 address', (t) => {
  t.is(toSource('192.0.2.1'), '192.0.2.1');
  t.is(toSource('::ffff:192.0.2.1'), '192.0.2.1');
  t.is(toSource('2001:db8:1:2:aaaa::1'), toSource('2001:db8:1:2:ffff:ffff:ffff:ffff'));
  t.not(toSource('2001:db8:1:2::1'), toSource('2001:db8:1:3::1'));
  t.is(toSource(''), '');
});

test('a site is the /48 of an IPv6 address', (t) => {
  t.is(toSite('2001:db8:1:2::1'), toSite('2001:db8:1:ffff::9'));
  t.not(toSite('2001:db8:1::1'), toSite('2001:db8:2::1'));
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '']) t.is(toSite(address), undefined);
});
