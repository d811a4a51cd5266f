import test from 'ava';
import fc from 'fast-check';
import { TargetLimits, type Place } from './target-limits.ts';

/** A clock that stands still unless it is moved. */
function stoppedClock(): { now: () => number; pass: (ms: number) => void } {
  let time = 1_000;
  return { now: () => time, pass: (ms) => void (time += ms) };
}

const isPlace = (answer: Place | { retryInMs: number }): answer is Place => !('retryInMs' in answer);

/** Takes as many places as are given, up to `most`. */
function fill(limits: TargetLimits, target: string, tenant: string, most = 1_000): Place[] {
  const places: Place[] = [];
  while (places.length < most) {
    const answer = limits.enter(target, tenant);
    if (!isPlace(answer)) break;
    places.push(answer);
  }
  return places;
}

/** Lets a target answer until it may have all its places. */
function prove(limits: TargetLimits, target: string, tenant: string): void {
  for (let n = 0; n < 100; n += 1) for (const place of fill(limits, target, tenant, 1)) place.leave('answered');
}

test('a target starts with few places, gets more as it answers, and one when it hangs', (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 10, perTenant: 100, now: stoppedClock().now });
  const first = fill(limits, 'app', 'a');
  t.is(first.length, 4);
  for (const place of first) place.leave('answered');
  t.is(fill(limits, 'app', 'a').length, 8);
  prove(limits, 'other', 'a');
  const all = fill(limits, 'other', 'a');
  t.is(all.length, 10);
  for (const place of all) place.leave('hung');
  t.is(fill(limits, 'other', 'a').length, 1);
});

test('a place is given back once, and what was not used says nothing about the target', (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 10, perTenant: 100, now: stoppedClock().now });
  const [place] = fill(limits, 'app', 'a', 1);
  place!.leave('hung');
  place!.leave('answered');
  const [only, ...others] = fill(limits, 'app', 'a');
  t.is(others.length, 1, 'half of four');
  only!.leave('unused');
  others[0]!.leave('unused');
  t.is(fill(limits, 'app', 'a').length, 2);
});

test('however many targets hang, targets that answer find places', (t) => {
  const limits = new TargetLimits({ total: 40, perTarget: 10, perTenant: 40, now: stoppedClock().now });
  prove(limits, 'good', 'b');
  for (let n = 0; n < 100; n += 1) fill(limits, `hanging${n}`, `tenant${n}`);
  t.is(fill(limits, 'good', 'b').length, 10);
});

test('one tenant cannot fill all places, whatever it calls', (t) => {
  const limits = new TargetLimits({ total: 40, perTarget: 10, now: stoppedClock().now });
  for (let n = 0; n < 10; n += 1) prove(limits, `app${n}`, 'a');
  let taken = 0;
  for (let n = 0; n < 10; n += 1) taken += fill(limits, `app${n}`, 'a').length;
  t.is(taken, 10, 'a quarter');
});

test('on a shared target a second tenant enters at once, and both come to the same share', (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 20, perTenant: 100, shared: true, now });
  prove(limits, 'smtp', 'a');
  const flood = fill(limits, 'smtp', 'a');
  t.is(flood.length, 15);
  const other = fill(limits, 'smtp', 'b');
  t.is(other.length, 5);
  // As the flood ends its conversations it takes no more of them than its half.
  for (const place of flood.splice(0, 10)) place.leave('answered');
  pass(1);
  t.is(fill(limits, 'smtp', 'b').length + other.length, 10);
  t.is(fill(limits, 'smtp', 'a').length + flood.length, 10);
});

test('work that is sent away comes again one after another, as fast as the target works', (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 2, perTenant: 100, maxRetryMs: 60_000, now });
  for (let n = 0; n < 50; n += 1) {
    const [place] = fill(limits, 'app', 'a', 1);
    pass(1_000);
    place!.leave('answered');
  }
  fill(limits, 'app', 'a');
  const waits = Array.from({ length: 1_000 }, () => (limits.enter('app', 'a') as { retryInMs: number }).retryInMs);
  t.true(waits.slice(0, 100).every((wait, n) => n === 0 || wait > waits[n - 1]!));
  t.true(waits[99]! > 45_000 && waits[99]! < 60_000, 'half a second each');
  t.is(Math.max(...waits), 60_000);
});

