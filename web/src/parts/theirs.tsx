import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { textOf, useText } from '../text/index.ts';
import type { Draft } from './draft.ts';

/** Says that somebody else has changed the same meanwhile, shows what it is now, and lets the person decide. */
export function Theirs<T>({
  draft,
  names = {},
  say = {},
}: {
  draft: Pick<Draft<T>, 'theirs' | 'takeTheirs' | 'keepMine'>;
  /** What a field is called where the form has words for it. */
  names?: { [Field in keyof T]?: string } | undefined;
  /** What a field is, in words; without them a text, number or list as it is. */
  say?: { [Field in keyof T]?: (value: T[Field]) => string } | undefined;
}) {
  const t = useText();
  if (!draft.theirs) return null;
  const { fields, value } = draft.theirs;
  const shown = (field: keyof T) => {
    const stored = value[field];
    const words = say[field];
    if (words) return words(stored);
    if (stored === null) return '';
    if (typeof stored === 'boolean') return t(stored ? 'theirs.on' : 'theirs.off');
    if (Array.isArray(stored) && stored.every((one) => typeof one === 'string')) return stored.join('\n');
    return typeof stored === 'string' || typeof stored === 'number' ? String(stored) : JSON.stringify(stored, null, 1);
  };
  return (
    <Alert color="orange" variant="light" title={t('theirs.title')} role="alert">
      <Stack gap="xs">
        <Text size="sm">{t('theirs.why')}</Text>
        {fields.map((field) => (
          <div key={field}>
            <Text size="xs" fw={600}>
              {t('theirs.now', { field: names[field] ?? textOf('theirs.field', field) })}
            </Text>
            <Code block className="wrap-anywhere">
              {shown(field) || t('theirs.empty')}
            </Code>
          </div>
        ))}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={draft.keepMine}>
            {t('theirs.mine')}
          </Button>
          <Button size="xs" variant="default" onClick={draft.takeTheirs}>
            {t('theirs.take')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
