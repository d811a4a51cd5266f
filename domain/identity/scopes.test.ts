import test from 'ava';
import { routes } from '../../api/routes.ts';
import type { PermissionRule } from '../../api/http/route.ts';
import { grantableWith } from '../../lib/grantable.ts';
import {
  ALL_PERMISSIONS,
  maskOf,
  ORG_PERMISSIONS,
  PERMISSIONS,
  SYSTEM_ROLES,
  type Permission,
} from '../../lib/permissions.ts';
import { readScopes, readScopeText, scopesOf, scopeText, SELF_REGISTERED_MAX } from './scopes.ts';

function allows(held: readonly string[], rule: PermissionRule): boolean {
  if (typeof rule === 'string') return held.includes(rule);
  return 'anyOf' in rule ? rule.anyOf.some((one) => held.includes(one)) : rule.allOf.every((one) => held.includes(one));
}

test('whoever can hand out the scopes of a route could use it themselves', (t) => {
  const faults: string[] = [];
  // Roles that lack one permission. These are the strongest roles that can lack the permission of a route.
  const sets = [
    ...ORG_PERMISSIONS.map((missing) => ORG_PERMISSIONS.filter((one) => one !== missing)),
    ...ORG_PERMISSIONS.map((only) => [only]),
  ];
  for (const spec of routes) {
    if (!Array.isArray(spec.scope) || spec.permission === null) continue;
    for (const held of sets) {
      const needed = maskOf(spec.scope as Permission[]);
      if ((grantableWith(held) & needed) === needed && !allows(held, spec.permission))
        faults.push(`${spec.operationId}: a role with ${held.join(' ')}`);
    }
  }
  t.deepEqual(faults, []);
});

test('owners can hand out everything, and so can each role what it may use', (t) => {
  t.is(grantableWith(ORG_PERMISSIONS), ALL_PERMISSIONS);
  t.is(grantableWith([]), 0);
  const viewer = SYSTEM_ROLES.find(({ name }) => name === 'Viewer')!;
  t.deepEqual(scopesOf(grantableWith(viewer.permissions)), [
    'read_emails',
    'read_campaigns',
    'read_contacts',
    'read_templates',
    'read_analytics',
    'read_audit_logs',
    'read_unibox',
    'realtime_subscribe',
    'read_crm',
    'read_runs',
  ]);
});

test('scopes are permission names in lower case, and read back as they were written', (t) => {
  for (const { name, value } of PERMISSIONS) {
    t.deepEqual(readScopes([name.toLowerCase()]), { mask: value, unknown: [] });
    t.deepEqual(readScopes([name]), { mask: 0, unknown: [name] });
  }
  t.deepEqual(readScopeText(scopeText(ALL_PERMISSIONS)), { mask: ALL_PERMISSIONS, unknown: [] });
  t.deepEqual(readScopeText('  read_emails   read_emails nothing nothing'), { mask: 1, unknown: ['nothing'] });
  t.deepEqual(scopesOf(ALL_PERMISSIONS & ~SELF_REGISTERED_MAX), ['send_campaigns', 'api_keys']);
});
