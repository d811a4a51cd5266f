import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { useCampaigns } from '../../components/choices.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/facts.tsx';
import { Form } from '../../components/form.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';

type Explanation = AnswerOf<'/v1/acquisition/attributions/{personId}'>;

/** Value of the option that no email gets the credit. */
const NOBODY = 'none';
/** Queries that a correction makes stale. */
const STALE = [['reports']] as const;

/** Dialog about one customer: the credited email, its reasons, and a correction with its history. */
export default function CreditDialog({
  personId,
  email,
  close,
}: {
  personId: string;
  email: string;
  close: () => void;
}) {
  const t = useText();
  const mayCorrect = useCan('manage_settings');
  const explanation = useQuery({
    queryKey: ['reports', 'credit', personId],
    queryFn: () => dataOf(heron.GET('/v1/acquisition/attributions/{personId}', { params: { path: { personId } } })),
  });
  return (
    <Dialog title={t('credit.of', { email })} onClose={close} size="lg">
      <Answered query={explanation} skeleton={<ListSkeleton rows={4} height={32} />}>
        {(data) => (
          <Stack gap="lg">
            <Credited data={data} />
            {mayCorrect && data.acquisition ? <Correct personId={personId} data={data} /> : null}
            <Corrections data={data} personId={personId} mayCorrect={mayCorrect} />
          </Stack>
        )}
      </Answered>
    </Dialog>
  );
}

function Credited({ data: { acquisition, credit, company_estimate: estimate, pending } }: { data: Explanation }) {
  const t = useText();
  if (!acquisition) return <Text size="sm">{t('credit.none')}</Text>;
  const campaign = credit ? (credit.campaign_name ?? t('credit.removed')) : t('credit.nobody');
  return (
    <Stack gap="xs">
      <Facts
        rows={[
          [t('credit.goal'), acquisition.goal.name],
          [t('credit.acquired'), toDateTime(acquisition.acquired_at)],
          [t('credit.email'), campaign],
          [t('credit.sent'), credit ? toDateTime(credit.sent_at) : null],
          [t('credit.opened'), credit?.opened_at ? toDateTime(credit.opened_at) : null],
          [t('credit.clicked'), credit?.clicked_at ? toDateTime(credit.clicked_at) : null],
          [t('credit.replied'), credit?.replied_at ? toDateTime(credit.replied_at) : null],
          [t('credit.match'), textOf('reports.match', acquisition.match_method ?? 'none')],
          [t('credit.colleague'), estimate ? (estimate.campaign_name ?? t('credit.removed')) : null],
        ]}
      />
      {acquisition.corrected ? (
        <Badge variant="light" color="yellow" tt="none">
          {t('reports.corrected')}
        </Badge>
      ) : null}
      {pending ? (
        <Text size="sm" c="dimmed">
          {t('credit.pending')}
        </Text>
      ) : null}
    </Stack>
  );
}

function Correct({ personId, data }: { personId: string; data: Explanation }) {
  const t = useText();
  const [sendId, choose] = useState(data.credit?.send_id ?? NOBODY);
  const [reason, setReason] = useState('');
  const nameOfCampaign = useCampaignNames();
  const correct = useAction(
    () =>
      dataOf(
        heron.PUT('/v1/acquisition/attributions/{personId}/correction', {
          params: { path: { personId } },
          body: { send_id: sendId === NOBODY ? null : sendId, reason },
        }),
      ),
    { stale: STALE, done: t('credit.corrected'), isShown: true, onDone: () => setReason('') },
  );
  return (
    <Form act={correct} submit={t('credit.correct')}>
      <Select
        label={t('credit.choose')}
        description={t('credit.choose.why')}
        data={[
          ...data.candidate_sends.map((send) => ({
            value: send.send_id,
            label: [
              nameOfCampaign(send.campaign_id),
              toDateTime(send.sent_at),
              ...(send.in_window ? [] : [t('credit.outside')]),
            ].join(', '),
          })),
          { value: NOBODY, label: t('credit.nobody') },
        ]}
        value={sendId}
        onChange={(value) => choose(value ?? NOBODY)}
        allowDeselect={false}
      />
      <TextInput
        label={t('credit.reason')}
        required
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </Form>
  );
}

/** List of the corrections of the credit, latest first. The correction in force can be withdrawn. */
function Corrections({
  data: { corrections },
  personId,
  mayCorrect,
}: {
  data: Explanation;
  personId: string;
  mayCorrect: boolean;
}) {
  const t = useText();
  const restore = useAction(
    () =>
      dataOf(heron.DELETE('/v1/acquisition/attributions/{personId}/correction', { params: { path: { personId } } })),
    { stale: STALE, done: t('credit.restored'), isShown: true },
  );
  if (corrections.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label={t('credit.history')}>
      <Text size="sm" fw={600}>
        {t('credit.history')}
      </Text>
      {corrections.map((one) => (
        <Text key={one.id} size="sm" className="wrap-anywhere">
          {toDateTime(one.created_at)}
          {': '}
          {t(one.action === 'restored' ? 'credit.wasRestored' : one.send_id ? 'credit.wasSet' : 'credit.wasNobody')}
          {one.reason ? ` (${one.reason})` : ''}
        </Text>
      ))}
      <ErrorNote error={restore.error} />
      {mayCorrect && corrections.some((one) => one.is_current) ? (
        <Group>
          <Button size="xs" variant="default" onClick={() => restore.mutate()} loading={restore.isPending}>
            {t('credit.restore')}
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function useCampaignNames(): (id: string) => string {
  const t = useText();
  const campaigns = useCampaigns();
  return (id) => campaigns.data?.data.find((one) => one.id === id)?.name ?? t('credit.removed');
}
