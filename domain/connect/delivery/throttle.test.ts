import test from 'ava';
import fc from 'fast-check';
import { minuteOf, Throttle } from './throttle.ts';

const limits = { WEBHOOK_ENDPOINT_PER_MINUTE: 3, WEBHOOK_EVENT_TYPE_PER_MINUTE: 5 };
const event = (n: number, type = 'role.created') => ({ id: `event-${n}`, organizationId: 'org', type });

test('an endpoint gets as many as its rate and loses the rest, another one is not touched', (t) => {
  const throttle = new Throttle(limits, []);
  const admitted = [1, 2, 3, 4].map((n) => throttle.admit(event(n), n === 4 ? ['a', 'b'] : ['a']));
  t.deepEqual(admitted, [['a'], ['a'], ['a'], ['b']]);
  t.deepEqual(throttle.drops, [
    {
      organizationId: 'org',
      endpointId: 'a',
      eventType: 'role.created',
      reason: 'endpoint_rate',
      dropped: 1,
      lastEventId: 'event-4',
    },
  ]);
});

test('an event type of a workspace that is over its limit reaches no endpoint; other types and workspaces go on', (t) => {
  const throttle = new Throttle(limits, [{ organization_id: 'org', subject: 'type:role.created', admitted: 4 }]);
  t.deepEqual(throttle.admit(event(1), ['a', 'b']), ['a', 'b']);
  t.deepEqual(throttle.admit(event(2), ['a', 'b']), []);
  t.deepEqual(throttle.admit(event(3, 'role.deleted'), ['a']), ['a']);
  t.deepEqual(throttle.admit({ ...event(4), organizationId: 'other' }, ['c']), ['c']);
  t.deepEqual(
    throttle.drops.map(({ endpointId, reason, lastEventId }) => [endpointId, reason, lastEventId]),
    [
      ['a', 'event_type_rate', 'event-2'],
      ['b', 'event_type_rate', 'event-2'],
    ],
  );
});

test('events without an endpoint do not count, and 0 is unlimited', (t) => {
  const throttle = new Throttle({ WEBHOOK_ENDPOINT_PER_MINUTE: 0, WEBHOOK_EVENT_TYPE_PER_MINUTE: 0 }, [
    { organization_id: 'org', subject: 'endpoint:a', admitted: 1e9 },
  ]);
  throttle.admit(event(1), []);
  t.deepEqual(throttle.admitted, []);
  t.deepEqual(throttle.admit(event(2), ['a']), ['a']);
});

test('whatever comes: admitted and dropped add up, and turns that carry the counts on let no more through than one turn', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ type: fc.constantFrom('x', 'y'), listening: fc.subarray(['a', 'b', 'c']) }), {
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 10 }),
      (events, turn) => {
        const whole = new Throttle(limits, []);
        const atOnce = events.map(({ type, listening }, n) => whole.admit(event(n, type), listening));
        let counts: { organization_id: string; subject: string; admitted: number }[] = [];
        const inTurns: string[][] = [];
        let dropped = 0;
        for (let at = 0; at < events.length; at += turn) {
          const part = new Throttle(limits, counts);
          events
            .slice(at, at + turn)
            .forEach(({ type, listening }, n) => inTurns.push(part.admit(event(at + n, type), listening)));
          dropped += part.drops.reduce((sum, drop) => sum + drop.dropped, 0);
          const total = new Map(counts.map((count) => [count.subject, count]));
          for (const { subject, admitted } of part.admitted)
            total.set(subject, {
              organization_id: 'org',
              subject,
              admitted: (total.get(subject)?.admitted ?? 0) + admitted,
            });
          counts = [...total.values()];
        }
        t.deepEqual(inTurns, atOnce);
        const listening = events.reduce((sum, one) => sum + one.listening.length, 0);
        t.is(inTurns.flat().length + dropped, listening);
        for (const id of ['a', 'b', 'c'])
          t.true(inTurns.flat().filter((one) => one === id).length <= limits.WEBHOOK_ENDPOINT_PER_MINUTE);
      },
    ),
  );
});

test('rates are counted by whole minutes', (t) => {
  t.is(minuteOf(new Date('2026-03-02T08:00:59.999Z')).toISOString(), '2026-03-02T08:00:00.000Z');
});
