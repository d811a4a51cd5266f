import { Badge, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { Answered } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { nameOf } from '../../components/name.ts';
import { toNumber, useText } from '../../text/index.ts';

type Contact = AnswerOf<'/v1/contacts/{id}'>;

/** Loads the contact of a conversation. Loads nothing if there is no contact, or if the role may not see contacts. */
export function useContact(id: string | undefined) {
  const may = useCan('view_contacts');
  return useQuery({
    queryKey: ['contacts', id],
    enabled: may && id !== undefined,
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}', { params: { path: { id: id! } } })),
  });
}

/** Returns a contact's values by placeholder name. */
export function variablesOf(contact: Contact | undefined): Record<string, string> {
  if (!contact) return {};
  return {
    ...contact.custom_fields,
    FirstName: contact.first_name,
    LastName: contact.last_name,
    Email: contact.email,
    Company: contact.company,
    Phone: contact.phone,
  };
}

/** Panel about the sender: the contact, its campaigns and its deals. */
export function ContactPanel({ id, address }: { id: string | undefined; address: string }) {
  const t = useText();
  const may = useCan('view_contacts');
  const contact = useContact(id);
  if (!id || !may)
    return (
      <Stack gap={4}>
        <Text fw={600} size="sm" className="wrap-anywhere" title={address}>
          {shownAddress(address)}
        </Text>
        <Text size="sm" c="dimmed">
          {t('inbox.contact.none')}
        </Text>
      </Stack>
    );
  return (
    <Answered query={contact} skeleton={<Skeleton height={160} role="status" aria-label={t('loading')} />}>
      {(data) => (
        <Stack gap="md">
          <div>
            <Text fw={650} className="wrap-anywhere" dir="auto">
              {shownAddress(nameOf(data))}
            </Text>
            <Text size="sm" c="dimmed" className="wrap-anywhere" title={data.email}>
              {shownAddress(data.email)}
            </Text>
            {[data.company, data.phone].filter(Boolean).map((line) => (
              <Text key={line} size="sm" c="dimmed" className="wrap-anywhere" dir="auto">
                {line}
              </Text>
            ))}
            {data.suppression || !data.subscribed ? (
              <Badge mt={6} color="red" variant="light" tt="none">
                {t('inbox.contact.suppressed')}
              </Badge>
            ) : null}
          </div>
          <Part title={t('inbox.contact.so.far')}>
            <Text size="sm">
              {t('inbox.contact.figures', {
                sent: data.engagement.total_sent,
                replied: data.engagement.total_replied,
              })}
            </Text>
            {data.engagement.last_sent_at ? (
              <Text size="sm" c="dimmed">
                {t('inbox.contact.last')} <Ago at={data.engagement.last_sent_at} />
              </Text>
            ) : null}
          </Part>
          {data.campaigns.length > 0 ? (
            <Part title={t('inbox.contact.way')}>
              {data.campaigns.map((one) => (
                <PageLink key={one.id} to={`/campaigns/${one.id}/leads/${data.id}`} size="sm" className="wrap-anywhere">
                  {one.name}
                </PageLink>
              ))}
            </Part>
          ) : null}
          <Deals id={data.id} />
          {data.categories.length > 0 ? (
            <Group gap={4}>
              {data.categories.map((one) => (
                <Badge key={one.id} variant="default" tt="none" size="sm">
                  {one.title}
                </Badge>
              ))}
            </Group>
          ) : null}
        </Stack>
      )}
    </Answered>
  );
}

function Deals({ id }: { id: string }) {
  const t = useText();
  const deals = useQuery({
    queryKey: ['deals', 'contact', id],
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}/deals', { params: { path: { id } } })),
  });
  if (!deals.data?.length) return null;
  return (
    <Part title={t('nav.crm')}>
      {deals.data.map((deal) => (
        <Text key={deal.id} size="sm" className="wrap-anywhere" dir="auto">
          {deal.name}{' '}
          {deal.value === null ? null : (
            <Text span inherit c="dimmed">
              {toNumber(deal.value, { style: 'currency', currency: deal.currency })}
            </Text>
          )}
        </Text>
      ))}
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={2} component="section">
      <Text size="xs" fw={600} c="dimmed" component="h3" m={0}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}
