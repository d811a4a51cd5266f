import { TagsInput, type TagsInputProps } from '@mantine/core';

/** Field for several addresses. A comma, semicolon or space ends an address. */
export function AddressesInput(field: TagsInputProps & { label: string }) {
  return <TagsInput {...field} acceptValueOnBlur splitChars={[',', ';', ' ']} />;
}
