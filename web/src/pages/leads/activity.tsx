import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';

/** Activity of a contact, latest first: emails, replies, product events and actions of the team. */
export function Activity({ id }: { id: string }) {
  const t = useText();
  const maySeeLetters = useCan('view_analytics');
  const items = useQuery({
    queryKey: ['contacts', id, 'activity'],
    queryFn: async () => {
      const [happened, done] = await Promise.all([
        maySeeLetters
          ? dataOf(heron.GET('/v1/acquisition/prospects/{contactId}/timeline', { params: { path: { contactId: id } } }))
          : { data: [] },
        dataOf(heron.GET('/v1/contacts/{id}/activities', { params: { path: { id }, query: { limit: 100 } } })),
      ]);
      return [
        ...happened.data.map(({ id: key, kind, at, title, campaign_id }) => ({
          key,
          at,
          kind: `timeline.${kind}`,
          title: kind === 'enrollment' ? textOf('lead.status', title ?? '') : (title ?? ''),
          to: campaign_id ? (`/campaigns/${campaign_id}` as const) : undefined,
        })),
        ...done.data.map(({ id: key, activity_type, created_at, user, metadata }) => ({
          key,
          at: created_at,
          kind: `done.${activity_type}`,
          title: user?.name ?? '',
          to: typeof metadata.deal_id === 'string' ? (`/crm/deals/${metadata.deal_id}` as const) : undefined,
        })),
      ].toSorted((a, b) => b.at.localeCompare(a.at));
    },
  });
  return (
    <Section title={t('leads.activity')}>
      <Answered query={items} skeleton={<ListSkeleton rows={4} height={24} />}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('leads.activity.none')}
            </Text>
          ) : (
            <Stack gap={6}>
              {list.map(({ key, at, kind, title, to }) => (
                <Group key={kind + key} gap="xs" wrap="nowrap" align="baseline">
                  <Text size="sm" miw={0} flex={1} className="wrap-anywhere">
                    {to ? (
                      <PageLink to={to} inherit underline="always">
                        {textOf('leads', kind)}
                      </PageLink>
                    ) : (
                      textOf('leads', kind)
                    )}
                    {title ? <Text span inherit c="dimmed">{` ${title}`}</Text> : null}
                  </Text>
                  <Text size="sm" c="dimmed" flex="none">
                    <Ago at={at} />
                  </Text>
                </Group>
              ))}
            </Stack>
          )
        }
      </Answered>
    </Section>
  );
}
