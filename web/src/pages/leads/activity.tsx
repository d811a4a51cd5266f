import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../components/filter.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';
import { ContactEmails, ContactTimeline } from './history.tsx';

const PARTS = ['overview', 'emails', 'events'] as const;

/** Activity of a contact: an overview, the emails, or all single events. The URL contains the choice. */
export function Activity({ id }: { id: string }) {
  const t = useText();
  const [given, setPart] = useFilter('history');
  const part = PARTS.find((one) => one === given) ?? 'overview';
  return (
    <Section
      title={t('leads.activity')}
      action={
        <SegmentedControl
          size="xs"
          aria-label={t('leads.history')}
          value={part}
          onChange={(value) => setPart(value === 'overview' ? '' : value)}
          data={PARTS.map((value) => ({ value, label: t(`leads.history.${value}`) }))}
        />
      }
    >
      {part === 'overview' ? <Overview id={id} /> : null}
      {part === 'emails' ? <ContactEmails id={id} /> : null}
      {part === 'events' ? <ContactTimeline id={id} /> : null}
    </Section>
  );
}

/** Emails, replies, product events and actions of the team, latest first. */
function Overview({ id }: { id: string }) {
  const t = useText();
  const maySeeEmails = useCan('view_analytics');
  const items = useQuery({
    queryKey: ['contacts', id, 'activity'],
    queryFn: async () => {
      const [happened, done] = await Promise.all([
        maySeeEmails
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
  );
}
