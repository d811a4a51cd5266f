import { Button, Checkbox, Modal, Radio, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconKey from 'tabler:key';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/copy.tsx';
import { Form } from '../../components/form.tsx';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';
import { KeyState, type Key } from './key-state.tsx';

/** Page of the workspace's API keys with their permissions, their last use, and their revocation. */
export default function KeysPage() {
  const t = useText();
  const [isOpen, form] = useDisclosure();
  const list = usePaged(['keys'], (cursor, signal) =>
    dataOf(heron.GET('/v1/api-keys', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={form.open}>
      {t('agents.key.new')}
    </Button>
  );
  return (
    <AgentsPage actions={list.data && !isEmptyList(list) ? add : null}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (rows.length === 0)
            return (
              <Empty icon={IconKey} title={t('agents.key.none')} action={add}>
                {t('agents.key.none.why')}
              </Empty>
            );
          return (
            <PagedTable
              list={list}
              minWidth={680}
              columns={[
                { label: t('agents.name') },
                { label: t('agents.key'), isExtra: true },
                { label: t('agents.state') },
                { label: t('agents.used'), isExtra: true },
                { label: t('agents.key.end') },
              ]}
            >
              {rows.map((one) => (
                <KeyRow key={one.id} one={one} maker={rows.find(({ id }) => id === one.made_by_key_id)} />
              ))}
            </PagedTable>
          );
        }}
      </Answered>
      <Modal opened={isOpen} onClose={form.close} title={t('agents.key.new')} size="lg">
        <NewKey onDone={form.close} />
      </Modal>
    </AgentsPage>
  );
}

function KeyRow({ one, maker }: { one: Key; maker: Key | undefined }) {
  const t = useText();
  const revoke = useAction(() => dataOf(heron.DELETE('/v1/api-keys/{id}', { params: { path: { id: one.id } } })), {
    stale: [['keys'], ['policies']],
    isShown: true,
    done: t('agents.key.revoked'),
  });
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 160, sm: 260 }} className="clip" title={one.name}>
        <PageLink to={`/agents/keys/${one.id}`} size="sm" fw={600}>
          {one.name}
        </PageLink>
        {one.made_by_key_id || one.made_by_application_id ? (
          <Text size="xs" c="dimmed">
            {maker
              ? t('agents.key.madeBy', { name: maker.name })
              : t(one.made_by_key_id ? 'agents.key.madeByKey' : 'agents.key.madeByApplication')}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>
        <Text size="sm" ff="monospace">
          {one.key_prefix}…{one.key_suffix}
        </Text>
      </Table.Td>
      <Table.Td>
        <KeyState one={one} />
      </Table.Td>
      <Table.Td c="dimmed">{one.last_used_at ? <Ago at={one.last_used_at} /> : t('agents.never')}</Table.Td>
      <Table.Td>
        {one.status === 'active' ? (
          <ConfirmButton
            size="compact-xs"
            act={revoke}
            label={t('agents.key.revoke')}
            title={t('agents.key.revoke.ask')}
          >
            {t('agents.key.revoke.why', { name: one.name })}
          </ConfirmButton>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function NewKey({ onDone }: { onDone: () => void }) {
  const t = useText();
  const [name, setName] = useState('');
  const [reach, setReach] = useState<'read_only' | 'full_access' | 'chosen'>('read_only');
  const [chosen, setChosen] = useState<string[]>([]);
  const catalogue = useQuery({
    queryKey: ['keys', 'permissions'],
    queryFn: () => dataOf(heron.GET('/v1/api-keys/permissions')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const make = useAction(
    () => {
      const { permissions, presets } = catalogue.data!;
      const bits = permissions.filter((one) => chosen.includes(one.name)).reduce((sum, { value }) => sum + value, 0);
      return dataOf(
        heron.POST('/v1/api-keys', { body: { name, permissions: reach === 'chosen' ? bits : presets[reach] } }),
      );
    },
    { stale: [['keys']], isShown: true },
  );
  if (make.data) return <SecretOnce name={t('agents.key')} value={make.data.secret} onDone={onDone} />;
  return (
    <Answered query={catalogue} skeleton={<ListSkeleton rows={3} />}>
      {({ permissions }) => (
        <Form act={make} submit={t('agents.key.create')}>
          <TextInput
            label={t('agents.name')}
            description={t('agents.key.name.why')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            data-autofocus
          />
          <Radio.Group
            label={t('agents.key.reach')}
            value={reach}
            onChange={(value) => setReach(value as typeof reach)}
          >
            <Stack gap="xs" mt="xs">
              {(['read_only', 'full_access', 'chosen'] as const).map((value) => (
                <Radio key={value} value={value} label={t(`agents.reach.${value}`)} />
              ))}
            </Stack>
          </Radio.Group>
          {reach === 'chosen' ? (
            <Checkbox.Group label={t('agents.key.permissions')} value={chosen} onChange={setChosen}>
              <Stack gap="xs" mt="xs">
                {permissions.map((one) => (
                  <Checkbox key={one.name} value={one.name} label={one.name} description={one.description} />
                ))}
              </Stack>
            </Checkbox.Group>
          ) : null}
        </Form>
      )}
    </Answered>
  );
}
