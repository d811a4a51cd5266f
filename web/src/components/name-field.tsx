import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

/**
 * Name field that is saved when it loses the focus. If the person has typed nothing, it shows changes by others and
 * does not overwrite them.
 */
export function NameField({
  name,
  rename,
  ...field
}: TextInputProps & { name: string; rename: (to: string, done: { onSuccess: () => void }) => void }) {
  const [typed, type] = useState<string>();
  return (
    <TextInput
      maxLength={255}
      {...field}
      value={typed ?? name}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={() =>
        typed?.trim() && typed !== name ? rename(typed, { onSuccess: () => type(undefined) }) : type(undefined)
      }
    />
  );
}
