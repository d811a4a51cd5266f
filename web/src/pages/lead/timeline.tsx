import './way.css';
import { Badge, Button, Group, Text } from '@mantine/core';
import IconCheck from 'tabler:check';
import IconClock from 'tabler:clock';
import IconFlag from 'tabler:flag';
import IconInfo from 'tabler:info-circle';
import IconMail from 'tabler:mail';
import IconReply from 'tabler:arrow-back-up';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { dataOf, heron, type AnswerOf, type RowOf } from '../../app/api.ts';
import { EmailBody, PlainTextBody } from '../../components/email-body.tsx';
import { At } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';
import { messageText } from '../../text/server.ts';

export type LeadDetail = AnswerOf<'/v1/campaigns/{id}/leads/{contactId}'>;
type Message = RowOf<'/v1/unibox/thread'>;
type Step = LeadDetail['steps'][number];
type Send = NonNullable<LeadDetail['reserved']>;

/** Timeline of one contact in one campaign, oldest first. */
export function Timeline({ way, messages }: { way: LeadDetail; messages: Message[] }) {
  const t = useText();
  const zone = way.campaign.timezone;
  const moments: { at: string; key: string; show: ReactNode }[] = [
    {
      at: way.entered_at,
      key: 'entered',
      show: <Moment icon={IconFlag} title={t('lead.entered')} at={way.entered_at} zone={zone} />,
    },
    ...(way.reserved
      ? [
          {
            at: way.reserved.sent_at ?? way.reserved.slot_at,
            key: way.reserved.id,
            show: (
              <Moment icon={IconMail} title={t('lead.first')} at={way.reserved.slot_at} zone={zone}>
                <SendLines
                  send={way.reserved}
                  message={messages.find(({ id }) => id === way.reserved!.id)}
                  zone={zone}
                />
              </Moment>
            ),
          },
        ]
      : []),
    ...way.steps.map((step) => ({
      at: step.send?.sent_at ?? step.started_at,
      key: `step-${step.seq}`,
      show: <StepMoment step={step} total={way.campaign.steps} zone={zone} messages={messages} />,
    })),
    ...messages
      .filter(({ direction }) => direction === 'received')
      .map((message) => ({
        at: message.internal_date,
        key: message.id,
        show: <ReplyMoment message={message} zone={zone} />,
      })),
    ...way.log.map((line, index) => ({
      at: line.at,
      key: `log-${index}`,
      show: <Moment icon={IconInfo} title={messageText(line)} at={line.at} zone={zone} isQuiet />,
    })),
    ...(way.finished_at
      ? [
          {
            at: way.finished_at,
            key: 'finished',
            show: (
              <Moment
                icon={IconCheck}
                title={t('lead.ended', { how: textOf('lead.status', way.status) })}
                at={way.finished_at}
                zone={zone}
              />
            ),
          },
        ]
      : []),
  ];
  // The sort is stable: entries with the same time keep the order in which they were added.
  const sorted = moments.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <ol className="way" aria-label={t('lead.story')}>
      {sorted.map(({ key, show }) => (
        <li key={key}>{show}</li>
      ))}
    </ol>
  );
}

function Moment({
  icon: Picture,
  title,
  at,
  zone,
  badge,
  isQuiet = false,
  children,
}: {
  icon: (props: { size?: number; stroke?: number }) => ReactNode;
  title: string;
  at: string;
  zone: string;
  badge?: ReactNode;
  isQuiet?: boolean;
  children?: ReactNode;
}) {
  return (
    <>
      <span className="way-icon">
        <Picture size={15} stroke={1.7} />
      </span>
      <div className="way-what">
        <Group gap="xs" align="baseline">
          <Text size="sm" fw={isQuiet ? 400 : 600} className="wrap-anywhere" dir="auto">
            {title}
          </Text>
          {badge}
          <Text size="xs" c="dimmed">
            <At at={at} zone={zone} />
          </Text>
        </Group>
        {children}
      </div>
    </>
  );
}

