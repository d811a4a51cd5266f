import { Badge, Text } from '@mantine/core';
import IconPencil from 'tabler:pencil';
import IconSend from 'tabler:send';
import IconClock from 'tabler:clock';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { shownAddress } from '../../components/address.ts';
import { More, usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { Stack } from '@mantine/core';
import { useText } from '../../text/index.ts';
import { useAddress } from './address.ts';
import { draftsQuery, type Draft } from './draft.ts';
import { EmptyPane } from './empty-pane.tsx';
import { useWaiting, WaitingCard } from './waiting.tsx';

/** List of drafts. A draft opens in its conversation or in the composer. */
export function Drafts({ onOpen }: { onOpen: (draft: Draft) => void }) {
  const t = useText();
  const drafts = useQuery(draftsQuery);
  return (
    <div className="inbox-scroll">
      <Answered query={drafts} skeleton={<ListSkeleton rows={4} height={72} />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyPane icon={IconPencil} title={t('inbox.empty.drafts')}>
              {t('inbox.empty.drafts.why')}
            </EmptyPane>
          ) : (
            <ul className="inbox-list" aria-label={t('inbox.view.drafts')}>
              {data.map((draft) => (
                <li key={draft.id}>
                  <Line
                    to={draft.to}
                    nobody={t(draft.thread_id ? 'inbox.draft.reply' : 'inbox.draft.nobody')}
                    at={draft.updated_at}
                    // A draft of a reply has no own subject; the conversation has one.
                    subject={draft.subject || (draft.thread_id ? '' : t('inbox.noSubject'))}
                    snippet={draft.body_plain}
                    onOpen={() => onOpen(draft)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </div>
  );
}

/** List of unsent emails that were written in Heron. */
export function ScheduledList() {
  const t = useText();
  const waiting = useWaiting();
  return (
    <div className="inbox-scroll">
      <Answered query={waiting} skeleton={<ListSkeleton rows={4} height={72} />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyPane icon={IconClock} title={t('inbox.empty.scheduled')}>
              {t('inbox.empty.scheduled.why')}
            </EmptyPane>
          ) : (
            <Stack gap="xs" p="sm">
              {data.map((email) => (
                <WaitingCard key={email.task_id} email={email} />
              ))}
            </Stack>
          )
        }
      </Answered>
    </div>
  );
}

/** List of sent emails that were written in Heron. */
export function SentList() {
  const t = useText();
  const { q, mailbox, thread, show } = useAddress();
  const filters = { ...(q ? { q } : {}), ...(mailbox ? { email_id: mailbox } : {}) };
  const sent = usePaged(['inbox', 'sent', filters], (cursor, signal) =>
    dataOf(heron.GET('/v1/unibox/sent', { params: { query: { limit: 50, ...filters, ...cursor } }, signal })),
  );
  const rows = sent.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="inbox-scroll">
      <Answered query={sent} skeleton={<ListSkeleton rows={6} height={72} />}>
        {() =>
          rows.length === 0 ? (
            q || mailbox ? (
              <Text p="md" size="sm" c="dimmed">
                {t('nothingFound')}
              </Text>
            ) : (
              <EmptyPane icon={IconSend} title={t('inbox.empty.sent')}>
                {t('inbox.empty.sent.why')}
              </EmptyPane>
            )
          ) : (
            <ul className="inbox-list" aria-label={t('inbox.view.sent')}>
              {rows.map((row) => (
                <li key={row.id}>
                  <Line
                    to={row.to_addr}
                    at={row.internal_date}
                    subject={row.subject || t('inbox.noSubject')}
                    snippet={row.snippet}
                    note={row.state === 'sent' ? undefined : t(`inbox.sent.${row.state}`)}
                    isOpen={row.thread_id === thread}
                    onOpen={() => show({ thread: row.thread_id })}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      <More list={sent} />
    </div>
  );
}

function Line({
  to,
  nobody = '',
  at,
  subject,
  snippet,
  note,
  isOpen = false,
  onOpen,
}: {
  to: readonly string[];
  /** Text that is shown in place of a missing recipient. */
  nobody?: string;
  at: string;
  subject: string;
  snippet: string;
  note?: string | undefined;
  isOpen?: boolean;
  onOpen: () => void;
}) {
  return (
    <button type="button" className="inbox-row" aria-current={isOpen || undefined} onClick={onOpen}>
      <span className="inbox-line">
        <bdi className="clip inbox-who" title={to.join(', ')}>
          {to.map(shownAddress).join(', ') || nobody}
        </bdi>
        <Ago at={at} size="xs" c="dimmed" className="inbox-when" />
      </span>
      {subject ? <bdi className="clip inbox-subject">{subject}</bdi> : null}
      <span className="inbox-line">
        <Text span size="sm" c="dimmed" className="clip" dir="auto">
          {snippet}
        </Text>
        {note ? (
          <Badge size="xs" color="yellow" variant="light" tt="none">
            {note}
          </Badge>
        ) : null}
      </span>
    </button>
  );
}
