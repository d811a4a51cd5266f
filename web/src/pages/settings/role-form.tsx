import { Checkbox, Stack, TextInput } from '@mantine/core';
import { dataOf, heron, type AnswerOf, type BodyOf } from '../../app/api.ts';
import { usePerson } from '../../app/person.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { textOf, useText } from '../../text/index.ts';

type Role = AnswerOf<'/v1/organizations/current/roles'>['data'][number];
type Edited = Pick<Role, 'name' | 'permissions' | 'updated_at'>;
type Permissions = BodyOf<'/v1/organizations/current/roles', 'post'>['permissions'];
const NEW: Edited = { name: '', permissions: [], updated_at: '' };
const editedOf = ({ name, permissions, updated_at }: Role): Edited => ({ name, permissions, updated_at });

/**
 * Form of a role that the workspace has defined. A permission that the person does not have is disabled, because nobody
 * can grant more than they have.
 */
export function RoleForm({
  role,
  permissions,
  onDone,
}: {
  role: Role | undefined;
  /** All permissions of a workspace. */
  permissions: readonly string[];
  onDone: () => void;
}) {
  const t = useText();
  const held = usePerson().workspace?.permissions ?? [];
  const draft = useDraft<Edited>({
    stored: role ? editedOf(role) : NEW,
    write: ({ updated_at: _, permissions: chosen, ...rest }) => {
      const body = { ...rest, ...(chosen ? { permissions: chosen as Permissions } : {}) };
      return role
        ? dataOf(heron.PATCH('/v1/organizations/current/roles/{id}', { params: { path: { id: role.id } }, body }))
        : dataOf(heron.POST('/v1/organizations/current/roles', { body: { name: '', permissions: [], ...body } }));
    },
    readAgain: async () => {
      const { data } = await dataOf(heron.GET('/v1/organizations/current/roles'));
      const stored = data.find(({ id }) => id === role?.id);
      return stored && editedOf(stored);
    },
    stale: [['team'], ['person']],
    done: t('saved'),
    onDone,
  });
  const { value, change } = draft;
  return (
    <DraftForm
      draft={draft}
      submit={role ? undefined : t('settings.role.create')}
      names={{ permissions: t('settings.role.permissions') }}
      say={{ permissions: (list) => list.map((one) => textOf('settings.permission', one)).join('\n') }}
    >
      <TextInput
        label={t('settings.name')}
        required
        maxLength={100}
        value={value.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      <Checkbox.Group
        label={t('settings.role.permissions')}
        value={value.permissions}
        onChange={(chosen) => change({ permissions: permissions.filter((one) => chosen.includes(one)) })}
      >
        <Stack gap="xs" mt="xs">
          {permissions.map((one) => (
            <Checkbox key={one} value={one} label={textOf('settings.permission', one)} disabled={!held.includes(one)} />
          ))}
        </Stack>
      </Checkbox.Group>
    </DraftForm>
  );
}