function StepMoment({ step, total, zone, messages }: { step: Step; total: number; zone: string; messages: Message[] }) {
  const t = useText();
  const place = step.position === null ? t('lead.step.gone') : t('lead.step', { number: step.position, total });
  const said = step.outcome ? textOf('lead.outcome', step.outcome) : textOf('lead.state', step.state);
  const isGood = step.state === 'completed';
  return (
    <Moment
      icon={step.kind === 'email' ? IconMail : step.kind.startsWith('wait') ? IconClock : IconCheck}
      title={step.name || textOf('lead.kind', step.kind)}
      at={step.send?.sent_at ?? step.started_at}
      zone={zone}
      badge={
        <Badge
          variant="light"
          size="sm"
          tt="none"
          color={step.state === 'failed' || step.state === 'blocked' ? 'red' : isGood ? 'teal' : 'gray'}
        >
          {said}
        </Badge>
      }
    >
      <Text size="xs" c="dimmed">
        {place} · {textOf('lead.kind', step.kind)}
        {step.attempts > 1 ? ` · ${t('lead.attempts', { count: step.attempts })}` : null}
      </Text>
      {step.detail ? (
        <Text size="sm" className="wrap-anywhere">
          {step.detail}
        </Text>
      ) : null}
      {step.wait ? (
        <Text size="sm" className="wrap-anywhere">
          {t(`lead.wait.${step.wait.state as 'open'}`, { event: step.wait.event_name })}{' '}
          {step.wait.state === 'open' && step.wait.deadline ? (
            <>
              {t('lead.until')} <At at={step.wait.deadline} zone={zone} />
            </>
          ) : step.wait.settled_at ? (
            <At at={step.wait.settled_at} zone={zone} />
          ) : null}
        </Text>
      ) : null}
      {step.send ? (
        <SendLines
          send={step.send}
          message={messages.find(({ id }) => id === step.send!.id)}
          zone={zone}
          isSaid={step.outcome === 'sent' && step.send.state === 'sent'}
        />
      ) : null}
    </Moment>
  );
}

/** Shows an email's time, failure, mailbox and text. */
function SendLines({
  send,
  message,
  zone,
  isSaid = false,
}: {
  send: Send;
  message: Message | undefined;
  zone: string;
  /** True if the result is already shown above. */
  isSaid?: boolean;
}) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'senders'],
    queryFn: () => dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
    staleTime: 5 * 60_000,
  });
  const from = mailboxes.data?.data.find(({ id }) => id === send.email_id)?.email;
  return (
    <>
      <Text size="sm" className="wrap-anywhere">
        {isSaid ? null : textOf('lead.send', send.state)}
        {send.state === 'reserved' || send.state === 'sending' ? (
          <>
            {' '}
            <At at={send.slot_at} zone={zone} />
          </>
        ) : null}
        {from ? `${isSaid ? '' : ' · '}${t('lead.from', { address: from })}` : null}
        {send.attempts > 1 ? ` · ${t('lead.attempts', { count: send.attempts })}` : null}
      </Text>
      {send.error ? (
        <Text size="sm" c="red" className="wrap-anywhere">
          {send.error}
        </Text>
      ) : null}
      {message ? (
        <>
          <Button size="compact-xs" variant="default" mt={6} onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {t('lead.email')}
          </Button>
          {isOpen ? (
            <div className="way-email">
              <Text size="sm" fw={600} mb={4} className="wrap-anywhere" dir="auto">
                {message.subject}
              </Text>
              {message.body_html ? (
                <EmailBody html={message.body_html} />
              ) : (
                <PlainTextBody text={message.body_plain} isDeleted={!message.content_kept} />
              )}
            </div>
          ) : null}
        </>
      ) : null}
    </>
  );
}

function ReplyMoment({ message, zone }: { message: Message; zone: string }) {
  const t = useText();
  return (
    <Moment
      icon={IconReply}
      title={t('lead.reply', { address: message.from_addr[0] ?? '' })}
      at={message.internal_date}
      zone={zone}
    >
      <div className="way-email">
        {message.body_html ? (
          <EmailBody html={message.body_html} messageId={message.id} />
        ) : (
          <PlainTextBody text={message.body_plain} />
        )}
        <PageLink
          to={`/inbox?thread=${encodeURIComponent(message.thread_id)}`}
          size="sm"
          display="inline-block"
          mt="xs"
        >
          {t('lead.answer')}
        </PageLink>
      </div>
    </Moment>
  );
}
