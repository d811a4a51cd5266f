import { Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { shownAddress } from '../../components/address.ts';
import { Dialog } from '../../components/dialog.tsx';
import { dataOf, heron } from '../../app/api.ts';
import { useText } from '../../text/index.ts';
import { AddressesInput } from './addresses-input.tsx';
import { useDraft, writtenOf, type Draft } from './draft.ts';
import { Writing } from './writing.tsx';

/** Editor of a new email or of a draft. */
export default function Compose({ draft: kept, onClose }: { draft: Draft | undefined; onClose: () => void }) {
  const t = useText();
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'senders'],
    queryFn: () => dataOf(heron.GET('/v1/emails', { params: { query: { limit: 100 } } })),
  });
  const draft = useDraft(writtenOf(kept), kept);
  const { written, write } = draft;
  const rows = mailboxes.data?.data ?? [];
  return (
    <Dialog onClose={onClose} title={t('inbox.compose')} size="lg" closeOnClickOutside={false}>
      <Writing draft={draft} variables={{}} label={t('inbox.words')} onDone={onClose}>
        <Stack gap="xs">
          <Select
            label={t('inbox.compose.from')}
            required
            searchable
            data={rows.map(({ id, email }) => ({ value: id, label: shownAddress(email) }))}
            value={written.email_account_id ?? null}
            onChange={(value) => write({ email_account_id: value ?? undefined })}
            nothingFoundMessage={t('mailboxes.empty')}
          />
          <AddressesInput
            label={t('inbox.compose.to')}
            required
            data-autofocus
            value={written.to ?? []}
            onChange={(to) => write({ to })}
          />
          <AddressesInput label={t('inbox.compose.cc')} value={written.cc ?? []} onChange={(cc) => write({ cc })} />
          <TextInput
            label={t('inbox.compose.subject')}
            required
            value={written.subject ?? ''}
            onChange={(event) => write({ subject: event.currentTarget.value })}
          />
        </Stack>
      </Writing>
    </Dialog>
  );
}
