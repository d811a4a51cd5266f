import { Alert, Code, Paper, Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { messageText } from '../../text/server.ts';
import { useLeads } from './queries.ts';
import type { EmailContent } from './flow.ts';

/** Template fault of one field of an email. */
type Fault = NonNullable<NonNullable<ReturnType<typeof usePreview>['data']>['problems']>[number];

/**
 * Renders the current text for a lead of the campaign, initially for the first one. The person can choose another lead.
 */
export function usePreview(campaignId: string, stepId: string, wording: EmailContent) {
  const { subject, body_plain, body_html } = wording;
  const [asked] = useDebouncedValue({ subject, body_plain, body_html }, 300);
  const [chosen, choose] = useState<string | null>(null);
  const leads = useLeads(campaignId);
  const rows = leads.data?.data.filter(({ contact }) => contact) ?? [];
  const contactId = chosen ?? rows[0]?.contact_id;
  const { data, error } = useQuery({
    queryKey: ['preview', campaignId, stepId, asked, contactId],
    enabled: leads.isFetched && asked.subject + asked.body_plain + asked.body_html !== '',
    placeholderData: keepPreviousData,
    queryFn: () =>
      dataOf(
        heron.POST('/v1/campaign-template-preview', {
          body: { ...asked, campaign_id: campaignId, ...(contactId ? { contact_id: contactId } : {}) },
        }),
      ),
  });
  return { data, error, rows, contactId, choose };
}

/** Template faults, each with its line if the text has several. */
export function Faults({ faults, text, label }: { faults: readonly Fault[]; text: string; label?: string }) {
  const t = useText();
  const hasLines = text.includes('\n');
  return faults.map(({ message, code, values, line }) => (
    <Text key={`${line} ${message}`} c="var(--mantine-color-error)" size="xs" role="note" className="wrap-anywhere">
      {[
        label,
        hasLines && line !== undefined ? t('email.preview.line', { line }) : '',
        messageText({ message, code, values }),
      ]
        .filter(Boolean)
        .join(': ')}
    </Text>
  ));
}

/**
 * Preview of the current text with its missing values. Also shows the faults of the body (text or HTML) that is not
 * open in the editor.
 */
export function Preview({
  preview: { data, error, rows, contactId, choose },
  children,
}: {
  preview: ReturnType<typeof usePreview>;
  children: ReactNode;
}) {
  const t = useText();
  // Returns true for a value from an app or event, which is unknown before the email is sent.
  const isLater = (name: string) => /^\{\{-?\s*\.App\b/.test(name);
  const missing = (data?.unresolved ?? []).filter((name) => !isLater(name));
  const later = (data?.unresolved ?? []).filter(isLater);
  return (
    <Paper
      withBorder
      radius="md"
      p="sm"
      bg="var(--app-canvas)"
      component="section"
      aria-label={t('email.preview.title')}
    >
      {rows.length > 0 ? (
        <Select
          size="xs"
          mb="xs"
          label={t('email.preview.lead')}
          data={rows.map(({ contact_id, contact }) => ({ value: contact_id, label: contact!.email }))}
          value={contactId ?? null}
          onChange={choose}
          allowDeselect={false}
          searchable
        />
      ) : (
        <Text size="xs" c="dimmed" mb={6}>
          {t('step.preview.nobody')}
        </Text>
      )}
      <ErrorNote error={error} />
      {children}
      {missing.length > 0 ? (
        <Alert color="yellow" variant="light" py={6} mb={6} role="note">
          {t('step.unresolved', { names: missing.join(', ') })}
        </Alert>
      ) : null}
      {later.length > 0 ? (
        <Text size="xs" c="dimmed" mb={6}>
          {t('email.preview.later', { names: later.join(', ') })}
        </Text>
      ) : null}
      <Text fw={600} size="sm" className="wrap-anywhere">
        {data?.subject}
      </Text>
      <Text
        size="sm"
        className="wrap-anywhere"
        style={{ whiteSpace: 'pre-wrap' }}
        mah={420}
        component="div"
        tabIndex={0}
        styles={{ root: { overflow: 'auto' } }}
      >
        {data?.body_plain}
        {!data?.body_plain && data?.body_html ? <Code block>{data.body_html}</Code> : null}
      </Text>
    </Paper>
  );
}
