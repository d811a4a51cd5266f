import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconApps from 'tabler:apps';
import IconPlus from 'tabler:plus';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Form } from '../../components/form.tsx';
import { isEmptyList, More, usePaged } from '../../components/paged.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';

type Application = RowOf<'/v1/oauth/applications'>;

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
            <Stack>
              {rows.map((application) => (
                <ApplicationCard key={application.id} application={application} />
              ))}
            </Stack>
          );
        }}
      </Answered>
      <More list={list} />
      <Modal opened={isOpen} onClose={form.close} title={t('agents.app.new')} size="lg">
        <NewApplication onDone={form.close} />
      </Modal>
    </AgentsPage>
  );
}

function ApplicationCard({ application }: { application: Application }) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const path = { params: { path: { id: application.id } } };
  const rotate = useAction(() => dataOf(heron.POST('/v1/oauth/applications/{id}/rotate-secret', path)), {
    isShown: true,
    onDone: (answer) => setSecret(answer.client_secret),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/oauth/applications/{id}', path)), {
    stale: [['applications']],
    isShown: true,
  });
  return (
    <Section title={application.name}>
      <Stack gap="sm">
        <Facts
          rows={[
            [t('agents.app.client'), application.client_id],
            [t('agents.app.redirects'), application.redirect_uris.join(', ')],
            [t('agents.app.scopes'), application.scopes.join(', ')],
            [t('agents.created'), <Ago key="at" at={application.created_at} />],
          ]}
        />
        {secret ? (
          <SecretOnce name={t('agents.app.secret')} value={secret} onDone={() => setSecret(undefined)} />
        ) : null}
        <Group gap="xs">
          <ConfirmButton size="xs" act={rotate} label={t('agents.app.rotate')} title={t('agents.app.rotate.ask')}>
            {t('agents.app.rotate.why')}
          </ConfirmButton>
          <ConfirmButton size="xs" act={remove} label={t('agents.delete')} title={t('agents.app.delete.ask')}>
            {t('agents.app.delete.why')}
          </ConfirmButton>
        </Group>
      </Stack>
    </Section>
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
