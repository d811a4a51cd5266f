import test from 'ava';
import fc from 'fast-check';
import { TargetLimits, type Permit } from './target-limits.ts';

/** Creates a clock that only `pass` advances. */
function stoppedClock(): { now: () => number; pass: (ms: number) => void } {
  let time = 1_000;
  return { now: () => time, pass: (ms) => void (time += ms) };
}

const isPermit = (answer: Permit | { retryInMs: number }): answer is Permit => !('retryInMs' in answer);

/** Takes as many permits as available, up to `most`. */
function fill(limits: TargetLimits, target: string, tenant: string, most = 1_000): Permit[] {
  const permits: Permit[] = [];
  while (permits.length < most) {
    const answer = limits.acquire(target, tenant);
    if (!isPermit(answer)) break;
    permits.push(answer);
  }
  return permits;
}

/** Makes a target answer 100 calls, so that all its permits may be used afterwards. */
function prove(limits: TargetLimits, target: string, tenant: string): void {
  for (let n = 0; n < 100; n += 1) for (const permit of fill(limits, target, tenant, 1)) permit.release('answered');
}

test('a target starts with few permits, gets more as it answers, and one when it hangs', (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 10, perTenant: 100, now: stoppedClock().now });
  const first = fill(limits, 'app', 'a');
  t.is(first.length, 4);
  for (const permit of first) permit.release('answered');
  t.is(fill(limits, 'app', 'a').length, 8);
  prove(limits, 'other', 'a');
  const all = fill(limits, 'other', 'a');
  t.is(all.length, 10);
  for (const permit of all) permit.release('hung');
  t.is(fill(limits, 'other', 'a').length, 1);
});

test('a permit is given back once, and what was not used says nothing about the target', (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 10, perTenant: 100, now: stoppedClock().now });
  const [permit] = fill(limits, 'app', 'a', 1);
  permit!.release('hung');
  permit!.release('answered');
  const [only, ...others] = fill(limits, 'app', 'a');
  t.is(others.length, 1, 'half of four');
  only!.release('unused');
  others[0]!.release('unused');
  t.is(fill(limits, 'app', 'a').length, 2);
});

test('however many targets hang, targets that answer find permits', (t) => {
  const limits = new TargetLimits({ total: 40, perTarget: 10, perTenant: 40, now: stoppedClock().now });
  prove(limits, 'good', 'b');
  for (let n = 0; n < 100; n += 1) fill(limits, `hanging${n}`, `tenant${n}`);
  t.is(fill(limits, 'good', 'b').length, 10);
});

test('one tenant cannot fill all permits, whatever it calls', (t) => {
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
  // The tenant with many calls gets back at most half of the permits that it releases.
  for (const permit of flood.splice(0, 10)) permit.release('answered');
  pass(1);
  t.is(fill(limits, 'smtp', 'b').length + other.length, 10);
  t.is(fill(limits, 'smtp', 'a').length + flood.length, 10);
});

test('work that is sent away comes again one after another, as fast as the target works', (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 2, perTenant: 100, maxRetryMs: 60_000, now });
  for (let n = 0; n < 50; n += 1) {
    const [permit] = fill(limits, 'app', 'a', 1);
    pass(1_000);
    permit!.release('answered');
  }
  fill(limits, 'app', 'a');
  const waits = Array.from({ length: 1_000 }, () => (limits.acquire('app', 'a') as { retryInMs: number }).retryInMs);
  t.true(waits.slice(0, 100).every((wait, n) => n === 0 || wait > waits[n - 1]!));
  t.true(waits[99]! > 45_000 && waits[99]! < 60_000, 'half a second each');
  t.is(Math.max(...waits), 60_000);
});

test('a burst waits a moment for a target that answers, not for one that hangs', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100 });
  const open = fill(limits, 'app', 'a');
  const soon = limits.acquireSoon('app', 'a', 10_000);
  open[0]!.release('answered');
  t.true(isPermit(await soon));
  t.false(isPermit(await limits.acquireSoon('app', 'a', 1)), 'too many before it');
  open[1]!.release('hung');
  fill(limits, 'app', 'a');
  t.false(isPermit(await limits.acquireSoon('app', 'a', 10_000)));
});

test('while a target answers nothing no call waits in the worker, and the retry delay grows with the time it hangs', async (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100, now });
  fill(limits, 'app', 'a');
  pass(10_000);
  const answer = await limits.acquireSoon('app', 'a', 500);
  t.true(!isPermit(answer) && answer.retryInMs >= 2_500);
});

test('whoever waits gets what becomes free, tenants with the fewest permits first', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 4, perTenant: 100 });
  const open = fill(limits, 'app', 'a');
  const order: string[] = [];
  const enter = (tenant: string) =>
    limits.acquireSoon('app', tenant, 10_000).then((answer) => {
      if (isPermit(answer)) order.push(tenant);
    });
  const waiting = [enter('a'), enter('a'), enter('b')];
  open[0]!.release('unused');
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(order, ['b']);
  for (const permit of open) permit.release('unused');
  await Promise.all(waiting);
  t.deepEqual(order, ['b', 'a', 'a']);
});

test('a target that hangs is left alone for longer each time, until it answers', (t) => {
  const { now, pass } = stoppedClock();
  const limits = new TargetLimits({ total: 100, perTarget: 4, restMs: 1_000, maxRestMs: 3_000, now });
  const hang = () => fill(limits, 'host', 'a', 1).map((permit) => permit.release('hung')).length;
  const rests: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    t.is(hang(), 1);
    const begun = now();
    while (fill(limits, 'host', 'a', 1).map((permit) => permit.release('unused')).length === 0) pass(100);
    rests.push(now() - begun);
  }
  t.deepEqual(rests, [1_000, 2_000, 3_000, 3_000]);
  fill(limits, 'host', 'a', 1)[0]!.release('answered');
  hang();
  t.true((limits.acquire('host', 'a') as { retryInMs: number }).retryInMs < 2_000);
});

test('a wait without a permit ends with its signal', async (t) => {
  const limits = new TargetLimits({ total: 100, perTarget: 1, perTenant: 100 });
  const [permit] = fill(limits, 'host', 'a');
  const stop = new AbortController();
  const waiting = limits.wait('host', 'a', stop.signal);
  stop.abort();
  t.is(await waiting, undefined);
  const later = limits.wait('host', 'a', new AbortController().signal);
  permit!.release('answered');
  t.truthy(await later);
});

test('no order of events takes more than the limits, or loses a permit', (t) => {
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
        const open: { permit: Permit; target: number; tenant: number }[] = [];
        for (const each of events) {
          if (each.kind === 'pass') pass(each.ms);
          else if (each.kind === 'leave') {
            const [left] = open.splice(each.which % Math.max(1, open.length), 1);
            left?.permit.release(each.result);
          } else {
            const answer = limits.acquire(`target${each.target}`, `tenant${each.tenant}`);
            if (isPermit(answer)) open.push({ permit: answer, target: each.target, tenant: each.tenant });
            else if (!(answer.retryInMs > 0 && answer.retryInMs <= 5 * 60_000)) return false;
          }
          const most = (key: 'target' | 'tenant') =>
            Math.max(0, ...[0, 1, 2, 3, 4, 5].map((n) => open.filter((one) => one[key] === n).length));
          if (open.length > TOTAL || most('target') > PER_TARGET || most('tenant') > PER_TENANT) return false;
        }
        for (const { permit } of open) permit.release('answered');
        pass(10 * 60_000);
        return isPermit(limits.acquire('target0', 'tenant0')) && isPermit(limits.acquire('target1', 'tenant1'));
      }),
    ),
  );
});
