import test from 'ava';
import { maskOf } from '../../../lib/permissions.ts';
import { EVENT_SCOPES, EVENT_TYPES, scopeOf, type EventType } from '../../platform/kernel/events.ts';
import { isSubscribed } from './match.ts';

const types = Object.keys(EVENT_TYPES) as EventType[];

test('an empty list means everything but firehose, a listed type means that type', (t) => {
  for (const type of types) {
    t.is(isSubscribed({ eventTypes: [], grantedScopes: null }, type), !EVENT_TYPES[type].firehose, type);
    t.true(isSubscribed({ eventTypes: [type], grantedScopes: null }, type), type);
    t.false(isSubscribed({ eventTypes: types.filter((other) => other !== type), grantedScopes: null }, type), type);
  }
});

test('an application gets an event only with the scope of its family', (t) => {
  for (const type of types) {
    const scope = maskOf([scopeOf(type)]);
    const others = maskOf([...new Set(Object.values(EVENT_SCOPES))].filter((name) => name !== scopeOf(type)));
    t.true(isSubscribed({ eventTypes: [type], grantedScopes: scope }, type), type);
    t.false(isSubscribed({ eventTypes: [type], grantedScopes: others }, type), type);
    t.false(isSubscribed({ eventTypes: [], grantedScopes: 0 }, type), type);
    t.is(isSubscribed({ eventTypes: [], grantedScopes: scope }, type), !EVENT_TYPES[type].firehose, type);
  }
});

test('an event that is not in the catalogue goes to no endpoint', (t) => {
  for (const type of ['webhook.test', 'team.unheard_of', 'constructor', '']) {
    t.false(isSubscribed({ eventTypes: [type], grantedScopes: null }, type));
    t.false(isSubscribed({ eventTypes: [], grantedScopes: null }, type));
  }
});
