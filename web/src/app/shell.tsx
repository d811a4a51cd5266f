import {
  ActionIcon,
  AppShell,
  Avatar,
  Badge,
  Box,
  Burger,
  Group,
  Kbd,
  Menu,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import IconUser from '@tabler/icons-react/dist/esm/icons/IconUser.mjs';
import IconSelector from '@tabler/icons-react/dist/esm/icons/IconSelector.mjs';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { ListSkeleton } from '../parts/states.tsx';
import { loadTexts, toNumber, useText } from '../text/index.ts';
import { dataOf, heron } from './api.ts';
import { followEvents, useIsLive } from './live.ts';
import { selectWorkspace, signOut, usePerson } from './person.ts';
import { setPreferences, usePreferences } from './preferences.ts';
import { ROOMS } from './rooms.ts';

const Palette = lazy(() => import('./palette.tsx'));

/** The frame of every page: where one can go, which workspace it is, and the page. */
export function Shell() {
  const t = useText();
  const [isMenuOpen, menu] = useDisclosure();
  const [isPaletteOpen, palette] = useDisclosure();
  const { workspace } = usePerson();
  const path = useRouterState({ select: (state) => state.location.pathname });
  useHotkeys([['mod+K', palette.toggle]], []);
  useEffect(() => (workspace ? followEvents() : undefined), [workspace?.id]);
  useEffect(menu.close, [path]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding="md"
    >
      <a className="skip" href="#main">
        {t('shell.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger opened={isMenuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label={t('shell.menu')} />
          <Link to="/" className="brand" aria-label={t('shell.home')}>
            <img src="/heron.svg" alt="" width={24} height={24} />
            <Text fw={650} visibleFrom="xs">
              Heron
            </Text>
          </Link>
          <Box flex={1} />
          <UnstyledButton onClick={palette.open} visibleFrom="sm">
            <Group gap={8} px="sm" py={5} c="dimmed" bd="1px solid var(--app-line)" bdrs="md">
              <IconSearch size={15} />
              <Text size="sm">{t('palette.open')}</Text>
              <Kbd size="xs">Ctrl K</Kbd>
            </Group>
          </UnstyledButton>
          <ActionIcon variant="default" size="lg" hiddenFrom="sm" onClick={palette.open} aria-label={t('palette.open')}>
            <IconSearch size={17} />
          </ActionIcon>
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        <AppShell.Section mb="sm">
          <WorkspaceMenu />
        </AppShell.Section>
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <LiveMark />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Suspense fallback={<ListSkeleton />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      {isPaletteOpen ? (
        <Suspense fallback={null}>
          <Palette onClose={palette.close} />
        </Suspense>
      ) : null}
    </AppShell>
  );
}

function Navigation() {
  const t = useText();
  const { workspace } = usePerson();
  const rooms = ROOMS.filter(({ needs }) => !needs || workspace?.permissions.includes(needs));
  return (
    <Stack component="nav" gap={2} aria-label={t('shell.navigation')}>
      {rooms.map(({ key, path, icon: Picture }) => (
        <Link key={key} to={path as never} className="nav-link" activeOptions={{ exact: path === '/' }}>
          <Picture size={18} stroke={1.6} />
          {t(`nav.${key}`)}
          {key === 'inbox' ? <Unread /> : null}
        </Link>
      ))}
    </Stack>
  );
}

/** How many messages nobody has read; kept up to date by events. */
function Unread() {
  const t = useText();
  const { data } = useQuery({
    queryKey: ['inbox', 'count'],
    queryFn: () => dataOf(heron.GET('/v1/unibox/count', {})),
  });
  return data?.count ? (
    <Badge
      size="sm"
      variant="light"
      ml="auto"
      className="figures"
      aria-label={t('shell.unread', { count: data.count })}
    >
      {toNumber(data.count, { notation: 'compact' })}
    </Badge>
  ) : null;
}

function WorkspaceMenu() {
  const t = useText();
  const { workspace, workspaces } = usePerson();
  return (
    <Menu width={220} position="bottom-start">
      <Menu.Target>
        <UnstyledButton w="100%" p={6} bdrs="md">
          <Group gap="xs" wrap="nowrap">
            <Avatar size={28} radius="md" color="heron" name={workspace?.name ?? '?'} variant="light" />
            <Box flex={1} miw={0}>
              <Text size="sm" fw={600} className="clip">
                {workspace?.name ?? t('shell.noWorkspace')}
              </Text>
              <Text size="xs" c="dimmed" className="clip">
                {workspace?.role.name ?? ''}
              </Text>
            </Box>
            <IconSelector size={16} />
          </Group>
        </UnstyledButton>
      </Menu.Target>
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

function AccountMenu() {
  const t = useText();
  const { person } = usePerson();
  const { density, language } = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = [person.first_name, person.last_name].filter(Boolean).join(' ') || person.email;
  const choice = (isChosen: boolean) => (isChosen ? <IconCheck size={15} /> : <Box w={15} />);
  return (
    <Menu width={230} position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <UnstyledButton aria-label={t('shell.account', { name })}>
          <Avatar size={32} radius="xl" color="heron" variant="light">
            <IconUser size={18} />
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
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
        {(['en', 'de'] as const).map((one) => (
          <Menu.Item
            key={one}
            leftSection={choice(language === one)}
            onClick={() => void loadTexts(one).then(() => setPreferences({ language: one }))}
          >
            {one === 'en' ? 'English' : 'Deutsch'}
          </Menu.Item>
        ))}
        <Menu.Divider />
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

function LiveMark() {
  const t = useText();
  const isLive = useIsLive();
  return (
    <Tooltip label={t(isLive ? 'shell.live.why' : 'shell.polling.why')}>
      <Badge variant="dot" color={isLive ? 'teal' : 'gray'} size="sm" tt="none" tabIndex={0}>
        {t(isLive ? 'shell.live' : 'shell.polling')}
      </Badge>
    </Tooltip>
  );
}
