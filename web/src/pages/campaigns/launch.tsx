import { Accordion, List, Stack, Text } from '@mantine/core';
import type { AnswerOf } from '../../app/api.ts';
import { EmailBody, PlainTextBody } from '../../components/email-body.tsx';
import { At } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

/** Maximum number of senders that are listed individually. */
const LISTED = 5;

/**
 * Shows the effects of a start: recipients, senders, the time of the first email, and the first emails as they will be
 * sent.
 */
export default function Launch({ launch, zone }: { launch: AnswerOf<'/v1/campaigns/{id}/launch'>; zone: string }) {
  const t = useText();
  const { leads, senders, samples, first_email_at: first } = launch;
  const listed = senders.slice(0, LISTED).map(({ email }) => email);
  const more = senders.length - listed.length;
  return (
    <Stack gap="sm">
      <List size="sm" spacing={4}>
        <List.Item>{t('launch.leads', { count: leads })}</List.Item>
        {first === null ? null : (
          <List.Item>
            {t('launch.first')} <At at={first} zone={zone} />
          </List.Item>
        )}
        {senders.length > 0 ? (
          <List.Item className="wrap-anywhere">
            {t('launch.from', { count: senders.length, addresses: listed.join(', ') })}
            {more > 0 ? ` ${t('launch.from.more', { count: more })}` : null}
          </List.Item>
        ) : null}
      </List>
      {samples.length > 0 ? (
        <section aria-label={t('launch.emails')}>
          <Text size="sm" fw={600} mb={4}>
            {t('launch.emails')}
          </Text>
          <Accordion variant="separated" chevronPosition="left">
            {samples.map(({ to, from, subject, text, html, attachments = [] }, at) => (
              <Accordion.Item key={at} value={`${at}`}>
                <Accordion.Control>
                  <Text size="sm" fw={600} className="clip">
                    {subject}
                  </Text>
                  <Text size="xs" c="dimmed" className="clip">
                    {t('launch.email', { to, from })}
                  </Text>
                </Accordion.Control>
                <Accordion.Panel>
                  {html ? <EmailBody html={html} /> : <PlainTextBody text={text} />}
                  {attachments.map(({ filename }) => (
                    <Text key={filename} size="xs" c="dimmed">
                      {t('launch.attached', { name: filename })}
                    </Text>
                  ))}
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        </section>
      ) : null}
    </Stack>
  );
}
