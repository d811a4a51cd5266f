import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useText } from '../text/index.ts';

/** Shows a value with a copy button. */
export function CopyBox({ value, label }: { value: string; label: string }) {
  const t = useText();
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Code block flex={1} miw={0} className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} tabIndex={0}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy} aria-label={`${t('copy')}: ${label}`} flex="none">
            {t(copied ? 'copied' : 'copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

/** Shows a secret that the API returns only once. */
export function SecretOnce({ name, value, onDone }: { name: string; value: string; onDone: () => void }) {
  const t = useText();
  return (
    <Alert color="blue" variant="light" title={name} role="status">
      <Stack gap="sm">
        <Text size="sm">{t('secret.once')}</Text>
        <CopyBox value={value} label={name} />
        <Group>
          <Button size="xs" variant="default" onClick={onDone}>
            {t('secret.kept')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
