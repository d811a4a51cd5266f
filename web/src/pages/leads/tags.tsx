import { Badge, ColorSwatch, Group, MultiSelect, Text, type MultiSelectProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';

/** Loads the workspace's categories of contacts, shown to people as tags. */
export function useTags() {
  return useQuery({ queryKey: ['tags'], queryFn: () => dataOf(heron.GET('/v1/categories')) });
}

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

/** Input for choosing tags. */
export function TagsInput({ value, ...props }: MultiSelectProps & { value: string[] }) {
  const tags = useTags();
  return (
    <MultiSelect
      data={(tags.data?.data ?? []).map(({ id, title }) => ({ value: id, label: title }))}
      value={value}
      searchable
      clearable
      {...props}
    />
  );
}
