import { Fieldset, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { textOf, useText } from '../../text/index.ts';
import type { Rule } from './routing.tsx';

const MATCHES = ['any', 'domain', 'tld', 'provider'] as const;
/** Families of mail providers, as the API names them. */
const PROVIDERS = ['google', 'microsoft', 'yahoo', 'apple', 'proton', 'zoho', 'custom'] as const;

type Edited = Pick<
  Rule,
  | 'name'
  | 'priority'
  | 'sender_match_type'
  | 'sender_match_value'
  | 'recipient_match_type'
  | 'recipient_match_value'
  | 'weight'
  | 'enabled'
>;
const NEW: Edited = {
  name: '',
  priority: 0,
  sender_match_type: 'any',
  sender_match_value: '',
  recipient_match_type: 'provider',
  recipient_match_value: 'google',
  weight: 2,
  enabled: true,
};

/** Dialog with all fields of a rule. The API replaces the whole rule. */
export default function RuleForm({ rule, onClose }: { rule: Rule | undefined; onClose: () => void }) {
  const t = useText();
  const [edited, setEdited] = useState<Edited>(rule ?? NEW);
  const change = (fields: Partial<Edited>) => setEdited((before) => ({ ...before, ...fields }));
  const save = useAction(
    async () => {
      const body: Edited = {
        name: edited.name,
        priority: edited.priority,
        sender_match_type: edited.sender_match_type,
        sender_match_value: edited.sender_match_value,
        recipient_match_type: edited.recipient_match_type,
        recipient_match_value: edited.recipient_match_value,
        weight: edited.weight,
        enabled: edited.enabled,
      };
      if (rule) await dataOf(heron.PATCH('/v1/warmup/routing/{id}', { params: { path: { id: rule.id } }, body }));
      else await dataOf(heron.POST('/v1/warmup/routing', { body }));
    },
    { stale: [['mailboxes', 'routing']], isShown: true, done: t('saved'), onDone: onClose },
  );
  return (
    <Dialog onClose={onClose} title={t(rule ? 'routing.change' : 'routing.new')} size="lg">
      <Form act={save} submit={t(rule ? 'save' : 'routing.create')}>
        <TextInput
          label={t('routing.name')}
          required
          maxLength={200}
          value={edited.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          data-autofocus
        />
        <SideFields
          title={t('routing.sender')}
          type={edited.sender_match_type}
          value={edited.sender_match_value}
          onChange={(sender_match_type, sender_match_value) => change({ sender_match_type, sender_match_value })}
        />
        <SideFields
          title={t('routing.recipient')}
          type={edited.recipient_match_type}
          value={edited.recipient_match_value}
          onChange={(recipient_match_type, recipient_match_value) =>
            change({ recipient_match_type, recipient_match_value })
          }
        />
        <NumberInput
          label={t('routing.weight')}
          description={t('routing.weight.why')}
          min={0}
          max={1000}
          decimalScale={2}
          required
          value={edited.weight}
          onChange={(weight) => change({ weight: Number(weight) })}
        />
        <NumberInput
          label={t('routing.priority')}
          description={t('routing.priority.why')}
          allowDecimal={false}
          required
          value={edited.priority}
          onChange={(priority) => change({ priority: Number(priority) })}
        />
        <Switch
          label={t('routing.enabled')}
          checked={edited.enabled}
          onChange={(event) => change({ enabled: event.currentTarget.checked })}
        />
      </Form>
    </Dialog>
  );
}

/** Fields that select the mailboxes of one side of a rule. Changing the kind of selection clears its value. */
function SideFields({
  title,
  type,
  value,
  onChange,
}: {
  title: string;
  type: Edited['sender_match_type'];
  value: string;
  onChange: (type: Edited['sender_match_type'], value: string) => void;
}) {
  const t = useText();
  return (
    <Fieldset legend={title}>
      <Select
        label={t('routing.match')}
        data={MATCHES.map((one) => ({ value: one, label: t(`routing.match.${one}`) }))}
        value={type}
        onChange={(chosen) => {
          const next = MATCHES.find((one) => one === chosen) ?? 'any';
          onChange(next, next === 'provider' ? PROVIDERS[0] : '');
        }}
        allowDeselect={false}
      />
      {type === 'provider' ? (
        <Select
          mt="sm"
          label={t('routing.match.provider')}
          data={PROVIDERS.map((one) => ({ value: one, label: textOf('routing.provider', one) }))}
          value={value}
          onChange={(provider) => onChange(type, provider ?? '')}
          allowDeselect={false}
        />
      ) : type === 'any' ? null : (
        <TextInput
          mt="sm"
          label={t(`routing.match.${type}`)}
          placeholder={type === 'domain' ? 'example.com' : 'com'}
          required
          value={value}
          onChange={(event) => onChange(type, event.currentTarget.value)}
        />
      )}
    </Fieldset>
  );
}
