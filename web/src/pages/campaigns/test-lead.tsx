import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCan, usePerson } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { ContactSelect } from '../../components/contact-select.tsx';
import { nameOf } from '../../components/name.ts';
import { useText } from '../../text/index.ts';
import { useLeads } from './queries.ts';

/** Recipient of a test, and the lead whose data its emails show. */
interface TestTarget {
  email: string;
  /** Id of the contact whose data are used; null for the recipient's own data. */
  contactId: string | null;
}

/**
 * Returns the target of a test and a function to change it. The initial target is the person's own address, with the
 * data of the campaign's first lead.
 */
export function useTestTarget(campaignId: string): [target: TestTarget, change: (part: Partial<TestTarget>) => void] {
  const { person } = usePerson();
  const [given, give] = useState<Partial<TestTarget>>({});
  const leads = useLeads(campaignId);
  const first = leads.data?.data.find(({ contact }) => contact)?.contact_id ?? null;
  return [{ email: person.email, contactId: first, ...given }, (part) => give((before) => ({ ...before, ...part }))];
}

/** Returns the part of a test's request that names its target. */
export function targetOf({ email, contactId }: TestTarget): { prospect_email: string; contact_id?: string } {
  return { prospect_email: email, ...(contactId ? { contact_id: contactId } : {}) };
}

/** Fields for the target of a test. If the campaign has no leads, any contact can be chosen. */
export function TestTargetFields({
  campaignId,
  target: { email, contactId },
  change,
}: {
  campaignId: string;
  target: TestTarget;
  change: (part: Partial<TestTarget>) => void;
}) {
  const t = useText();
  const maySee = useCan('view_contacts');
  const leads = useLeads(campaignId);
  const rows = leads.data?.data.flatMap(({ contact_id: id, contact }) => (contact ? [{ id, contact }] : [])) ?? [];
  const choose = (id: string | null) => change({ contactId: id });
  return (
    <>
      <TextInput
        label={t('trial.to')}
        type="email"
        required
        maw={360}
        value={email}
        onChange={(event) => change({ email: event.currentTarget.value })}
      />
      {rows.length > 0 ? (
        <Select
          label={t('trial.lead')}
          description={t('trial.lead.why')}
          placeholder={t('trial.lead.none')}
          data={rows.map(({ id, contact }) => {
            const name = nameOf(contact);
            const address = shownAddress(contact.email);
            return { value: id, label: name === contact.email ? address : `${name}, ${address}` };
          })}
          value={contactId}
          onChange={choose}
          searchable
          clearable
          maw={360}
        />
      ) : maySee && leads.isFetched ? (
        <ContactSelect label={t('trial.lead')} value={contactId} onChange={choose} />
      ) : null}
    </>
  );
}
