import { TagsInput, TextInput } from '@mantine/core';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { useText } from '../../text/index.ts';

type Application = RowOf<'/v1/oauth/applications'>;
type Edited = Omit<Application, 'id' | 'organization_id' | 'client_id' | 'logo_url' | 'created_at'>;
const editedOf = ({
  id: _id,
  organization_id: _organization,
  client_id: _client,
  logo_url: _logo,
  created_at: _created,
  ...edited
}: Application): Edited => edited;

/** Form of an application: name, redirects, scopes, and the webhook for the events of all workspaces that use it. */
export function ApplicationForm({ application, onDone }: { application: Application; onDone: () => void }) {
  const t = useText();
  const path = { params: { path: { id: application.id } } };
  const draft = useDraft<Edited>({
    stored: editedOf(application),
    write: ({ updated_at: _, ...body }) => dataOf(heron.PATCH('/v1/oauth/applications/{id}', { ...path, body })),
    readAgain: async () => editedOf(await dataOf(heron.GET('/v1/oauth/applications/{id}', path))),
    stale: [['applications']],
    done: t('saved'),
    onDone,
  });
  const { value, change } = draft;
  const labels = {
    description: t('agents.description'),
    website_url: t('agents.app.website'),
    redirect_uris: t('agents.app.redirects'),
    scopes: t('agents.app.scopes'),
    webhook_url: t('agents.app.webhook'),
    webhook_events: t('agents.app.webhook.events'),
    allowed_webhook_domains: t('agents.app.webhook.domains'),
  };
  const line = (field: 'description' | 'website_url' | 'webhook_url', why?: string) => (
    <TextInput
      label={labels[field]}
      description={why}
      value={value[field]}
      onChange={(event) => change({ [field]: event.currentTarget.value })}
    />
  );
  const list = (field: 'redirect_uris' | 'scopes' | 'webhook_events' | 'allowed_webhook_domains', why: string) => (
    <TagsInput
      label={labels[field]}
      description={why}
      value={value[field]}
      onChange={(words) => change({ [field]: words })}
      splitChars={[',', ' ']}
    />
  );
  return (
    <DraftForm draft={draft} names={labels}>
      <TextInput
        label={t('agents.name')}
        required
        maxLength={255}
        value={value.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      {line('description')}
      {line('website_url')}
      {list('redirect_uris', t('agents.app.redirects.exact'))}
      {list('scopes', t('agents.app.scopes.less'))}
      {line('webhook_url', t('agents.app.webhook.why'))}
      {list('webhook_events', t('agents.app.webhook.events.why'))}
      {list('allowed_webhook_domains', t('agents.app.webhook.domains.why'))}
    </DraftForm>
  );
}
