import { Button, Group, Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

type Waiting = AnswerOf<'/v1/unibox/scheduled'>['data'][number];

/** Loads the unsent emails that were written in Heron, of one conversation or of all. */
export function useWaiting(threadId?: string) {
  return useQuery({
    queryKey: ['inbox', 'scheduled', threadId],
    queryFn: () =>
      dataOf(heron.GET('/v1/unibox/scheduled', { params: { query: threadId ? { thread_id: threadId } : {} } })),
  });
}

/** Card of an unsent email: its time, the reason of its wait, and a button to cancel it. */
export function WaitingCard({ email }: { email: Waiting }) {
  const t = useText();
  const may = useCan('send_campaigns');
  const cancel = useAction(
    () => dataOf(heron.DELETE('/v1/unibox/scheduled/{taskId}', { params: { path: { taskId: email.task_id } } })),
    { stale: [['inbox']], done: t('inbox.cancelled') },
  );
  return (
    <Paper withBorder radius="md" p="sm" component="article" className="inbox-waiting" aria-label={t('inbox.waiting')}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {email.state === 'awaiting_approval' ? `${t('inbox.waiting.approval')} · ` : `${t('inbox.waiting')} `}
            <Ago at={email.scheduled_at} c="dimmed" fw={400} />
          </Text>
          <Text size="sm" c="dimmed" className="clip" dir="auto" title={`${email.to.join(', ')} · ${email.subject}`}>
            {email.to.map(shownAddress).join(', ')} · {email.subject}
          </Text>
          <Text size="sm" className="clip" dir="auto" title={email.snippet}>
            {email.snippet}
          </Text>
          {(email.blocked_reason ?? email.waiting_for) ? (
            <Text size="xs" c="dimmed">
              {email.blocked_reason ?? email.waiting_for ?? ''}
            </Text>
          ) : null}
        </div>
        {may ? (
          <Button
            size="xs"
            variant="default"
            onClick={() => cancel.mutate()}
            loading={cancel.isPending}
            style={{ flex: 'none' }}
          >
            {t('inbox.cancel')}
          </Button>
        ) : null}
      </Group>
    </Paper>
  );
}
