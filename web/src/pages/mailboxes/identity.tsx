import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { applyToNewest } from '../../components/draft.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

type Mailbox = AnswerOf<'/v1/emails/{id}'>;

/** Select for the From address of a mailbox, among those that its provider has verified. */
export function Identity({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const may = useCan('manage_settings');
  const path = { params: { path: { id: mailbox.id } } };
  const queryKey = ['mailboxes', mailbox.id, 'identity'] as const;
  const identity = useQuery({ queryKey, queryFn: () => dataOf(heron.GET('/v1/emails/{id}/identity', path)) });
  const refresh = useAction(() => dataOf(heron.POST('/v1/emails/{id}/identity/refresh', path)), {
    isShown: true,
    stale: [['mailboxes', mailbox.id]],
    onDone: (read) => queryClient.setQueryData(queryKey, read),
  });
  const choose = useAction(
    (send_as_email: string) =>
      applyToNewest(
        mailbox,
        ({ updated_at: expected_updated_at }) =>
          dataOf(heron.PATCH('/v1/emails/{id}', { ...path, body: { send_as_email, expected_updated_at } })),
        () => dataOf(heron.GET('/v1/emails/{id}', path)),
      ),
    { isShown: true, stale: [['mailboxes', mailbox.id]], done: t('saved') },
  );
  return (
    <Section title={t('identity.title')}>
      <Answered query={identity} skeleton={<ListSkeleton rows={2} height={36} />}>
        {({ identities, mailbox_email: own, send_as_email: chosen, synced_at: at }) => (
          <Stack gap="sm">
            <Select
              label={t('identity.address')}
              description={t('identity.why')}
              data={[
                { value: '', label: t('identity.own', { email: shownAddress(own) }) },
                ...identities
                  .filter(({ email }) => email !== own)
                  .map(({ email, verified }) => ({
                    value: email,
                    label: verified ? shownAddress(email) : t('identity.unverified', { email: shownAddress(email) }),
                    disabled: !verified,
                  })),
              ]}
              value={choose.isPending ? choose.variables : chosen}
              onChange={(email) => (email !== null && email !== chosen ? choose.mutate(email) : undefined)}
              allowDeselect={false}
              readOnly={!may || choose.isPending}
            />
            <Text size="sm" c="dimmed">
              {t('identity.read')}: {at ? <Ago at={at} /> : t('mailboxes.never')}
            </Text>
            <ErrorNote error={choose.error ?? refresh.error} />
            {may ? (
              <Group>
                <Button size="xs" variant="default" onClick={() => refresh.mutate()} loading={refresh.isPending}>
                  {t('identity.refresh')}
                </Button>
              </Group>
            ) : null}
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
