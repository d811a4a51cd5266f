import { Button, Modal, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import IconWebhook from 'tabler:webhook';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { DeliveryList } from './deliveries.tsx';
import { Dropped } from './dropped.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { OperatorPage } from './frame.tsx';

/** Page of all webhook endpoints and their deliveries. */
export default function WebhooksPage() {
  const t = useText();
  const go = useGoTo();
  const [isOpen, form] = useDisclosure();
  const endpoints = useQuery({ queryKey: ['operator', 'webhooks'], queryFn: () => dataOf(heron.GET('/v1/webhooks')) });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={form.open}>
      {t('operator.webhook.new')}
    </Button>
  );
  return (
    <OperatorPage actions={add}>
      <Answered query={endpoints} skeleton={<ListSkeleton rows={3} />}>
        {({ endpoints: rows }) =>
          rows.length === 0 ? (
            <Empty icon={IconWebhook} title={t('operator.webhook.none')}>
              {t('operator.webhook.none.why')}
            </Empty>
          ) : (
            <>
              <Section title={t('operator.webhook.endpoints')}>
                <Table.ScrollContainer minWidth={640}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>{t('operator.webhook.url')}</Table.Th>
                        <Table.Th>{t('operator.state')}</Table.Th>
                        <Table.Th ta="right">{t('operator.webhook.types')}</Table.Th>
                        <Table.Th>{t('operator.webhook.lastSuccess')}</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {rows.map((one) => (
                        <Table.Tr key={one.id}>
                          <Table.Td maw={{ base: 150, sm: 420 }} className="clip">
                            <PageLink to={`/operations/webhooks/${one.id}`} fw={600} size="sm" title={one.url}>
                              {one.url}
                            </PageLink>
                            <Text size="xs" c="dimmed" className="clip">
                              {one.description}
                            </Text>
                          </Table.Td>
                          <Table.Td>
                            <EndpointState endpoint={one} />
                          </Table.Td>
                          <Table.Td ta="right">
                            {one.event_types.length > 0
                              ? toNumber(one.event_types.length)
                              : t('operator.webhook.allTypes')}
                          </Table.Td>
                          <Table.Td c="dimmed">
                            {one.last_success_at ? <Ago at={one.last_success_at} /> : t('operator.never')}
                          </Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
              </Section>
              <Dropped endpoints={rows} />
              <DeliveryList />
            </>
          )
        }
      </Answered>
      <Modal opened={isOpen} onClose={form.close} title={t('operator.webhook.new')} size="lg">
        <EndpointForm
          onSaved={(id) => {
            form.close();
            go(`/operations/webhooks/${id}`);
          }}
        />
      </Modal>
    </OperatorPage>
  );
}
