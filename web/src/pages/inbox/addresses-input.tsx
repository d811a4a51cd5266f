import { TagsInput, type TagsInputProps } from '@mantine/core';

/** Field of several addresses. A comma, semicolon or space ends one. */
export function AddressesInput(field: TagsInputProps & { label: string }) {
  return <TagsInput {...field} acceptValueOnBlur splitChars={[',', ';', ' ']} />;
}
