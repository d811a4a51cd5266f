import { Textarea, TextInput } from '@mantine/core';
import { Suspense } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { useText } from '../../text/index.ts';

const TemplateReview = lazyPart('templates', () => import('../templates/review.tsx'));

type Template = AnswerOf<'/v1/templates'>['data'][number];
type Edited = Pick<Template, 'name' | 'subject' | 'body_plain' | 'body_html' | 'updated_at'>;
const NEW: Edited = { name: '', subject: '', body_plain: '', body_html: '', updated_at: '' };
const editedOf = ({ name, subject, body_plain, body_html, updated_at }: Template): Edited => ({
  name,
  subject,
  body_plain,
  body_html,
  updated_at,
});

/** Form of a reply template: name, subject and text. If the template has HTML, it is shown too. */
export function TemplateForm({ template, onDone }: { template: Template | undefined; onDone: () => void }) {
  const t = useText();
  const draft = useDraft<Edited>({
    stored: template ? editedOf(template) : NEW,
    write: ({ updated_at: _, ...body }, { updated_at: expected_updated_at }) =>
      template
        ? dataOf(
            heron.PATCH('/v1/templates/{id}', {
              params: { path: { id: template.id } },
              body: { ...body, expected_updated_at },
            }),
          )
        : dataOf(heron.POST('/v1/templates', { body: { name: '', ...body } })),
    readAgain: async () =>
      template && editedOf(await dataOf(heron.GET('/v1/templates/{id}', { params: { path: { id: template.id } } }))),
    stale: [['templates'], ['inbox', 'templates']],
    done: t('saved'),
    onDone,
  });
  const { value, change } = draft;
  return (
    <DraftForm
      draft={draft}
      submit={template ? undefined : t('settings.template.create')}
      names={{
        subject: t('settings.template.subject'),
        body_plain: t('settings.template.text'),
        body_html: t('settings.template.html'),
      }}
    >
      <TextInput
        label={t('settings.name')}
        required
        maxLength={255}
        value={value.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label={t('settings.template.subject')}
        maxLength={998}
        value={value.subject}
        onChange={(event) => change({ subject: event.currentTarget.value })}
      />
      <Textarea
        label={t('settings.template.text')}
        description={t('settings.template.text.why')}
        autosize
        minRows={6}
        maxRows={18}
        value={value.body_plain}
        onChange={(event) => change({ body_plain: event.currentTarget.value })}
      />
      {template?.body_html ? (
        <Textarea
          label={t('settings.template.html')}
          autosize
          minRows={4}
          maxRows={12}
          value={value.body_html}
          onChange={(event) => change({ body_html: event.currentTarget.value })}
        />
      ) : null}
      <Suspense>
        <TemplateReview copy={value} onSubject={(subject) => change({ subject })} />
      </Suspense>
    </DraftForm>
  );
}
