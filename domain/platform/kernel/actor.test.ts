import test from 'ava';
import { ALL_PERMISSIONS, ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { ANONYMOUS, may, systemActor, type Actor } from './actor.ts';

test('a caller without a credential may do nothing that asks, whatever is asked; the installation may do anything', (t) => {
  const crowned: Actor = { ...ANONYMOUS, permissions: ALL_PERMISSIONS, orgPermissions: new Set(ORG_PERMISSIONS) };
  for (const [scopes, anyOf] of [
    [['READ_CONTACTS'], ['view_contacts']],
    [[], []],
    [[], ['manage_settings']],
  ] as const) {
    t.false(may(ANONYMOUS, scopes, anyOf));
    t.false(may(crowned, scopes, anyOf));
    t.true(may(systemActor('an organization'), scopes, anyOf));
  }
});
