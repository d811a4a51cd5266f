import { List, Stack, Text } from '@mantine/core';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Section } from '../../components/section.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

type Mailbox = AnswerOf<'/v1/emails/{id}'>;
/** Maximum number of campaigns that the confirmation names. If there are more, it states the number of the others. */
const NAMED = 8;

/** Button that disconnects a mailbox and deletes its data, after a confirmation that lists all effects. */
export function Disconnect({ mailbox: { id, email, provider, warmup, campaigns } }: { mailbox: Mailbox }) {
  const t = useText();
  const go = useGoTo();
  const may = useCan('manage_settings');
  const remove = useAction(() => dataOf(heron.DELETE('/v1/emails/{id}', { params: { path: { id } } })), {
    stale: [['campaigns'], ['inbox'], ['checklist'], ['reports']],
    done: t('mailbox.disconnect.done', { email }),
    isShown: true,
    onDone: () => {
      go('/mailboxes');
      // Refetches only the list, because the mailbox's own page is closing.
      void queryClient.invalidateQueries({ queryKey: ['mailboxes', 'list'] });
    },
  });
  if (!may) return null;
  return (
    <Section title={t('mailbox.disconnect')}>
      <Text size="sm" c="dimmed" mb="sm">
        {t('mailbox.disconnect.why')}
      </Text>
      <ConfirmButton
        size="xs"
        label={t('mailbox.disconnect')}
        title={t('mailbox.disconnect.ask', { email })}
        act={remove}
      >
        <Stack gap="sm">
          <List size="sm" spacing={6} styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}>
            <List.Item>{t('mailbox.disconnect.password')}</List.Item>
            <List.Item>{t('mailbox.disconnect.inbox')}</List.Item>
            <List.Item>{t('mailbox.disconnect.sent')}</List.Item>
            <List.Item>{t('mailbox.disconnect.planned')}</List.Item>
            {warmup ? <List.Item>{t('mailbox.disconnect.warmup')}</List.Item> : null}
            {provider === 'smtp_imap' ? null : <List.Item>{t(`mailbox.disconnect.${provider}`)}</List.Item>}
            <List.Item>
              {t(campaigns.length > 0 ? 'mailbox.disconnect.campaigns' : 'mailbox.campaigns.none')}
              {campaigns.length > 0 ? (
                <List size="sm" withPadding>
                  {campaigns.slice(0, NAMED).map((one) => (
                    <List.Item key={one.id}>{one.name}</List.Item>
                  ))}
                  {campaigns.length > NAMED ? (
                    <List.Item>{t('mailbox.disconnect.more', { count: campaigns.length - NAMED })}</List.Item>
                  ) : null}
                </List>
              ) : null}
            </List.Item>
          </List>
          <Text size="sm">{t('mailbox.disconnect.final')}</Text>
        </Stack>
      </ConfirmButton>
    </Section>
  );
}
