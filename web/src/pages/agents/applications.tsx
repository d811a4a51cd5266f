import { Button, Modal, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconApps from 'tabler:apps';
import IconPlus from 'tabler:plus';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { SecretOnce } from '../../components/copy.tsx';
import { Form } from '../../components/form.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';

/** Page of the workspace's OAuth applications: programs that ask people for access. */
export default function ApplicationsPage() {
  const t = useText();
  const [isOpen, form] = useDisclosure();
  const list = usePaged(['applications'], (cursor, signal) =>
    dataOf(heron.GET('/v1/oauth/applications', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={form.open}>
      {t('agents.app.new')}
    </Button>
  );
  return (
    <AgentsPage actions={list.data && !isEmptyList(list) ? add : null}>
      <Answered query={list} skeleton={<ListSkeleton rows={2} height={130} />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (rows.length === 0)
            return (
              <Empty icon={IconApps} title={t('agents.app.none')} action={add}>
                {t('agents.app.none.why')}
              </Empty>
            );
          return (
            <PagedTable
              list={list}
              minWidth={560}
              columns={[
                { label: t('agents.name') },
                { label: t('agents.app.client'), isExtra: true },
                { label: t('agents.created') },
              ]}
            >
              {rows.map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td maw={{ base: 200, sm: 320 }} className="clip" title={one.name}>
                    <PageLink to={`/agents/applications/${one.id}`} size="sm" fw={600}>
                      {one.name}
                    </PageLink>
                  </Table.Td>
                  <Table.Td maw={320} className="clip">
                    <Text size="sm" ff="monospace">
                      {one.client_id}
                    </Text>
                  </Table.Td>
                  <Table.Td c="dimmed">
                    <Ago at={one.created_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </PagedTable>
          );
        }}
      </Answered>
      <Modal opened={isOpen} onClose={form.close} title={t('agents.app.new')} size="lg">
        <NewApplication onDone={form.close} />
      </Modal>
    </AgentsPage>
  );
}

function NewApplication({ onDone }: { onDone: () => void }) {
  const t = useText();
  const [name, setName] = useState('');
  const [redirects, setRedirects] = useState('');
  const [scopes, setScopes] = useState('');
  const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const make = useAction(
    () =>
      dataOf(
        heron.POST('/v1/oauth/applications', {
          body: { name, redirect_uris: words(redirects), scopes: words(scopes) },
        }),
      ),
    { stale: [['applications']], isShown: true },
  );
  if (make.data) return <SecretOnce name={t('agents.app.secret')} value={make.data.client_secret} onDone={onDone} />;
  return (
    <Form act={make} submit={t('agents.app.create')}>
      <TextInput
        label={t('agents.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Textarea
        label={t('agents.app.redirects')}
        description={t('agents.app.redirects.why')}
        placeholder="https://app.example.com/callback"
        value={redirects}
        onChange={(event) => setRedirects(event.currentTarget.value)}
        autosize
        minRows={2}
        required
      />
      <TextInput
        label={t('agents.app.scopes')}
        description={t('agents.app.scopes.why')}
        placeholder="read_campaigns read_contacts"
        value={scopes}
        onChange={(event) => setScopes(event.currentTarget.value)}
      />
    </Form>
  );
}
