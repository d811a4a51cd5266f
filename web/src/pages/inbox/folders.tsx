import { Badge, NavLink, Select, Text } from '@mantine/core';
import IconArchive from 'tabler:archive';
import IconBellPause from 'tabler:clock-pause';
import IconClock from 'tabler:clock';
import IconHand from 'tabler:hand-stop';
import IconHourglass from 'tabler:hourglass';
import IconInbox from 'tabler:inbox';
import IconMailOpened from 'tabler:mail';
import IconPencil from 'tabler:pencil';
import IconSend from 'tabler:send';
import IconSpam from 'tabler:alert-octagon';
import IconTrash from 'tabler:trash';
import { useQuery } from '@tanstack/react-query';
import { shownAddress } from '../../components/address.ts';
import type { ReactNode } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { toNumber, useText } from '../../text/index.ts';
import { useAddress, VIEWS, type View } from './address.ts';

const ICONS: Record<View, (props: { size?: number; stroke?: number }) => ReactNode> = {
  inbox: IconInbox,
  unread: IconMailOpened,
  awaiting: IconHourglass,
  asking: IconHand,
  snoozed: IconBellPause,
  archive: IconArchive,
  spam: IconSpam,
  trash: IconTrash,
  drafts: IconPencil,
  scheduled: IconClock,
  sent: IconSend,
};

type Overview = AnswerOf<'/v1/unibox/overview'>;

/** Loads the numbers of conversations by folder, mailbox and category. */
export function useOverview() {
  return useQuery({
    queryKey: ['inbox', 'overview'],
    queryFn: () => dataOf(heron.GET('/v1/unibox/overview')),
  });
}

/** Returns the count shown beside a view; zero for views without a count. */
function countOf(view: View, counts: Overview | undefined): number {
  if (!counts) return 0;
  if (view === 'unread') return counts.unread;
  if (view === 'awaiting') return counts.awaiting_reply;
  if (view === 'snoozed') return counts.snoozed;
  if (view === 'scheduled') return counts.scheduled_pending;
  return view === 'inbox' ? (counts.folders.find(({ folder }) => folder === 'inbox')?.unread ?? 0) : 0;
}

/** List of folders, mailboxes and categories. Selecting one filters the conversations. */
export function Folders() {
  const t = useText();
  const address = useAddress();
  const { data: counts } = useOverview();
  return (
    <div className="inbox-folders">
      <nav aria-label={t('inbox.folders')}>
        {VIEWS.map((view) => {
          const Picture = ICONS[view];
          return (
            <Choice
              key={view}
              label={t(`inbox.view.${view}`)}
              icon={<Picture size={16} stroke={1.6} />}
              count={countOf(view, counts)}
              isChosen={address.view === view}
              onChoose={() => address.show({ view: view === 'inbox' ? undefined : view, thread: undefined })}
            />
          );
        })}
      </nav>
      <Filters
        label={t('nav.mailboxes')}
        rows={counts?.mailboxes.map(({ id, email, unread }) => ({ id, name: shownAddress(email), unread }))}
        chosen={address.mailbox}
        onChoose={(mailbox) => address.show({ mailbox, thread: undefined })}
      />
      <Filters
        label={t('inbox.categories')}
        rows={counts?.categories.map(({ id, title, color, unread }) => ({ id, name: title, color, unread }))}
        chosen={address.category}
        onChoose={(category) => address.show({ category, thread: undefined })}
      />
    </div>
  );
}

/** Select with the same filters, for narrow screens. */
export function FolderSelect() {
  const t = useText();
  const { view, show } = useAddress();
  const { data: counts } = useOverview();
  const label = (one: View) => {
    const count = countOf(one, counts);
    return count > 0 ? `${t(`inbox.view.${one}`)} (${toNumber(count)})` : t(`inbox.view.${one}`);
  };
  return (
    <Select
      className="inbox-narrow"
      aria-label={t('inbox.folders')}
      data={VIEWS.map((one) => ({ value: one, label: label(one) }))}
      value={view}
      allowDeselect={false}
      onChange={(value) => show({ view: value && value !== 'inbox' ? value : undefined, thread: undefined })}
      w={{ base: 140, xs: 170 }}
    />
  );
}

function Filters({
  label,
  rows = [],
  chosen,
  onChoose,
}: {
  label: string;
  rows?: { id: string; name: string; color?: string; unread: number }[] | undefined;
  chosen: string;
  onChoose: (id: string | undefined) => void;
}) {
  if (rows.length === 0) return null;
  return (
    <nav aria-label={label}>
      <Text size="xs" fw={600} c="dimmed" px="sm" pt="md" pb={4}>
        {label}
      </Text>
      {rows.map(({ id, name, color, unread }) => (
        <Choice
          key={id}
          label={name}
          icon={color ? <span className="inbox-dot" style={{ background: color }} /> : undefined}
          count={unread}
          isChosen={chosen === id}
          onChoose={() => onChoose(chosen === id ? undefined : id)}
        />
      ))}
    </nav>
  );
}

function Choice({
  label,
  icon,
  count,
  isChosen,
  onChoose,
}: {
  label: string;
  icon?: ReactNode;
  count: number;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <NavLink
      component="button"
      className="inbox-choice"
      label={
        <span className="clip" title={label}>
          {label}
        </span>
      }
      leftSection={icon}
      rightSection={
        count > 0 ? (
          <Badge size="sm" variant="light" className="figures">
            {toNumber(count)}
          </Badge>
        ) : null
      }
      active={isChosen}
      aria-current={isChosen || undefined}
      onClick={onChoose}
    />
  );
}
