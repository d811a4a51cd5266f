import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { PageLink } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

/** Shows and changes the tracking domain of a mailbox. A new domain is checked before it is saved. */
export function TrackingDomain({ mailbox }: { mailbox: AnswerOf<'/v1/emails/{id}'> }) {
  const t = useText();
  const may = useCan('manage_settings');
  const { tracking_domain: stored, tracking_domain_verified: isInUse, tracking_domain_verified_at: at } = mailbox;
  const [typed, setTyped] = useState<string>();
  const domain = typed ?? stored;
  const save = useAction(
    (wanted: string) =>
      dataOf(
        heron.PATCH('/v1/emails/{id}/track', {
          params: { path: { id: mailbox.id }, query: wanted ? { domain: wanted } : {} },
        }),
      ),
    { stale: [['mailboxes']], isShown: true, done: t('saved'), onDone: () => setTyped(undefined) },
  );
  return (
    <Section
      title={t('track.title')}
      action={
        stored ? (
          <Badge variant="light" color={isInUse ? 'teal' : 'yellow'} tt="none">
            {t(isInUse ? 'track.inUse' : 'track.notInUse')}
          </Badge>
        ) : null
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(domain);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('track.domain')}
            description={t('track.why')}
            placeholder={t('track.domain.none')}
            value={typed ?? shownAddress(stored)}
            onChange={(event) => setTyped(event.currentTarget.value.trim())}
            readOnly={!may}
          />
          {at ? (
            <Text size="sm" c="dimmed">
              {t('track.checked')} <Ago at={at} />
            </Text>
          ) : null}
          <ErrorNote error={save.error} />
          <Group gap="xs">
            {may ? (
              <Button size="xs" variant="default" type="submit" loading={save.isPending} disabled={!stored && !domain}>
                {t(domain ? 'track.check' : 'track.clear')}
              </Button>
            ) : null}
            <PageLink to="/settings/domains" size="sm">
              {t('track.records')}
            </PageLink>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
