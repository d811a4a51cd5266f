import { Badge, Button, Group, NumberInput, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, queryClient, type AnswerOf, type RowOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DraftFoot } from '../../components/draft-form.tsx';
import { applyToNewest, useDraft } from '../../components/draft.ts';
import { useAction } from '../../components/action.ts';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { toNumber, toPercent, useText } from '../../text/index.ts';
import type { Flow, Step } from './flow.ts';
import { EmailContentFields } from './email-step.tsx';

type Variant = RowOf<'/v1/campaigns/{id}/ab-variants'>;
type List = AnswerOf<'/v1/campaigns/{id}/ab-variants'>;
type Editable = Pick<Variant, 'name' | 'weight' | 'subject' | 'body_plain' | 'body_html' | 'is_active' | 'updated_at'>;
const editedOf = ({ name, weight, subject, body_plain, body_html, is_active, updated_at }: Editable): Editable => ({
  name,
  weight,
  subject,
  body_plain,
  body_html,
  is_active,
  updated_at,
});

/** A/B variants of an email: their weights, their results, and the winner. */
export function Variants({ campaignId, step, flow }: { campaignId: string; step: Step; flow: Flow | undefined }) {
  const t = useText();
  const may = useCan('manage_settings');
  const [edited, edit] = useState<Variant | 'new' | null>(null);
  const variants = useQuery({
    queryKey: ['campaigns', campaignId, 'variants'],
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/ab-variants', { params: { path: { id: campaignId } } })),
  });
  const promotion = usePromotion(campaignId);
  return (
    <Stack gap="xs" component="section" aria-label={t('variants.title')}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {t('variants.title')}
        </Text>
        {may ? (
          <Button size="xs" variant="default" aria-haspopup="dialog" onClick={() => edit('new')}>
            {t('variants.add')}
          </Button>
        ) : null}
      </Group>
      <Answered query={variants} skeleton={<ListSkeleton rows={1} height={32} />}>
        {({ data }) => {
          const rows = data.filter(({ step_id }) => step_id === step.id || (step_id === null && step.position === 0));
          if (rows.length === 0)
            return (
              <Text size="xs" c="dimmed">
                {t('variants.none')}
              </Text>
            );
          return (
            <>
              <Table.ScrollContainer minWidth={420}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t('variants.name')}</Table.Th>
                      <Table.Th ta="right">{t('variants.weight')}</Table.Th>
                      <Table.Th ta="right">{t('campaigns.sent')}</Table.Th>
                      <Table.Th ta="right">{t('variants.opened')}</Table.Th>
                      <Table.Th ta="right">{t('campaigns.replyRate')}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    <Figures name={t('variants.own')} flow={flow} stepId={step.id} variantId={null} weight={null} />
                    {rows.map((variant) => (
                      <Figures
                        key={variant.id}
                        name={variant.name}
                        flow={flow}
                        stepId={step.id}
                        variantId={variant.id}
                        weight={variant.is_active ? variant.weight : 0}
                        isWinner={variant.promoted_at !== null}
                        onClick={may ? () => edit(variant) : undefined}
                      />
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
              <Evidence rows={rows} />
              {promotion.query.data ? (
                <Switch
                  size="sm"
                  label={t('variants.promote')}
                  description={t('variants.promote.why')}
                  checked={promotion.isOn}
                  onChange={(event) => promotion.set.mutate(event.currentTarget.checked)}
                  disabled={!may || promotion.set.isPending}
                />
              ) : null}
            </>
          );
        }}
      </Answered>
      {edited ? (
        <EditVariant
          campaignId={campaignId}
          step={step}
          variant={edited === 'new' ? null : (variants.data?.data.find(({ id }) => id === edited.id) ?? edited)}
          close={() => edit(null)}
        />
      ) : null}
    </Stack>
  );
}

/** Shows the figures by which a variant has won, or a note that there is no winner yet. */
function Evidence({ rows }: { rows: readonly Variant[] }) {
  const t = useText();
  const winner = rows.find(({ promotion }) => promotion !== null);
  if (!winner?.promotion)
    return (
      <Text size="xs" c="dimmed">
        {t('variants.evidence.none')}
      </Text>
    );
  const { rule, counts } = winner.promotion;
  const named = (id: string) => rows.find((one) => one.id === id)?.name ?? t('variants.gone');
  return (
    <Text size="xs" role="note">
      {t(`variants.evidence.${rule}`, { name: winner.name })}{' '}
      {counts
        .map(({ variant_id: id, sent, successes }) =>
          t('variants.evidence.of', {
            name: named(id),
            successes,
            sent,
            share: toPercent(sent > 0 ? successes / sent : 0),
          }),
        )
        .join('; ')}
    </Text>
  );
}

function Figures({
  name,
  flow,
  stepId,
  variantId,
  weight,
  isWinner = false,
  onClick,
}: {
  name: string;
  flow: Flow | undefined;
  stepId: string;
  variantId: string | null;
  weight: number | null;
  isWinner?: boolean;
  onClick?: (() => void) | undefined;
}) {
  const t = useText();
  const figures = flow?.wordings.find((one) => one.step_id === stepId && one.variant_id === variantId);
  const share = (value: number) => (figures && figures.emails_sent > 0 ? toPercent(value / 100) : '–');
  return (
    <Table.Tr>
      <Table.Td maw={160} className="clip">
        {onClick ? (
          <Button variant="transparent" size="compact-sm" px={0} aria-haspopup="dialog" onClick={onClick}>
            {name}
          </Button>
        ) : (
          name
        )}
        {isWinner ? (
          <Badge ml={6} size="sm" variant="light" color="teal" tt="none">
            {t('variants.winner')}
          </Badge>
        ) : null}
      </Table.Td>
      <Table.Td ta="right">{weight === null ? '–' : weight === 0 ? t('variants.off') : toNumber(weight)}</Table.Td>
      <Table.Td ta="right">{figures ? toNumber(figures.emails_sent) : '–'}</Table.Td>
      <Table.Td ta="right">{share(figures?.open_rate ?? 0)}</Table.Td>
      <Table.Td ta="right">{share(figures?.reply_rate ?? 0)}</Table.Td>
    </Table.Tr>
  );
}

function EditVariant({
  campaignId,
  step,
  variant,
  close,
}: {
  campaignId: string;
  step: Step;
  variant: Variant | null;
  close: () => void;
}) {
  const t = useText();
  const stale: readonly Key[] = [['campaigns', campaignId]];
  const queryKey = ['campaigns', campaignId, 'variants'] as const;
  const path = { path: { id: campaignId, variantId: variant?.id ?? '' } };
  const [own] = useState(step);
  const draft = useDraft<Editable>({
    // A new variant starts with the text that the step had when the dialog was opened.
    stored: editedOf(variant ?? { ...own, name: '', weight: 1, is_active: true, updated_at: '' }),
    write: async (changes, { updated_at: expected_updated_at, ...before }) => {
      if (!variant) {
        const { updated_at: _, ...body } = { ...before, ...changes };
        const params = { path: { id: campaignId } };
        return dataOf(heron.POST('/v1/campaigns/{id}/ab-variants', { params, body: { ...body, step_id: step.id } }));
      }
      const { warnings: _, ...stored } = await dataOf(
        heron.PATCH('/v1/campaigns/{id}/ab-variants/{variantId}', {
          params: path,
          body: { ...changes, expected_updated_at },
        }),
      );
      return queryClient.setQueryData<List>(
        queryKey,
        (list) => list && { ...list, data: list.data.map((one) => (one.id === stored.id ? stored : one)) },
      );
    },
    readAgain: async () => {
      const list = await dataOf(heron.GET('/v1/campaigns/{id}/ab-variants', { params: { path: { id: campaignId } } }));
      queryClient.setQueryData(queryKey, list);
      const stored = list.data.find(({ id }) => id === variant?.id);
      return stored && editedOf(stored);
    },
    stale,
    done: t('saved'),
    onDone: close,
  });
  const { value, change } = draft;
  const remove = useAction(() => dataOf(heron.DELETE('/v1/campaigns/{id}/ab-variants/{variantId}', { params: path })), {
    stale,
    isShown: true,
    onDone: close,
  });
  return (
    <Dialog onClose={close} title={variant ? variant.name : t('variants.add')} size="lg">
      <Stack>
        <Group grow align="flex-end">
          <TextInput
            label={t('variants.name')}
            value={value.name}
            required
            onChange={(event) => change({ name: event.currentTarget.value })}
            data-autofocus
          />
          <NumberInput
            label={t('variants.weight')}
            min={0}
            max={1000}
            value={value.weight}
            onChange={(weight) => change({ weight: Number(weight) })}
          />
        </Group>
        <Switch
          label={t('variants.active')}
          checked={value.is_active}
          onChange={(event) => change({ is_active: event.currentTarget.checked })}
        />
        <EmailContentFields
          campaignId={campaignId}
          stepId={step.id}
          variables={[]}
          wording={value}
          isFirst={step.position === 0}
          mayWrite
          change={change}
        />
        <DraftFoot
          draft={draft}
          submit={variant ? undefined : t('save')}
          names={{ name: t('variants.name'), weight: t('variants.weight'), is_active: t('variants.active') }}
          note={<ErrorNote error={remove.error} />}
          beside={
            variant ? (
              <Button variant="subtle" color="red" ml="auto" onClick={() => remove.mutate()} loading={remove.isPending}>
                {t('step.remove')}
              </Button>
            ) : null
          }
        />
      </Stack>
    </Dialog>
  );
}

/** Returns the campaign's setting for automatic selection of the winner, or else the workspace's setting. */
function usePromotion(campaignId: string) {
  const queryKey = ['campaigns', campaignId, 'advanced'] as const;
  const path = { params: { path: { id: campaignId } } };
  const query = useQuery({
    queryKey,
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/advanced', path)),
  });
  const set = useAction(
    (isOn: boolean) =>
      // Only this setting changes; all others keep their stored values.
      applyToNewest(
        query.data!,
        ({ overrides, updated_at: expected_updated_at }) =>
          dataOf(
            heron.PATCH('/v1/campaigns/{id}/advanced', {
              ...path,
              body: {
                settings: {
                  ...overrides,
                  ab_testing: { ...overrides.ab_testing, enabled: true, auto_promote_winner: isOn },
                },
                expected_updated_at,
              },
            }),
          ),
        () => dataOf(heron.GET('/v1/campaigns/{id}/advanced', path)),
      ),
    { stale: [queryKey], onDone: (stored) => queryClient.setQueryData(queryKey, stored) },
  );
  return { query, set, isOn: query.data?.overrides.ab_testing?.auto_promote_winner ?? false };
}
