import { NumberInput, type NumberInputProps } from '@mantine/core';

/** A number of things that has to be given: at least one, and no part of one. */
export function WholeNumber({
  why,
  ...field
}: NumberInputProps & { /** What it is for, below its label. */ why: string }) {
  return <NumberInput min={1} allowDecimal={false} required description={why} {...field} />;
}
