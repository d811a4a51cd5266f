import { Alert, Badge, Button, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import IconWebhook from 'tabler:webhook';
import { DeliveryList } from './deliveries.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointState, type Endpoint } from './endpoint-state.tsx';

/** Page of one webhook endpoint: state, secret, events and deliveries. */
export default function WebhookPage() {
  const t = useText();
  const { id } = useParams({ from: '/operations/webhooks/$id' });
  const endpoints = useQuery({ queryKey: ['operator', 'webhooks'], queryFn: () => dataOf(heron.GET('/v1/webhooks')) });
  const endpoint = endpoints.data?.endpoints.find((one) => one.id === id);
  return (
    <Page
      title={endpoint?.url ?? t('operator.webhook')}
      lead={
        endpoint ? (
          <Group gap="xs">
            <EndpointState endpoint={endpoint} />
            <span className="wrap-anywhere">{endpoint.description}</span>
          </Group>
        ) : null
      }
      back={{ to: '/operations/webhooks', label: t('operator.webhooks') }}
      actions={endpoint ? <Remove endpoint={endpoint} /> : null}
    >
      <Answered query={endpoints} skeleton={<ListSkeleton rows={3} height={110} />}>
        {() =>
          endpoint ? (
            <>
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <Receiver endpoint={endpoint} />
                <Secret endpoint={endpoint} />
              </SimpleGrid>
              <DeliveryList endpointId={endpoint.id} />
            </>
          ) : (
            <Empty icon={IconWebhook} title={t('error.lost')}>
              {t('error.lost.why')}
            </Empty>
          )
        }
      </Answered>
    </Page>
  );
}

function Receiver({ endpoint }: { endpoint: Endpoint }) {
  const t = useText();
  const [isOpen, form] = useDisclosure();
  const path = { params: { path: { id: endpoint.id } } };
  const verify = useAction(() => dataOf(heron.POST('/v1/webhooks/{id}/verify', path)), {
    stale: [['operator', 'webhooks']],
    isShown: true,
  });
  const result = verify.data;
  return (
    <Section
      title={t('operator.webhook.receiver')}
      action={
        <Button size="xs" variant="default" aria-haspopup="dialog" onClick={form.open}>
          {t('operator.webhook.edit')}
        </Button>
      }
    >
      <Stack gap="sm">
        {endpoint.disabled_reason ? (
          <Alert color="red" variant="light">
            {endpoint.disabled_reason}
          </Alert>
        ) : null}
        <Facts
          rows={[
            [
              t('operator.webhook.verified'),
              endpoint.verified_at ? <Ago at={endpoint.verified_at} /> : t('operator.webhook.notVerified'),
            ],
            [
              t('operator.webhook.lastSuccess'),
              endpoint.last_success_at ? <Ago at={endpoint.last_success_at} /> : null,
            ],
            [
              t('operator.webhook.lastFailure'),
              endpoint.last_failure_at ? <Ago at={endpoint.last_failure_at} /> : null,
            ],
            [t('operator.reason'), endpoint.last_failure_reason],
          ]}
        />
        <Group gap={4}>
          {endpoint.event_types.length > 0 ? (
            endpoint.event_types.map((type) => (
              <Badge key={type} variant="default" tt="none" fw={500}>
                {type}
              </Badge>
            ))
          ) : (
            <Text size="sm" c="dimmed">
              {t('operator.webhook.types.all')}
            </Text>
          )}
        </Group>
        {result ? (
          <Alert color={result.passed ? 'teal' : 'red'} variant="light" role="status">
            {result.passed
              ? t('operator.webhook.passed', { ms: result.latency_ms, status: result.status })
              : result.reason
                ? result.reason
                : t('operator.webhook.failed')}
          </Alert>
        ) : null}
        <ErrorNote error={verify.error} />
        <Group>
          <Button size="xs" variant="default" onClick={() => verify.mutate()} loading={verify.isPending}>
            {t(endpoint.verified_at ? 'operator.webhook.test' : 'operator.webhook.verify')}
          </Button>
        </Group>
      </Stack>
      <Modal opened={isOpen} onClose={form.close} title={t('operator.webhook.edit')} size="lg">
        <EndpointForm endpoint={endpoint} onSaved={form.close} />
      </Modal>
    </Section>
  );
}

function Remove({ endpoint: { id } }: { endpoint: Endpoint }) {
  const t = useText();
  const go = useGoTo();
  const remove = useAction(() => dataOf(heron.DELETE('/v1/webhooks/{id}', { params: { path: { id } } })), {
    stale: [['operator', 'webhooks']],
    isShown: true,
    done: t('operator.webhook.deleted'),
    onDone: () => go('/operations/webhooks'),
  });
  return (
    <ConfirmButton
      act={remove}
      label={t('operator.webhook.delete')}
      title={t('operator.webhook.delete.ask')}
      variant="subtle"
      color="red"
    >
      {t('operator.webhook.delete.why')}
    </ConfirmButton>
  );
}

function Secret({ endpoint: { id } }: { endpoint: Endpoint }) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const path = { params: { path: { id } } };
  const rotate = useAction(() => dataOf(heron.POST('/v1/webhooks/{id}/rotate-secret', path)), {
    isShown: true,
    onDone: (answer) => setSecret(answer.secret),
  });
  return (
    <Section title={t('operator.webhook.secret')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('operator.webhook.secret.why')}
        </Text>
        {secret ? (
          <SecretOnce name={t('operator.webhook.secret')} value={secret} onDone={() => setSecret(undefined)} />
        ) : null}
        <Group gap="xs">
          <ConfirmButton
            size="xs"
            act={rotate}
            label={t('operator.webhook.rotate')}
            title={t('operator.webhook.rotate.ask')}
          >
            {t('operator.webhook.rotate.why')}
          </ConfirmButton>
        </Group>
      </Stack>
    </Section>
  );
}
