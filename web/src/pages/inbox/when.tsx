import { Button, Menu, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { toDateTime } from '../../components/time.tsx';
import { useText, type TextKey } from '../../text/index.ts';

/** Hour (in the viewer's zone) that the choices "tomorrow" and "on Monday" mean. */
const MORNING = 8;

/** Returns common times for snoozing and scheduling. */
function usualMoments(now: Date): { key: TextKey; at: Date }[] {
  const morning = (days: number) => {
    const at = new Date(now);
    at.setDate(at.getDate() + days);
    at.setHours(MORNING, 0, 0, 0);
    return at;
  };
  const toMonday = (8 - now.getDay()) % 7 || 7;
  return [
    { key: 'inbox.when.later', at: new Date(now.getTime() + 3 * 3_600_000) },
    { key: 'inbox.when.tomorrow', at: morning(1) },
    ...(toMonday > 1 ? [{ key: 'inbox.when.monday' as const, at: morning(toMonday) }] : []),
    { key: 'inbox.when.week', at: morning(7) },
  ];
}

/** Menu for choosing a common time or any other time. */
export function WhenMenu({
  label,
  isOpen,
  onOpen,
  onChoose,
  children,
}: {
  /** Purpose of the time, for screen readers. */
  label: string;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onChoose: (at: Date) => void;
  children: ReactNode;
}) {
  const t = useText();
  const [typed, setTyped] = useState('');
  const choose = (at: Date) => {
    onOpen(false);
    onChoose(at);
  };
  const at = new Date(typed);
  return (
    <Menu opened={isOpen} onChange={onOpen} position="bottom-end" width={270} trapFocus withinPortal>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown aria-label={label}>
        {usualMoments(new Date()).map(({ key, at: moment }) => (
          <Menu.Item
            key={key}
            onClick={() => choose(moment)}
            rightSection={<small>{toDateTime(moment.toISOString())}</small>}
          >
            {t(key)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <form
          className="inbox-when-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (at.getTime() > Date.now()) choose(at);
          }}
        >
          <TextInput
            type="datetime-local"
            size="xs"
            label={t('inbox.when.other')}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => event.stopPropagation()}
          />
          <Button type="submit" size="xs" variant="default" disabled={!(at.getTime() > Date.now())}>
            {t('inbox.when.do')}
          </Button>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