test('a burst waits a moment for a target that answers, not for one that hangs', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100 });
  const open = fill(limits, 'app', 'a');
  const soon = limits.enterSoon('app', 'a', 10_000);
  open[0]!.leave('answered');
  t.true(isPlace(await soon));
  t.false(isPlace(await limits.enterSoon('app', 'a', 1)), 'too many before it');
  open[1]!.leave('hung');
  fill(limits, 'app', 'a');
  t.false(isPlace(await limits.enterSoon('app', 'a', 10_000)));
});

test('while nothing comes back nobody waits in the worker, and whoever is sent away stays away for as long again', async (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100, now });
  fill(limits, 'app', 'a');
  pass(10_000);
  const answer = await limits.enterSoon('app', 'a', 500);
  t.true(!isPlace(answer) && answer.retryInMs >= 2_500);
});

test('whoever waits gets what becomes free, tenants with the fewest places first', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100 });
  const open = fill(limits, 'app', 'a');
  const order: string[] = [];
  const enter = (tenant: string) =>
    limits.enterSoon('app', tenant, 10_000).then((answer) => {
      if (isPlace(answer)) order.push(tenant);
    });
  const waiting = [enter('a'), enter('a'), enter('b')];
  open[0]!.leave('unused');
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(order, ['b']);
  for (const place of open) place.leave('unused');
  await Promise.all(waiting);
  t.deepEqual(order, ['b', 'a', 'a']);
});

test('a target that hangs is left alone for longer each time, until it answers', (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 4, restMs: 1_000, maxRestMs: 3_000, now });
  const hang = () => fill(limits, 'host', 'a', 1).map((place) => place.leave('hung')).length;
  const rests: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    t.is(hang(), 1);
    const begun = now();
    while (fill(limits, 'host', 'a', 1).map((place) => place.leave('unused')).length === 0) pass(100);
    rests.push(now() - begun);
  }
  t.deepEqual(rests, [1_000, 2_000, 3_000, 3_000]);
  fill(limits, 'host', 'a', 1)[0]!.leave('answered');
  hang();
  t.true((limits.enter('host', 'a') as { retryInMs: number }).retryInMs < 2_000);
});

test('a wait without a place ends with its signal', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 1, perTenant: 100 });
  const [place] = fill(limits, 'host', 'a');
  const stop = new AbortController();
  const waiting = limits.wait('host', 'a', stop.signal);
  stop.abort();
  t.is(await waiting, undefined);
  const later = limits.wait('host', 'a', new AbortController().signal);
  place!.leave('answered');
  t.truthy(await later);
});

test('no order of events takes more than the limits, or loses a place', (t) => {
  const TOTAL = 12;
  const PER_TARGET = 5;
  const PER_TENANT = 6;
  const event = fc.oneof(
    fc.record({ kind: fc.constant('enter' as const), target: fc.nat(5), tenant: fc.nat(3) }),
    fc.record({
      kind: fc.constant('leave' as const),
      which: fc.nat(),
      result: fc.constantFrom('answered' as const, 'hung' as const, 'unused' as const),
    }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(60_000) }),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 300 }), (events) => {
        const { now, pass } = stoppedClock();
        const limits = new TargetLimits({
          total: TOTAL,
          perTarget: PER_TARGET,
          perTenant: PER_TENANT,
          shared: true,
          now,
        });
        const open: { place: Place; target: number; tenant: number }[] = [];
        for (const each of events) {
          if (each.kind === 'pass') pass(each.ms);
          else if (each.kind === 'leave') {
            const [left] = open.splice(each.which % Math.max(1, open.length), 1);
            left?.place.leave(each.result);
          } else {
            const answer = limits.enter(`target${each.target}`, `tenant${each.tenant}`);
            if (isPlace(answer)) open.push({ place: answer, target: each.target, tenant: each.tenant });
            else if (!(answer.retryInMs > 0 && answer.retryInMs <= 5 * 60_000)) return false;
          }
          const most = (key: 'target' | 'tenant') =>
            Math.max(0, ...[0, 1, 2, 3, 4, 5].map((n) => open.filter((one) => one[key] === n).length));
          if (open.length > TOTAL || most('target') > PER_TARGET || most('tenant') > PER_TENANT) return false;
        }
        for (const { place } of open) place.leave('answered');
        pass(10 * 60_000);
        return isPlace(limits.enter('target0', 'tenant0')) && isPlace(limits.enter('target1', 'tenant1'));
      }),
    ),
  );
});
