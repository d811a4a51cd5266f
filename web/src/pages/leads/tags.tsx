import { Badge, ColorSwatch, Group, MultiSelect, Text, type MultiSelectProps } from '@mantine/core';
import { useState } from 'react';
import { useTags } from '../../components/choices.ts';

/** Tags of one contact: colour and name, limited to the first few in narrow spaces. */
export function Tags({
  tags,
  most = tags.length,
}: {
  tags: { id: string; title: string; color: string }[];
  most?: number;
}) {
  const more = tags.length - most;
  return (
    <Group gap={4} wrap="nowrap">
      {tags.slice(0, most).map(({ id, title, color }) => (
        <Badge
          key={id}
          variant="default"
          tt="none"
          fw={500}
          miw={0}
          leftSection={<ColorSwatch size={8} color={color} withShadow={false} />}
          title={title}
        >
          {title}
        </Badge>
      ))}
      {more > 0 ? (
        <Text size="xs" c="dimmed" title={tags.map(({ title }) => title).join(', ')}>
          {`+${more}`}
        </Text>
      ) : null}
    </Group>
  );
}

/** Input for choosing tags. The tags of the workspace are loaded when it is used or holds one without a known name. */
export function TagsInput({
  known = [],
  value,
  ...props
}: MultiSelectProps & {
  value: string[];
  /** Tags whose names are known. */
  known?: { id: string; title: string }[];
}) {
  const [isUsed, use] = useState(false);
  const { data } = useTags(isUsed || value.some((tag) => !known.some(({ id }) => id === tag)));
  return (
    <MultiSelect
      data={data ?? known.map(({ id, title }) => ({ value: id, label: title }))}
      value={value}
      onFocus={() => use(true)}
      searchable
      clearable
      {...props}
    />
  );
}
