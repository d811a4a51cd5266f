import { Button, Menu, Modal, Select, Text, TextInput } from '@mantine/core';
import IconDots from 'tabler:dots';
import IconSend from 'tabler:send';
import IconTag from 'tabler:tag';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { text, useText } from '../../text/index.ts';
import { useAction } from '../action.ts';
import { choicesOf, useCampaigns, useTags } from '../choices.ts';
import { saveAs } from '../download.ts';
import { Form } from '../form.tsx';
import { useChosen, type Selection } from '../../hooks/selection.ts';
import { BulkBar, useCount } from './bar.tsx';
import { deleteContacts, editContacts, selectionsOf, type Action, type Filters } from './edit.ts';

type Open = 'campaign' | 'tag' | 'untag' | 'suppress' | 'delete';

/**
 * Bar of a list of contacts. Adds the chosen contacts to a campaign, tags, suppresses, verifies, marks, exports or
 * deletes them.
 */
export default function ContactBar({
  selection,
  filters,
  campaign,
  mayChooseAll = true,
}: {
  selection: Selection;
  /** Filter of the list. If all matching contacts are chosen, the filter selects them. */
  filters: Filters;
  /** Campaign whose leads are listed; the bar can remove them from it. */
  campaign?: string | undefined;
  mayChooseAll?: boolean;
}) {
  const t = useText();
  const mayMail = useCan('manage_campaigns');
  const chosen = useChosen(selection);
  const total = useTotal(filters, mayChooseAll);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const edit = useAction(
    ({ action, said }: { action: Action; said: (changed: number) => string }) =>
      editContacts(selectionsOf(chosen, filters), action, said),
    { onDone: () => selection.clear() },
  );
  const save = useAction(
    async () => {
      const [selected] = selectionsOf(chosen, filters);
      return dataOf(heron.POST('/v1/lead-database/export', { body: { selection: selected }, parseAs: 'blob' }));
    },
    { onDone: (file) => saveAs(file as Blob, 'people.csv') },
  );
  const run = (action: Action, said: (changed: number) => string) => edit.mutate({ action, said });
  // An export is a single request, so one selection must contain all chosen contacts.
  const mayExport = chosen.isAll || selectionsOf(chosen, filters).length === 1;
  return (
    <>
      <BulkBar selection={selection} total={total} mayChooseAll={mayChooseAll}>
        {mayMail ? (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconSend size={14} />}
            aria-haspopup="dialog"
            onClick={() => setOpen('campaign')}
          >
            {t('bulk.campaign')}
          </Button>
        ) : null}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconTag size={14} />}
          aria-haspopup="dialog"
          onClick={() => setOpen('tag')}
        >
          {t('bulk.tag')}
        </Button>
        <Menu position="top-end">
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconDots size={14} />}
              loading={edit.isPending || save.isPending}
            >
              {t('bulk.more')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setOpen('untag')}>{t('bulk.untag')}</Menu.Item>
            {campaign && mayMail ? (
              <Menu.Item
                onClick={() =>
                  run({ type: 'remove_from_campaign', campaign_id: campaign }, (count) => text('bulk.left', { count }))
                }
              >
                {t('bulk.leave')}
              </Menu.Item>
            ) : null}
            <Menu.Item onClick={() => run({ type: 'verify' }, (count) => text('bulk.verified', { count }))}>
              {t('bulk.verify')}
            </Menu.Item>
            <Menu.Item
              onClick={() => run({ type: 'mark_deliverable' }, (count) => text('bulk.markedDeliverable', { count }))}
            >
              {t('bulk.markDeliverable')}
            </Menu.Item>
            <Menu.Item
              onClick={() =>
                run({ type: 'mark_undeliverable' }, (count) => text('bulk.markedUndeliverable', { count }))
              }
            >
              {t('bulk.markUndeliverable')}
            </Menu.Item>
            <Menu.Item disabled={!mayExport} onClick={() => save.mutate()}>
              {t('bulk.export')}
            </Menu.Item>
            <Menu.Item onClick={() => setOpen('suppress')}>{t('bulk.suppress')}</Menu.Item>
            <Menu.Item c="var(--mantine-color-error)" onClick={() => setOpen('delete')}>
              {t('bulk.delete')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </BulkBar>
      <Campaigns opened={open === 'campaign'} close={close} run={run} />
      <Tags opened={open === 'tag' || open === 'untag'} isOff={open === 'untag'} close={close} run={run} />
      <Suppress opened={open === 'suppress'} close={close} run={run} />
      <Delete opened={open === 'delete'} close={close} selection={selection} total={total} filters={filters} />
    </>
  );
}

