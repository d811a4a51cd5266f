import { Alert, Stack, Text } from '@mantine/core';
import IconAlert from 'tabler:alert-triangle';
import { HeronError } from '../../app/api.ts';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

const SIDES = ['smtp', 'imap'] as const;
const STAGES = ['dns', 'connect', 'greeting', 'tls', 'auth', 'session', 'reading'] as const;

interface Refusal {
  side: (typeof SIDES)[number];
  stage: (typeof STAGES)[number];
  /** Text of the server's answer. */
  said: string;
}

/** Parses the API's message about one server, such as "SMTP auth: 535 no"; undefined for other messages. */
function toRefusal(message: string): Refusal | undefined {
  const [, sideName = '', stageName = '', said = ''] = /^(\w+) (\w+): (.*)$/s.exec(message) ?? [];
  const side = SIDES.find((one) => one === sideName.toLowerCase());
  const stage = STAGES.find((one) => one === stageName);
  return side && stage ? { side, stage, said } : undefined;
}

/** Shows the error of a call that signs in to the mail servers, with the server that refused and the fix. */
export function RefusalNote({ error }: { error: unknown }) {
  const t = useText();
  if (!(error instanceof HeronError) || error.code !== 'mailbox_auth_failed') return <ErrorNote error={error} />;
  const refusals = error.problems.map(({ message }) => toRefusal(message));
  if (refusals.length === 0 || !refusals.every((one) => one !== undefined)) return <ErrorNote error={error} />;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlert size={18} />}
      title={t(refusals.some(({ stage }) => stage === 'auth') ? 'refusal.title.auth' : 'refusal.title')}
      role="alert"
    >
      <Refusals refusals={refusals} />
    </Alert>
  );
}

/** Shows the error of a connection test. If it does not concern the servers, the API's own text is shown. */
export function TestResult({ error }: { error: { message: string; fix: string } }) {
  const t = useText();
  const refusals = error.message.split(/; (?=(?:SMTP|IMAP) \w+: )/).map(toRefusal);
  const isOfServers = refusals.every((one) => one !== undefined);
  return (
    <Alert color="red" variant="light" title={isOfServers ? t('refusal.found') : error.message} role="note">
      {isOfServers ? <Refusals refusals={refusals} /> : error.fix}
    </Alert>
  );
}

/** Shows each server that refused, with the fix. Servers that refuse for the same reason are listed together. */
function Refusals({ refusals }: { refusals: readonly Refusal[] }) {
  const t = useText();
  const stages = [...new Set(refusals.map(({ stage }) => stage))];
  return (
    <Stack gap="sm">
      {stages.map((stage) => {
        const alike = refusals.filter((one) => one.stage === stage);
        return (
          <div key={stage}>
            <Text size="sm">
              <b>{alike.map(({ side }) => t(`connect.${side}`)).join(', ')}</b>: {t(`refusal.${stage}`)}
            </Text>
            {alike.map(({ side, said }) => (
              <Text key={side} size="xs" c="dimmed" className="wrap-anywhere">
                {t('refusal.said', { side: side.toUpperCase(), said })}
              </Text>
            ))}
          </div>
        );
      })}
    </Stack>
  );
}
