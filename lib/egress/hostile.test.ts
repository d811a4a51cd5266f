import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import test from 'ava';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { EgressError } from './errors.ts';
import { createEgress } from './request.ts';

/**
 * These tests send URLs of attackers through the whole egress, up to the socket. They use addresses of every special
 * range in every spelling that a parser may accept, in the URL or in a DNS answer. The tests decide with ipaddr.js,
 * which the egress does not use, if an address is public.
 */

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const RUNS = 12_000;

/** Addresses that attackers try, and that parsers and translators often misread. */
const HOSTILE_IPV4 = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '169.254.169.254/32',
  '100.64.0.0/10',
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
];
const HOSTILE_IPV6 = [
  '::1/128',
  '::/128',
  'fe80::/10',
  'fc00::/7',
  'ff00::/8',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  '2001:db8::/32',
  '100::/64',
  'fec0::/10',
  '2001:10::/28',
  '2001:20::/28',
  '3fff::/20',
];

function within(cidrs: readonly string[]): fc.Arbitrary<Address> {
  return fc
    .tuple(fc.constantFrom(...cidrs), fc.infiniteStream(fc.integer({ min: 0, max: 255 })))
    .map(([cidr, noise]) => {
      const [network, prefix] = ipaddr.parseCIDR(cidr);
      const bytes = network.toByteArray().map((byte, index) => {
        const fixed = Math.max(0, Math.min(8, prefix - 8 * index));
        const free = 0xff >> fixed;
        return (byte & ~free & 0xff) | (Number(noise.next().value) & free);
      });
      return ipaddr.fromByteArray(bytes);
    });
}

const anyIpv4 = fc
  .uint8Array({ minLength: 4, maxLength: 4 })
  .map((bytes) => ipaddr.fromByteArray([...bytes]) as ipaddr.IPv4);
const hostileIpv4 = within(HOSTILE_IPV4) as fc.Arbitrary<ipaddr.IPv4>;
const ipv4 = fc.oneof({ weight: 3, arbitrary: hostileIpv4 }, { weight: 1, arbitrary: anyIpv4 });

/**
 * IPv6 addresses that contain an IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo (with inverted
 * bits), ISATAP.
 */
const carrying = fc
  .tuple(ipv4, fc.constantFrom('mapped', 'compatible', 'translated', 'nat64', '6to4', 'teredo', 'isatap'))
  .map(([inner, how]) => {
    const four = inner.toByteArray();
    const zeros = (count: number) => Array.from<number>({ length: count }).fill(0);
    switch (how) {
      case 'mapped':
        return ipaddr.fromByteArray([...zeros(10), 255, 255, ...four]);
      case 'compatible':
        return ipaddr.fromByteArray([...zeros(12), ...four]);
      case 'translated':
        return ipaddr.fromByteArray([...zeros(8), 255, 255, 0, 0, ...four]);
      case 'nat64':
        return ipaddr.fromByteArray([0, 0x64, 0xff, 0x9b, ...zeros(8), ...four]);
      case '6to4':
        return ipaddr.fromByteArray([0x20, 0x02, ...four, ...zeros(10)]);
      case 'teredo':
        return ipaddr.fromByteArray([0x20, 0x01, ...zeros(10), ...four.map((byte) => byte ^ 0xff)]);
      default:
        return ipaddr.fromByteArray([0xfe, 0x80, ...zeros(6), 0, 0, 0x5e, 0xfe, ...four]);
    }
  });

const anyIpv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ipaddr.fromByteArray([...bytes]));
const global6 = anyIpv6.map((address) =>
  ipaddr.fromByteArray([0x20 | (address.toByteArray()[0]! & 0x1f), ...address.toByteArray().slice(1)]),
);
const ipv6 = fc.oneof(
  { weight: 3, arbitrary: within(HOSTILE_IPV6) },
  { weight: 3, arbitrary: carrying },
  { weight: 1, arbitrary: anyIpv6 },
  { weight: 2, arbitrary: global6 },
);
const anyAddress: fc.Arbitrary<Address> = fc.oneof(ipv4, ipv6);

const hex = (value: number, upper: boolean) => `0x${upper ? value.toString(16).toUpperCase() : value.toString(16)}`;
const octal = (value: number, pad: number) => `0${value.toString(8).padStart(pad, '0')}`;
const wide = (text: string) =>
  [...text]
    .map((char) => (/[0-9a-z]/i.test(char) ? String.fromCodePoint(char.codePointAt(0)! + 0xfee0) : char))
    .join('');
const percent = (text: string) => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');

/** All forms of an IPv4 address that inet_aton accepts. */
const spelledIpv4 = fc
  .record({
    address: ipv4,
    parts: fc.integer({ min: 1, max: 4 }),
    bases: fc.array(fc.constantFrom('decimal', 'octal', 'long octal', 'hex', 'HEX'), { minLength: 4, maxLength: 4 }),
    dress: fc.constantFrom('plain', 'plain', 'wide', 'percent', 'ideographic dots'),
  })
  .map(({ address, parts, bases, dress }) => {
    const bytes = address.toByteArray();
    // The last part contains all remaining bytes.
    const numbers = [...bytes.slice(0, parts - 1), bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)];
    const plain = numbers
      .map((value, index) => {
        switch (bases[index]) {
          case 'octal':
            return octal(value, 1);
          case 'long octal':
            return octal(value, 14);
          case 'hex':
            return hex(value, false);
          case 'HEX':
            return hex(value, true).replace('0x', '0X');
          default:
            return String(value);
        }
      })
      .join('.');
    const text =
      dress === 'wide'
        ? wide(plain)
        : dress === 'percent'
          ? percent(plain)
          : dress === 'ideographic dots'
            ? plain.replaceAll('.', '。')
            : plain;
    return { address: address as Address, host: text };
  });

