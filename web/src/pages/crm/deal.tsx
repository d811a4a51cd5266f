import { Badge, Button, Group, Modal, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf, heron, queryClient, type AnswerOf, type BodyOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { useMembers } from '../../components/choices.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { amountProps, CURRENCIES, toMoney } from '../../components/money.ts';
import { ContactSelect } from '../../components/contact-select.tsx';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { nameOf } from '../../components/name.ts';
import { Form } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { usePipelines } from './deals.ts';
import { NewTask } from './new-task.tsx';
import { TaskList } from './task-list.tsx';

type OneDeal = AnswerOf<'/v1/crm/deals/{id}'>;
type Edit = BodyOf<'/v1/crm/deals/{id}', 'patch'>;
/** Editable part of a deal. The closing date is a day without a time. */
type Edited = Pick<
  OneDeal,
  'name' | 'value' | 'currency' | 'stage_id' | 'contact_id' | 'assigned_to' | 'updated_at'
> & { expected_close_date: string };
const editedOf = (deal: OneDeal): Edited => ({
  name: deal.name,
  value: deal.value,
  currency: deal.currency,
  stage_id: deal.stage_id,
  contact_id: deal.contact_id,
  assigned_to: deal.assigned_to,
  expected_close_date: deal.expected_close_date?.slice(0, 10) ?? '',
  updated_at: deal.updated_at,
});
const stale: readonly Key[] = [['deals'], ['contacts']];

/** Page of one deal: value, stage, outcome and tasks. */
export default function DealPage() {
  const t = useText();
  const { id } = useParams({ from: '/crm/deals/$id' });
  const mayWrite = useCan('manage_contacts');
  const deal = useQuery({
    queryKey: ['deals', id],
    queryFn: () => dataOf(heron.GET('/v1/crm/deals/{id}', { params: { path: { id } } })),
  });
  const { data } = deal;
  return (
    <Page
      title={data?.name ?? t('crm.deal')}
      lead={data ? <DealState deal={data} /> : null}
      back={{ to: data ? `/crm?pipeline=${data.pipeline_id}` : '/crm', label: t('crm.board') }}
      actions={data && mayWrite ? <Outcome deal={data} /> : null}
    >
      <Answered query={deal} skeleton={<ListSkeleton rows={2} height={200} />}>
        {(one) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Section title={t('crm.deal')}>
              <EditDeal key={one.id} deal={one} mayWrite={mayWrite} />
            </Section>
            <Section
              title={t('nav.tasks')}
              action={mayWrite ? <NewTask deal={{ id, contact_id: one.contact_id }} /> : null}
            >
              <TaskList filters={{ deal_id: id }} none={t('crm.deal.noTasks')} />
            </Section>
          </SimpleGrid>
        )}
      </Answered>
    </Page>
  );
}

/** Fits the three buttons in one row on a phone. */
const NARROW = { base: 'xs', sm: 'md' };
const COLORS = { open: 'blue', won: 'teal', lost: 'gray' } as const;

function DealState({ deal }: { deal: OneDeal }) {
  const t = useText();
  const ended = deal.won_at ?? deal.lost_at;
  return (
    <Group gap="xs" className="facts-in-row">
      <Badge variant="light" color={COLORS[deal.status]} tt="none">
        {t(`crm.status.${deal.status}`)}
      </Badge>
      {deal.value === null ? null : <span className="figures">{toMoney(deal.value, deal.currency)}</span>}
      {ended ? <Ago at={ended} /> : null}
      {deal.lost_reason ? <span className="wrap-anywhere">{deal.lost_reason}</span> : null}
      {deal.contact_id ? <PageLink to={`/leads/${deal.contact_id}`}>{t('crm.contact.open')}</PageLink> : null}
    </Group>
  );
}

/** Buttons for winning, losing (with a reason), reopening and deleting a deal. */
function Outcome({ deal }: { deal: OneDeal }) {
  const t = useText();
  const go = useGoTo();
  const [isOpen, dialog] = useDisclosure();
  const [reason, setReason] = useState('');
  const path = { params: { path: { id: deal.id } } };
  const end = useAction((body: Edit) => dataOf(heron.PATCH('/v1/crm/deals/{id}', { ...path, body })), {
    stale,
    done: t('saved'),
    onDone: dialog.close,
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/crm/deals/{id}', path)), {
    stale: [['deals', 'list'], ['deals', 'board'], ['contacts']],
    isShown: true,
    onDone: () => go('/crm'),
  });
  return (
    <>
      <ConfirmButton label={t('crm.deal.remove')} title={t('crm.deal.remove.ask')} act={remove} c="red" px={NARROW}>
        {t('crm.deal.remove.why')}
      </ConfirmButton>
      {deal.status === 'open' ? (
        <>
          <Button variant="default" aria-haspopup="dialog" onClick={dialog.open} px={NARROW}>
            {t('crm.lose')}
          </Button>
          <Button onClick={() => end.mutate({ status: 'won' })} loading={end.isPending} px={NARROW}>
            {t('crm.win')}
          </Button>
        </>
      ) : (
        <Button
          variant="default"
          onClick={() => end.mutate({ status: 'open', lost_reason: null })}
          loading={end.isPending}
        >
          {t('crm.reopen')}
        </Button>
      )}
      <Modal opened={isOpen} onClose={dialog.close} title={t('crm.lose')}>
        <Form
          act={{
            mutate: () => end.mutate({ status: 'lost', lost_reason: reason || null }),
            error: end.error,
            isPending: end.isPending,
          }}
          submit={t('crm.lose')}
        >
          <TextInput
            label={t('crm.lose.why')}
            maxLength={1000}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </Form>
      </Modal>
    </>
  );
}

