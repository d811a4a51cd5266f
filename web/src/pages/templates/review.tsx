import { Badge, Button, Group, List, Paper, Progress, Stack, Text } from '@mantine/core';
import { dataOf, heron, type ResultOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ErrorNote } from '../../components/states.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { messageText, withServerTexts } from '../../text/server.ts';

type Review = ResultOf<'/v1/templates/analyze'>;
const COLORS = { high: 'red', warn: 'yellow', info: 'gray' } as const;

/** Review of a template's text by the AI provider and by Heron's own rules, made on request. */
export default function TemplateReview({
  copy,
  onSubject,
}: {
  copy: { subject: string; body_plain: string; body_html: string };
  /** Called to replace the subject by the suggested one. */
  onSubject: (subject: string) => void;
}) {
  const t = useText();
  const { subject, body_plain, body_html } = copy;
  const review = useAction(
    async () =>
      withServerTexts(await dataOf(heron.POST('/v1/templates/analyze', { body: { subject, body_plain, body_html } }))),
    { isShown: true },
  );
  const isEmpty = `${subject}${body_plain}${body_html}`.trim() === '';
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          onClick={() => review.mutate()}
          loading={review.isPending}
          disabled={isEmpty}
        >
          {t(review.data ? 'templates.review.again' : 'templates.review.do')}
        </Button>
        <Text size="xs" c="dimmed">
          {review.data
            ? t('templates.review.left', { count: review.data.credits_remaining })
            : t('templates.review.why')}
        </Text>
      </Group>
      <ErrorNote error={review.error} />
      {review.data ? <Outcome review={review.data} subject={subject} onSubject={onSubject} /> : null}
    </Stack>
  );
}

function Outcome({
  review,
  subject,
  onSubject,
}: {
  review: Review;
  subject: string;
  onSubject: (subject: string) => void;
}) {
  const t = useText();
  const { score, verdict, findings, improvements, suggested_subject: suggested, rules } = review;
  const ofRules = rules.issues.map((issue) => ({
    severity: issue.severity,
    text: issue.spans[0]?.text,
    issue: messageText(issue),
    suggestion: issue.suggestion,
  }));
  return (
    <Paper withBorder radius="md" p="md" component="section" aria-label={t('templates.review.title')}>
      <Stack gap="sm">
        <Group gap="sm">
          <Progress
            value={score}
            color={score >= 80 ? 'teal' : score > 40 ? 'yellow' : 'red'}
            aria-label={t('templates.review.title')}
            flex={1}
          />
          <Text size="sm" fw={650} className="figures">
            {t('templates.review.score', { score: toNumber(score) })}
          </Text>
        </Group>
        <Text size="sm" className="wrap-anywhere">
          {verdict}
        </Text>
        {suggested && suggested !== subject ? (
          <Group gap="xs">
            <Text size="sm" className="wrap-anywhere" flex="1 1 12rem">
              {t('templates.review.subject', { subject: suggested })}
            </Text>
            <Button size="compact-xs" variant="default" onClick={() => onSubject(suggested)}>
              {t('templates.review.take')}
            </Button>
          </Group>
        ) : null}
        <List listStyleType="none" spacing="xs">
          {[...findings, ...ofRules].map(({ severity, text, issue, suggestion }, at) => (
            <List.Item key={at}>
              <Group gap="xs" align="flex-start" wrap="nowrap">
                <Badge variant="light" color={COLORS[severity]} tt="none" flex="none">
                  {t(`templates.review.${severity}`)}
                </Badge>
                <Text size="sm" component="div" className="wrap-anywhere">
                  {text ? <b>{`${text}: `}</b> : null}
                  {issue}
                  {suggestion ? (
                    <Text span inherit c="dimmed" display="block">
                      {suggestion}
                    </Text>
                  ) : null}
                </Text>
              </Group>
            </List.Item>
          ))}
        </List>
        {improvements.length > 0 ? (
          <List size="sm">
            {improvements.map((one) => (
              <List.Item key={one} className="wrap-anywhere">
                {one}
              </List.Item>
            ))}
          </List>
        ) : null}
      </Stack>
    </Paper>
  );
}
