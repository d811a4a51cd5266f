import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback, useMergedRef } from '@mantine/hooks';
import IconSearch from 'tabler:search';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../text/index.ts';

/** How long (ms) nothing is typed before it is asked for. */
const PAUSE_MS = 250;

/**
 * Words by which a list is searched. `onChange` gets them without the spaces around them once nothing was typed for a moment; with
 * `useFilter` they live in the address. Enter asks at once, and so does leaving the field; the cross and Escape empty it.
 */
export function SearchField({
  label,
  value,
  onChange,
  ref,
  onKeyDown,
  ...field
}: Omit<TextInputProps, 'value' | 'onChange' | 'label'> & {
  /** What can be searched for: its name, and what stands in it while it is empty. */
  label: string;
  value: string;
  onChange: (words: string) => void;
}) {
  const t = useText();
  const [typed, setTyped] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const ask = useDebouncedCallback(onChange, PAUSE_MS);
  useEffect(() => {
    // While somebody types, the address is a few letters behind them, and has no space after a word: what they typed counts.
    if (document.activeElement !== input.current) setTyped(value);
  }, [value]);
  const clear = () => {
    ask.cancel();
    setTyped('');
    onChange('');
    input.current?.focus();
  };
  return (
    <TextInput
      type="search"
      enterKeyHint="search"
      autoComplete="off"
      placeholder={label}
      aria-label={label}
      leftSection={<IconSearch size={16} stroke={1.6} />}
      rightSection={typed ? <CloseButton aria-label={t('search.clear')} onClick={clear} /> : null}
      w={{ base: '100%', sm: 280 }}
      {...field}
      ref={useMergedRef(input, ref)}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        ask(event.currentTarget.value.trim());
      }}
      onBlur={() => ask.flush()}
      onKeyDown={(event) => {
        if (event.key === 'Enter') ask.flush();
        if (event.key === 'Escape' && typed) {
          // Some browsers empty the field by themselves, and would have it asked for after a moment.
          event.preventDefault();
          clear();
        }
        onKeyDown?.(event);
      }}
    />
  );
}
