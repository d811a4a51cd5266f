import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../app/api.ts';
import { useText } from '../text/index.ts';

/** Select for a contact, searched by part of its name, address or company once it is used. */
export function ContactSelect({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
}) {
  const t = useText();
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed, 200);
  const [isUsed, use] = useState(false);
  const found = useQuery({
    queryKey: ['contacts', 'select', q],
    enabled: isUsed,
    queryFn: ({ signal }) =>
      dataOf(
        heron.POST('/v1/contacts/search', {
          params: { query: { limit: 8 } },
          body: q ? { query: q } : {},
          signal,
        }),
      ),
  });
  const chosen = useQuery({
    queryKey: ['contacts', value],
    queryFn: () => dataOf(heron.GET('/v1/contacts/{id}', { params: { path: { id: value! } } })),
    enabled: value !== null,
  });
  const people = new Map(
    [...(chosen.data && value ? [chosen.data] : []), ...(found.data?.data ?? [])].map((one) => [one.id, one]),
  );
  return (
    <Select
      label={label}
      data={[...people.values()].map(({ id, first_name, last_name, email }) => {
        const name = [first_name, last_name].filter(Boolean).join(' ');
        return { value: id, label: name ? `${name}, ${email}` : email };
      })}
      placeholder={t('contacts.choose')}
      value={value}
      onChange={onChange}
      searchable
      clearable
      onFocus={() => use(true)}
      searchValue={typed}
      onSearchChange={setTyped}
      // Shows all options, because the API has already filtered them.
      filter={({ options }) => options}
      nothingFoundMessage={t('nothingFound')}
    />
  );
}
