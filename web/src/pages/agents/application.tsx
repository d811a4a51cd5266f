import { Button, Group, SimpleGrid, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { ApplicationForm } from './application-form.tsx';
import { ApplicationWebhooks } from './application-webhooks.tsx';

type Application = RowOf<'/v1/oauth/applications'>;

/** Page of one OAuth application: its data, client secret, webhooks and removal. */
export default function ApplicationPage() {
  const t = useText();
  const { id } = useParams({ from: '/agents/applications/$id' });
  const [isOpen, form] = useDisclosure();
  const application = useQuery({
    queryKey: ['applications', id],
    queryFn: () => dataOf(heron.GET('/v1/oauth/applications/{id}', { params: { path: { id } } })),
  });
  return (
    <Page
      title={application.data?.name ?? t('agents.app')}
      lead={application.data?.description}
      back={{ to: '/agents/applications', label: t('agents.applications') }}
      actions={
        application.data ? (
          <>
            <Button variant="default" aria-haspopup="dialog" onClick={form.open}>
              {t('agents.edit')}
            </Button>
            <Remove id={id} />
          </>
        ) : null
      }
    >
      <Answered query={application} skeleton={<ListSkeleton rows={3} height={120} />}>
        {(data) => (
          <Stack>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <About application={data} />
              <ClientSecret id={id} />
            </SimpleGrid>
            <ApplicationWebhooks application={data} />
            {isOpen ? (
              <Dialog onClose={form.close} title={t('agents.app.edit')} size="lg">
                <ApplicationForm application={data} onDone={form.close} />
              </Dialog>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Page>
  );
}

function About({ application }: { application: Application }) {
  const t = useText();
  return (
    <Section title={t('agents.app')}>
      <Facts
        rows={[
          [t('agents.app.client'), application.client_id],
          [t('agents.app.redirects'), application.redirect_uris.join(', ')],
          [t('agents.app.scopes'), application.scopes.join(', ')],
          [t('agents.app.website'), application.website_url],
          [t('agents.created'), toDateTime(application.created_at)],
        ]}
      />
    </Section>
  );
}

function ClientSecret({ id }: { id: string }) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const rotate = useAction(
    () => dataOf(heron.POST('/v1/oauth/applications/{id}/rotate-secret', { params: { path: { id } } })),
    { isShown: true, onDone: (answer) => setSecret(answer.client_secret) },
  );
  return (
    <Section title={t('agents.app.secret')}>
      <Stack gap="sm">
        {secret ? (
          <SecretOnce name={t('agents.app.secret')} value={secret} onDone={() => setSecret(undefined)} />
        ) : null}
        <Group>
          <ConfirmButton size="xs" act={rotate} label={t('agents.app.rotate')} title={t('agents.app.rotate.ask')}>
            {t('agents.app.rotate.why')}
          </ConfirmButton>
        </Group>
      </Stack>
    </Section>
  );
}

function Remove({ id }: { id: string }) {
  const t = useText();
  const go = useGoTo();
  const remove = useAction(() => dataOf(heron.DELETE('/v1/oauth/applications/{id}', { params: { path: { id } } })), {
    isShown: true,
    onDone: () => go('/agents/applications'),
  });
  return (
    <ConfirmButton act={remove} label={t('agents.delete')} title={t('agents.app.delete.ask')}>
      {t('agents.app.delete.why')}
    </ConfirmButton>
  );
}
