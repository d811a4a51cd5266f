import { Alert, Button, Group, Text } from '@mantine/core';
import { useText } from '../text/index.ts';
import { signOut, usePerson } from './person.ts';

/** Note above every page about workspaces that require a new sign-in, because this session is too old for them. */
export default function SignInAgain() {
  const t = useText();
  const old = usePerson().workspaces.filter(({ needs_sign_in }) => needs_sign_in);
  if (old.length === 0) return null;
  return (
    <Alert role="note" color="yellow" variant="light" mb="lg" title={t('shell.signInAgain')}>
      <Group justify="space-between">
        <Text size="sm">{t('shell.signInAgain.why', { names: old.map(({ name }) => name).join(', ') })}</Text>
        <Button size="xs" onClick={() => void signOut()}>
          {t('shell.signInAgain.button')}
        </Button>
      </Group>
    </Alert>
  );
}