/** Returns the number of contacts that match a filter; null until it is known. */
function useTotal(filters: Filters, isWanted: boolean): number | null {
  const counted = useQuery({
    queryKey: ['contacts', 'count', filters],
    queryFn: () => dataOf(heron.POST('/v1/contacts/count', { body: { all: true, filters, confirm_all: true } })),
    enabled: isWanted,
    retry: false,
  });
  return counted.data?.count ?? null;
}

interface DialogProps {
  opened: boolean;
  close: () => void;
  run: (action: Action, said: (changed: number) => string) => void;
}

/** State of a form that closes as soon as it is submitted. A notification shows the result and offers to undo it. */
const submitted = (mutate: () => void) => ({ mutate, error: null, isPending: false });

function Campaigns({ opened, close, run }: DialogProps) {
  const t = useText();
  const [id, setId] = useState<string | null>(null);
  const campaigns = useCampaigns(opened);
  const add = () => {
    if (!id) return;
    run({ type: 'add_to_campaign', campaign_id: id }, (count) => text('bulk.added', { count }));
    close();
  };
  return (
    <Modal opened={opened} onClose={close} title={t('bulk.campaign')}>
      <Form act={submitted(add)} submit={t('bulk.add')}>
        <Text size="sm" c="dimmed">
          {t('bulk.campaign.why')}
        </Text>
        <Select
          label={t('bulk.campaign.which')}
          data={choicesOf(campaigns.data?.data ?? [])}
          value={id}
          onChange={setId}
          nothingFoundMessage={t('nothingFound')}
          searchable
          required
        />
      </Form>
    </Modal>
  );
}

function Tags({ opened, isOff, close, run }: DialogProps & { isOff: boolean }) {
  const t = useText();
  const [id, setId] = useState<string | null>(null);
  const tags = useTags(opened);
  const tag = () => {
    if (!id) return;
    run({ type: isOff ? 'remove_category' : 'add_category', category_id: id }, (count) =>
      isOff ? text('bulk.untagged', { count }) : text('bulk.tagged', { count }),
    );
    close();
  };
  const title = t(isOff ? 'bulk.untag' : 'bulk.tag');
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Form act={submitted(tag)} submit={title}>
        <Select
          label={t('bulk.tag.which')}
          data={tags.data ?? []}
          value={id}
          onChange={setId}
          nothingFoundMessage={t('nothingFound')}
          searchable
          required
        />
      </Form>
    </Modal>
  );
}

function Suppress({ opened, close, run }: DialogProps) {
  const t = useText();
  const [reason, setReason] = useState('');
  const suppress = () => {
    run({ type: 'suppress', ...(reason ? { reason } : {}) }, (count) => text('bulk.suppressed', { count }));
    close();
  };
  return (
    <Modal opened={opened} onClose={close} title={t('bulk.suppress')}>
      <Form act={submitted(suppress)} submit={t('bulk.suppress')}>
        <Text size="sm">{t('bulk.suppress.why')}</Text>
        <TextInput
          label={t('bulk.reason')}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
      </Form>
    </Modal>
  );
}

/** Deletion cannot be undone, so the number of contacts has to be typed. */
function Delete({
  opened,
  close,
  selection,
  total,
  filters,
}: Omit<DialogProps, 'run'> & { selection: Selection; total: number | null; filters: Filters }) {
  const t = useText();
  const chosen = useChosen(selection);
  const count = useCount(selection, total);
  const [typed, setTyped] = useState('');
  const remove = useAction(() => deleteContacts(selectionsOf(chosen, filters)), {
    done: t('bulk.deleted'),
    isShown: true,
    onDone: () => {
      setTyped('');
      close();
      selection.clear();
    },
  });
  const isSure = typed.replaceAll(/\D/g, '') === String(count ?? 0);
  const act = { ...remove, mutate: () => (isSure ? remove.mutate() : undefined) };
  return (
    <Modal opened={opened} onClose={close} title={t('bulk.delete.ask')}>
      <Form act={act} submit={t('bulk.delete')} color="red.9">
        <Text size="sm">{t('bulk.delete.why')}</Text>
        <TextInput
          label={t('bulk.delete.type', { count: String(count ?? 0) })}
          inputMode="numeric"
          required
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={typed && !isSure ? t('bulk.delete.differs') : null}
          data-autofocus
        />
      </Form>
    </Modal>
  );
}