/**
 * Spellings of an IPv6 address: compressed, written out, upper case, and with the last 32 bits as an IPv4 address.
 */
const spelledIpv6 = fc.tuple(ipv6, fc.constantFrom('short', 'long', 'upper', 'mixed')).map(([address, how]) => {
  const groups = (address as ipaddr.IPv6).parts.map((part) => part.toString(16));
  const tail = address.toByteArray().slice(12).join('.');
  const text =
    how === 'short'
      ? address.toString()
      : how === 'upper'
        ? address.toString().toUpperCase()
        : how === 'long'
          ? groups.map((group) => group.padStart(4, '0')).join(':')
          : `${groups.slice(0, 6).join(':')}:${tail}`;
  return { address, host: `[${text}]` };
});

/** Returns true if ipaddr.js, an independent library, calls the address public. */
const isPublic = (address: Address) => address.range() === 'unicast';

const names = fc.constantFrom('hooks.example.com', 'a.b.c.example.org', 'xn--bcher-kva.example');
const answers = fc.array(anyAddress, { minLength: 1, maxLength: 4 });

type Case = { url: string; addresses: Address[]; resolved: string[] };

const literalCase: fc.Arbitrary<Case> = fc
  .oneof(spelledIpv4, spelledIpv6)
  .map(({ address, host }) => ({ url: `https://${host}/in`, addresses: [address], resolved: [] }));
const namedCase: fc.Arbitrary<Case> = fc.tuple(names, answers).map(([host, addresses]) => ({
  url: `https://${host}/in`,
  addresses,
  resolved: addresses.map(String),
}));

/** Counts sockets during `work`: a refused request must not even start to connect. */
async function countingSockets(work: () => Promise<void>): Promise<number> {
  let opened = 0;
  const count = () => void (opened += 1);
  subscribe('net.client.socket', count);
  try {
    await work();
  } finally {
    unsubscribe('net.client.socket', count);
  }
  return opened;
}

test.serial(
  `of ${RUNS} generated targets none that leads to an address that is not public is let through`,
  async (t) => {
    let resolved: string[] = [];
    const egress = createEgress({ allowUnsafe: false, lookup: () => Promise.resolve(resolved) });
    t.teardown(() => egress.close());
    const seen = { refused: 0, passed: 0 };
    const opened = await countingSockets(async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(literalCase, namedCase), async (given) => {
          ({ resolved } = given);
          const passed = await egress.check(given.url, 5_000).then(
            () => true,
            (error: unknown) => {
              if (error instanceof EgressError && error.kind === 'blocked') return false;
              throw error;
            },
          );
          const allowed = given.addresses.every(isPublic);
          if (passed && !allowed) throw new Error(`${given.url} (${given.addresses.join(', ')}) was let through`);
          if (passed) {
            seen.passed += 1;
            return;
          }
          seen.refused += 1;
          // The egress also refuses the request itself, before it opens a socket.
          const error = await egress
            .request({ method: 'POST', url: given.url, body: 'x', timeoutMs: 5_000, maxResponseBytes: 10 })
            .then(
              () => null,
              (failed: unknown) => failed,
            );
          if (!(error instanceof EgressError) || error.kind !== 'blocked')
            throw new Error(`${given.url}: ${String(error)}`);
        }),
        { numRuns: RUNS },
      );
    });
    t.is(opened, 0);
    t.is(seen.refused + seen.passed, RUNS);
    t.true(seen.refused > RUNS / 4, `refused ${seen.refused}`);
    t.true(seen.passed > RUNS / 50, `passed ${seen.passed}: the generator reaches both sides`);
  },
);

test.serial('one address that is not public, wherever it stands among public ones, refuses the name', async (t) => {
  const publicOnes = fc.array(fc.oneof(anyIpv4, global6).filter(isPublic).map(String), { minLength: 1, maxLength: 3 });
  const hostile = fc
    .oneof(hostileIpv4, within(HOSTILE_IPV6), carrying)
    .filter((address) => !isPublic(address))
    .map(String);
  let resolved: string[] = [];
  const egress = createEgress({ allowUnsafe: false, lookup: () => Promise.resolve(resolved) });
  t.teardown(() => egress.close());
  const opened = await countingSockets(async () => {
    await fc.assert(
      fc.asyncProperty(publicOnes, hostile, fc.nat(3), async (good, bad, place) => {
        resolved = [...good.slice(0, place), bad, ...good.slice(place)];
        const error = await egress
          .request({ method: 'GET', url: 'https://hooks.example.com/', timeoutMs: 5_000, maxResponseBytes: 10 })
          .then(
            () => null,
            (failed: unknown) => failed,
          );
        return error instanceof EgressError && error.kind === 'blocked';
      }),
      { numRuns: 2_000 },
    );
  });
  t.is(opened, 0);
});
