import { Button, Stack, TextInput } from '@mantine/core';
import IconPlug from 'tabler:plug';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { SecretOnce } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { AppCard } from './app-card.tsx';
import { SettingsPage } from './frame.tsx';

type App = AnswerOf<'/v1/app-connections'>['data'][number];
const stale: readonly Key[] = [['settings', 'apps'], ['choices']];

/** Page of the app connections: programs of the workspace that campaign steps call. */
export default function AppsPage() {
  const t = useText();
  const [edited, setEdited] = useState<App | 'new'>();
  const apps = useQuery({ queryKey: ['settings', 'apps'], queryFn: () => dataOf(heron.GET('/v1/app-connections')) });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={() => setEdited('new')}>
      {t('settings.app.new')}
    </Button>
  );
  return (
    <SettingsPage actions={apps.data?.data.length ? add : null}>
      <Answered query={apps} skeleton={<ListSkeleton rows={2} height={130} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconPlug} title={t('settings.app.none')} action={add}>
              {t('settings.app.none.why')}
            </Empty>
          ) : (
            <Stack>
              {data.map((app) => (
                <AppCard key={app.id} app={app} stale={stale} onEdit={() => setEdited(app)} />
              ))}
            </Stack>
          )
        }
      </Answered>
      {edited ? <EditApp app={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} /> : null}
    </SettingsPage>
  );
}

/** Dialog with name and address of an app. After a new app is created, its signing secret is shown first. */
function EditApp({ app, onClose }: { app: App | undefined; onClose: () => void }) {
  const t = useText();
  const [name, setName] = useState(app?.name ?? '');
  const [url, setUrl] = useState(app?.base_url ?? '');
  const [secret, setSecret] = useState<string>();
  const save = useAction(
    async () => {
      const body = { name, base_url: url };
      if (!app) return (await dataOf(heron.POST('/v1/app-connections', { body }))).secret;
      await dataOf(heron.PATCH('/v1/app-connections/{id}', { params: { path: { id: app.id } }, body }));
      return undefined;
    },
    { stale, isShown: true, onDone: (made) => (made ? setSecret(made) : onClose()) },
  );
  return (
    <Dialog onClose={onClose} title={t(app ? 'settings.app.edit' : 'settings.app.new')} size="lg">
      {secret ? (
        <SecretOnce name={t('settings.app.secret')} value={secret} onDone={onClose} />
      ) : (
        <Form act={save} submit={t(app ? 'save' : 'settings.app.create')}>
          <TextInput
            label={t('settings.name')}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <TextInput
            label={t('settings.app.url')}
            description={t('settings.app.url.why')}
            placeholder="https://app.example.com/heron"
            required
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
        </Form>
      )}
    </Dialog>
  );
}
