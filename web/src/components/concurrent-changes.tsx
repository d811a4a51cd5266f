import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { textOf, useText } from '../text/index.ts';
import type { Draft } from './draft.ts';

/**
 * Shows fields that another person has changed at the same time, with their stored values. The person decides which
 * values to keep.
 */
export function ConcurrentChanges<T>({
  draft,
  names = {},
  say = {},
}: {
  draft: Pick<Draft<T>, 'theirs' | 'takeTheirs' | 'keepMine'>;
  /** Labels of fields, if they differ from the standard ones. */
  names?: { [Field in keyof T]?: string } | undefined;
  /** Formatters of field values. By default a text, number or list is shown unchanged. */
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
