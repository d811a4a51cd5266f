import { Badge, Button, Group, List, Modal, SimpleGrid, Text } from '@mantine/core';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { RoleForm } from './role-form.tsx';

type Role = AnswerOf<'/v1/organizations/current/roles'>['data'][number];

/**
 * Page of the workspace's roles with their permissions. Roles that the workspace has defined are created, changed and
 * deleted here.
 */
export default function RolesPage() {
  const t = useText();
  const [edited, setEdited] = useState<Role | 'new'>();
  const roles = useQuery({
    queryKey: ['team', 'roles'],
    queryFn: () => dataOf(heron.GET('/v1/organizations/current/roles')),
  });
  const close = () => setEdited(undefined);
  return (
    <SettingsPage
      actions={
        <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={() => setEdited('new')}>
          {t('settings.role.new')}
        </Button>
      }
    >
      <Answered query={roles} skeleton={<ListSkeleton rows={4} height={120} />}>
        {({ data }) => (
          <>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {data.map((role) => (
                <RoleCard key={role.id} role={role} onEdit={() => setEdited(role)} />
              ))}
            </SimpleGrid>
            <Modal
              opened={edited !== undefined}
              onClose={close}
              title={t(edited === 'new' ? 'settings.role.new' : 'settings.role.edit')}
              size="lg"
            >
              {edited ? (
                <RoleForm
                  role={edited === 'new' ? undefined : data.find(({ id }) => id === edited.id)}
                  // The owner's role has every permission.
                  permissions={data.find(({ is_owner }) => is_owner)?.permissions ?? []}
                  onDone={close}
                />
              ) : null}
            </Modal>
          </>
        )}
      </Answered>
    </SettingsPage>
  );
}

function RoleCard({ role, onEdit }: { role: Role; onEdit: () => void }) {
  const t = useText();
  const remove = useAction(
    () => dataOf(heron.DELETE('/v1/organizations/current/roles/{id}', { params: { path: { id: role.id } } })),
    { stale: [['team']], isShown: true, done: t('settings.role.deleted') },
  );
  return (
    <Section
      title={textOf('role', role.name)}
      action={
        role.is_system ? (
          <Badge variant="light" color="gray" tt="none">
            {t('settings.role.system')}
          </Badge>
        ) : (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-haspopup="dialog"
              aria-label={t('settings.edit.of', { name: role.name })}
              onClick={onEdit}
            >
              {t('settings.edit')}
            </Button>
            <ConfirmButton size="xs" act={remove} label={t('settings.delete')} title={t('settings.role.delete.ask')}>
              {t('settings.role.delete.why')}
            </ConfirmButton>
          </Group>
        )
      }
    >
      {role.permissions.length > 0 ? (
        <List size="sm">
          {role.permissions.map((one) => (
            <List.Item key={one}>{textOf('settings.permission', one)}</List.Item>
          ))}
        </List>
      ) : (
        <Text size="sm" c="dimmed">
          {t('settings.role.nothing')}
        </Text>
      )}
    </Section>
  );
}
