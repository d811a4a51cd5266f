import { Box, Menu, useMantineColorScheme } from '@mantine/core';
import IconCheck from 'tabler:check';
import { Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactElement } from 'react';
import { LANGUAGES, type Language } from '../../../messages/languages.ts';
import { routed } from '../components/page-link.tsx';
import { loadTexts, useText } from '../text/index.ts';
import { isShort, queryClient } from './api.ts';
import { selectWorkspace, signOut, usePerson } from './person.ts';
import { setPreferences, usePreferences } from './preferences.ts';

/** Menu of the person's workspaces, for switching between them. */
export function WorkspaceMenu({ button }: { button: ReactElement }) {
  const t = useText();
  const { workspaces } = usePerson();
  const opening = useOpening();
  return (
    <Menu {...opening} width={220} position="bottom-start">
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('shell.workspaces')}</Menu.Label>
        {workspaces.map((one) => (
          <Menu.Item
            key={one.id}
            leftSection={one.current ? <IconCheck size={15} /> : <Box w={15} />}
            onClick={() => (one.current ? undefined : void selectWorkspace(one.id))}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Menu with the person's display settings and the sign-out. */
export function AccountMenu({ button }: { button: ReactElement }) {
  const t = useText();
  const { person } = usePerson();
  const { density, language } = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const opening = useOpening();
  const choice = (isChosen: boolean) => (isChosen ? <IconCheck size={15} /> : <Box w={15} />);
  return (
    <Menu {...opening} width={230} position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="wrap-anywhere">{person.email}</Menu.Label>
        <Menu.Label>{t('shell.theme')}</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} leftSection={choice(colorScheme === scheme)} onClick={() => setColorScheme(scheme)}>
            {t(`shell.theme.${scheme}`)}
          </Menu.Item>
        ))}
        <Menu.Label>{t('shell.density')}</Menu.Label>
        {(['comfortable', 'dense'] as const).map((one) => (
          <Menu.Item key={one} leftSection={choice(density === one)} onClick={() => setPreferences({ density: one })}>
            {t(`shell.density.${one}`)}
          </Menu.Item>
        ))}
        <Menu.Label>{t('shell.language')}</Menu.Label>
        {LANGUAGES.map((one) => (
          <Menu.Item key={one} leftSection={choice(language === one)} onClick={() => void read(one)}>
            {new Intl.DisplayNames(one, { type: 'language' }).of(one)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to={routed('/settings')} closeMenuOnClick>
          {t('nav.settings')}
        </Menu.Item>
        <Menu.Item component="a" href="/account/apps">
          {t('shell.apps')}
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          {t('shell.docs')}
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{t('shell.signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Changes the language, and loads all texts in the new language. */
async function read(language: Language): Promise<void> {
  await loadTexts(language);
  setPreferences({ language });
  await queryClient.invalidateQueries({ predicate: isShort });
}

/** Opens a menu only after it is rendered, so that it remembers the focused element and restores the focus. */
function useOpening() {
  const [opened, onChange] = useState(false);
  useEffect(() => onChange(true), []);
  return { opened, onChange };
}
