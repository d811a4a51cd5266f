import { Button, Checkbox, Group, Menu, NumberInput, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import IconTemplate from 'tabler:template';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useText } from '../../text/index.ts';
import type { Action, FieldsProps, Step, EmailContent } from './flow.ts';
import { useLeads } from './queries.ts';
import { Faults, Preview, usePreview } from './preview.tsx';

const Editor = lazy(() => import('./editor.tsx'));
const BUILT_IN = ['FirstName', 'LastName', 'Email', 'Company', 'Phone'];

/** Editor of an email step: delay, subject and text, and a preview for a real lead. */
export function EmailStepFields({ campaignId, step, steps, isFirst, mayWrite, change }: FieldsProps) {
  const t = useText();
  return (
    <Stack gap="sm">
      {isFirst ? null : (
        <NumberInput
          label={t('step.wait')}
          min={0}
          max={60}
          allowDecimal={false}
          value={step.wait_after}
          onChange={(value) => change({ wait_after: Number(value) })}
          disabled={!mayWrite}
          maw={220}
        />
      )}
      <EmailContentFields
        campaignId={campaignId}
        stepId={step.id}
        variables={variablesBefore(step, steps)}
        wording={step}
        isFirst={isFirst}
        mayWrite={mayWrite}
        change={change}
      />
      {isFirst ? null : (
        <Checkbox
          label={t('email.thread')}
          description={t('email.thread.why')}
          checked={step.thread_reply}
          onChange={(event) => change({ thread_reply: event.currentTarget.checked })}
          disabled={!mayWrite}
        />
      )}
    </Stack>
  );
}

/** Editor of an email's subject and text, with completion, templates and a preview for real leads. */
export function EmailContentFields({
  campaignId,
  stepId,
  variables,
  wording,
  isFirst,
  mayWrite,
  change,
}: {
  campaignId: string;
  stepId: string;
  /** Names of values that earlier steps provide. */
  variables: readonly string[];
  wording: EmailContent;
  isFirst: boolean;
  mayWrite: boolean;
  change: (fields: Partial<EmailContent>) => void;
}) {
  const t = useText();
  const [isHtml, setHtml] = useState(wording.body_plain === '' && wording.body_html !== '');
  const custom = useCustomFields(campaignId);
  const names = useMemo(() => [...BUILT_IN, ...custom, ...variables], [custom, variables]);
  const [field, other] = isHtml ? (['body_html', 'body_plain'] as const) : (['body_plain', 'body_html'] as const);
  const preview = usePreview(campaignId, stepId, wording);
  const faultsOf = (name: keyof EmailContent | 'address', label?: string) => (
    <Faults
      faults={preview.data?.problems?.filter((fault) => fault.field === name) ?? []}
      text={name === 'address' ? '' : wording[name]}
      {...(label ? { label } : {})}
    />
  );
  const shape = (height: number) => <Skeleton height={height} radius="md" />;
  return (
    <Stack gap="sm">
      <Suspense fallback={shape(60)}>
        <Editor
          label={t('step.subject')}
          description={isFirst ? '' : t('step.subject.why')}
          value={wording.subject}
          variables={names}
          isOneLine
          isReadOnly={!mayWrite}
          onChange={(subject) => change({ subject })}
        />
      </Suspense>
      {faultsOf('subject')}
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('email.form')}
          value={isHtml ? 'html' : 'plain'}
          onChange={(value) => setHtml(value === 'html')}
          data={[
            { value: 'plain', label: t('email.plain') },
            { value: 'html', label: t('email.html') },
          ]}
        />
        {mayWrite ? (
          <Templates choose={change} isEmpty={wording.subject + wording.body_plain + wording.body_html === ''} />
        ) : null}
      </Group>
      <Suspense fallback={shape(180)}>
        <Editor
          key={field}
          label={t('step.text')}
          description={t('step.text.why')}
          value={wording[field]}
          variables={names}
          isReadOnly={!mayWrite}
          onChange={(text) => change({ [field]: text })}
        />
      </Suspense>
      {faultsOf(field)}
      <Preview preview={preview}>
        {faultsOf(other, t(isHtml ? 'email.plain' : 'email.html'))}
        {faultsOf('address')}
      </Preview>
    </Stack>
  );
}

/** Menu of stored templates. The selected one replaces the current text, after a confirmation. */
function Templates({ choose, isEmpty }: { choose: (fields: Partial<EmailContent>) => void; isEmpty: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const templates = useQuery({
    queryKey: ['templates'],
    enabled: isOpen,
    queryFn: async () => (await dataOf(heron.GET('/v1/templates', {}))).data,
  });
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={300} withinPortal>
      <Menu.Target>
        <Button size="xs" variant="subtle" leftSection={<IconTemplate size={14} />}>
          {t('email.templates.choose')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(isEmpty ? 'email.templates.label' : 'email.templates.replaces')}</Menu.Label>
        {templates.isPending ? <Menu.Item disabled>{t('loading')}</Menu.Item> : null}
        {templates.data?.length === 0 ? <Menu.Item disabled>{t('email.templates.empty')}</Menu.Item> : null}
        {templates.data?.map(({ id, name, subject, body_plain, body_html }) => (
          <Menu.Item key={id} onClick={() => choose({ ...(subject ? { subject } : {}), body_plain, body_html })}>
            <Text size="sm" className="clip">
              {name}
            </Text>
            <Text size="xs" c="dimmed" className="clip">
              {subject || body_plain.slice(0, 80)}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Returns the names of custom fields of the campaign's first leads. */
function useCustomFields(campaignId: string): readonly string[] {
  const leads = useLeads(campaignId);
  const first = leads.data?.data[0]?.contact_id;
  const contact = useQuery({
    queryKey: ['contacts', first],
    enabled: first !== undefined,
    retry: false,
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}', { params: { path: { id: first! } } })),
  });
  const fields = contact.data?.custom_fields;
  return useMemo(() => Object.keys(fields ?? {}), [fields]);
}

/** Returns the values that previous steps provide: answers of apps and data of events. */
function variablesBefore(step: Pick<Step, 'id'>, steps: readonly Step[]): string[] {
  return steps.flatMap(({ id, action }) => {
    const key = (action as Action | null)?.output_key;
    return id !== step.id && typeof key === 'string' && key ? [`App.${key}`] : [];
  });
}
