import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback, useMergedRef } from '@mantine/hooks';
import IconSearch from 'tabler:search';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../text/index.ts';

/** Time (ms) without typing after which the search starts. */
const PAUSE_MS = 250;

/**
 * Search field of a list. `onChange` receives the trimmed text after a short pause in typing; `useFilter` stores it in
 * the URL. Enter and leaving the field start the search immediately. The cross and Escape clear the field.
 */
export function SearchField({
  label,
  value,
  onChange,
  ref,
  onKeyDown,
  ...field
}: Omit<TextInputProps, 'value' | 'onChange' | 'label'> & {
  /** Label and placeholder of the field. */
  label: string;
  value: string;
  onChange: (words: string) => void;
}) {
  const t = useText();
  const [typed, setTyped] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const ask = useDebouncedCallback(onChange, PAUSE_MS);
  useEffect(() => {
    // Keeps the typed text while the person types, because the value from the URL is older and trimmed.
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
          // Prevents some browsers from clearing the field themselves, which would start the search with a delay.
          event.preventDefault();
          clear();
        }
        onKeyDown?.(event);
      }}
    />
  );
}
