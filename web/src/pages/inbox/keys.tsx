import { Kbd, Switch, Table } from '@mantine/core';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { useText } from '../../text/index.ts';
import { KINDS } from './kinds.ts';

/** Keyboard shortcuts in the order of the help; their texts are `inbox.key.<name>`. */
const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['r', 'reply'],
  ['a', 'replyAll'],
  ['e', 'archive'],
  ['s', 'snooze'],
  ['l', 'label'],
  ['u', 'unread'],
  ['#', 'trash'],
  ['z', 'undo'],
  ['c', 'compose'],
  ['/', 'search'],
  ...KINDS.map((kind, at) => [`${at + 1}`, `is.${kind}`] as const),
  ['0', 'goOn'],
  ['Escape', 'back'],
  ['?', 'help'],
] as const;
type KeyAct = (typeof KEYS)[number][1];

const STORED = 'heron-inbox-keys';
const listeners = new Set<() => void>();

/**
 * Returns true if single-key shortcuts are on, as stored in this browser. People who use speech input turn them off.
 */
function useIsOn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(STORED) !== 'off',
  );
}

/** Handles the shortcuts, except while the person types, while a dialog or menu is open, or if shortcuts are off. */
export function useKeys(acts: Record<KeyAct, () => void>): void {
  const isOn = useIsOn();
  const newest = useRef(acts);
  newest.current = acts;
  useEffect(() => {
    if (!isOn) return undefined;
    const press = (event: KeyboardEvent) => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented ||
        !(event.target instanceof Element)
      )
        return;
      if (
        event.target.closest(
          'input, textarea, select, [contenteditable], [role="dialog"], [role="menu"], [role="listbox"]',
        )
      )
        return;
      const found = KEYS.find(([key]) => key === event.key);
      if (!found) return;
      event.preventDefault();
      newest.current[found[1]]();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [isOn]);
}

/** Help dialog of the shortcuts. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = useText();
  const isOn = useIsOn();
  return (
    <Dialog onClose={onClose} title={t('inbox.keys')} size="sm">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {KEYS.map(([key, act]) => (
            <Table.Tr key={key}>
              <Table.Td>{t(`inbox.key.${act}`)}</Table.Td>
              <Table.Td ta="right">
                <Kbd>{key.length === 1 ? key.toUpperCase() : 'Esc'}</Kbd>
              </Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Td>{t('inbox.key.send')}</Table.Td>
            <Table.Td ta="right">
              <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label={t('inbox.keys.on')}
        checked={isOn}
        onChange={(event) => {
          localStorage.setItem(STORED, event.currentTarget.checked ? 'on' : 'off');
          for (const listener of listeners) listener();
        }}
      />
    </Dialog>
  );
}
