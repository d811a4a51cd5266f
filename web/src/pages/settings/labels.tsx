import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCan } from '../../app/person.ts';
import { ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { CATEGORIES, FOLDERS, LabelList, TAGS } from './label-list.tsx';

/** Page of the labels of campaigns, contacts and mailboxes: names, colours and order. */
export default function LabelsPage() {
  const t = useText();
  const [maySee, mayContacts] = [useCan('view_campaigns'), useCan('view_contacts')];
  const [mayEdit, mayEditContacts] = [useCan('manage_campaigns'), useCan('manage_contacts')];
  // The lists are rendered together, because a longer or shorter one would move those below.
  const folders = useQuery({ queryKey: FOLDERS.key, queryFn: FOLDERS.list, enabled: maySee });
  const categories = useQuery({ queryKey: CATEGORIES.key, queryFn: CATEGORIES.list, enabled: mayContacts });
  const tags = useQuery({ queryKey: TAGS.key, queryFn: TAGS.list, enabled: maySee });
  if (folders.isLoading || categories.isLoading || tags.isLoading)
    return (
      <SettingsPage>
        <ListSkeleton />
      </SettingsPage>
    );
  return (
    <SettingsPage>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {maySee ? (
          <LabelList
            of={FOLDERS}
            title={t('settings.folders')}
            why={t('settings.folders.why')}
            removal={t('settings.folders.delete')}
            mayEdit={mayEdit}
          />
        ) : null}
        {mayContacts ? (
          <LabelList
            of={CATEGORIES}
            title={t('settings.categories')}
            why={t('settings.categories.why')}
            removal={t('settings.categories.delete')}
            mayEdit={mayEditContacts}
          />
        ) : null}
        {maySee ? (
          <LabelList
            of={TAGS}
            title={t('settings.tags')}
            why={t('settings.tags.why')}
            removal={t('settings.tags.delete')}
            mayEdit={mayEdit}
          />
        ) : null}
      </SimpleGrid>
    </SettingsPage>
  );
}