function EditDeal({ deal, mayWrite }: { deal: OneDeal; mayWrite: boolean }) {
  const t = useText();
  const pipelines = usePipelines();
  const { person } = usePerson();
  const [isChoosing, chooseMember] = useState(false);
  const isOfOther = deal.assigned_to !== null && deal.assigned_to !== person.id;
  const members = useMembers(isChoosing || isOfOther).data ?? [{ value: person.id, label: nameOf(person) }];
  const path = { params: { path: { id: deal.id } } };
  const keep = (stored: OneDeal) => {
    queryClient.setQueryData(['deals', deal.id], stored);
    return editedOf(stored);
  };
  const draft = useDraft<Edited>({
    stored: editedOf(deal),
    write: async ({ expected_close_date: day, ...changes }, { updated_at: expected_updated_at }) =>
      keep(
        await dataOf(
          heron.PATCH('/v1/crm/deals/{id}', {
            ...path,
            body: {
              ...changes,
              ...(day === undefined ? {} : { expected_close_date: day ? `${day}T00:00:00Z` : null }),
              expected_updated_at,
            },
          }),
        ),
      ),
    readAgain: async () => keep(await dataOf(heron.GET('/v1/crm/deals/{id}', path))),
    stale,
    done: t('saved'),
  });
  const { value, change } = draft;
  const pipeline = pipelines.data?.find(({ id }) => id === deal.pipeline_id);
  const stages = pipeline?.stages ?? [];
  const fields = (
    <>
      <TextInput
        label={t('crm.deal.name')}
        required
        maxLength={255}
        readOnly={!mayWrite}
        value={value.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <SimpleGrid cols={2}>
        <NumberInput
          label={t('crm.value')}
          min={0}
          readOnly={!mayWrite}
          value={value.value ?? ''}
          onChange={(amount) => change({ value: amount === '' ? null : Number(amount) })}
          {...amountProps()}
        />
        <Select
          label={t('crm.currency')}
          data={CURRENCIES}
          value={value.currency}
          onChange={(currency) => change({ currency: currency ?? value.currency })}
          allowDeselect={false}
          searchable
          readOnly={!mayWrite}
        />
        <Select
          label={t('crm.stage')}
          data={stages.map(({ id, name }) => ({ value: id, label: name }))}
          value={value.stage_id}
          onChange={(stage) => change({ stage_id: stage ?? value.stage_id })}
          allowDeselect={false}
          readOnly={!mayWrite}
        />
        <Select
          label={t('crm.assigned')}
          data={members}
          onFocus={() => chooseMember(true)}
          value={value.assigned_to}
          onChange={(assigned_to) => change({ assigned_to })}
          placeholder={t('crm.nobody')}
          clearable
          readOnly={!mayWrite}
        />
        <TextInput
          type="date"
          label={t('crm.closes')}
          readOnly={!mayWrite}
          value={value.expected_close_date}
          onChange={(event) => change({ expected_close_date: event.currentTarget.value })}
        />
      </SimpleGrid>
      {mayWrite ? (
        <ContactSelect
          label={t('crm.contact')}
          value={value.contact_id}
          onChange={(contact_id) => change({ contact_id })}
        />
      ) : null}
    </>
  );
  return (
    <>
      {mayWrite ? (
        <DraftForm
          draft={draft}
          say={{
            value: (amount) => (amount === null ? '' : toMoney(amount, deal.currency)),
            stage_id: (stage) => stages.find(({ id }) => id === stage)?.name ?? '',
            assigned_to: (person) => members.find((one) => one.value === person)?.label ?? '',
            contact_id: (contact) => (contact ? t('crm.theirs.contact') : ''),
          }}
        >
          {fields}
        </DraftForm>
      ) : (
        <Stack>{fields}</Stack>
      )}
      {deal.campaign_id ? (
        <Text size="sm" mt="sm">
          <PageLink to={`/campaigns/${deal.campaign_id}`} inherit>
            {t('crm.campaign.open')}
          </PageLink>
        </Text>
      ) : null}
    </>
  );
}
