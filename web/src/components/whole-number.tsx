import { NumberInput, type NumberInputProps } from '@mantine/core';

/** Input for a required whole number of at least one. */
export function WholeNumber({ why, ...field }: NumberInputProps & { /** Help text below the label. */ why: string }) {
  return <NumberInput min={1} allowDecimal={false} required description={why} {...field} />;
}
