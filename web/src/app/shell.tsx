import {
  ActionIcon,
  AppShell,
  Avatar,
  Badge,
  Box,
  Burger,
  Group,
  Kbd,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import IconSearch from 'tabler:search';
import IconUser from 'tabler:user';
import IconSelector from 'tabler:selector';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import {
  cloneElement,
  lazy,
  Suspense,
  useEffect,
  useRef,
  type ComponentProps,
  type ComponentType,
  type ReactElement,
  type RefObject,
} from 'react';
import { ListSkeleton } from '../components/states.tsx';
import { nameOf } from '../components/name.ts';
import { textOf, toNumber, useText } from '../text/index.ts';
import { dataOf, heron } from './api.ts';
import { subscribeToEvents, useIsLive } from './live.ts';
import { usePerson } from './person.ts';
import { routed } from '../components/page-link.tsx';
import { WorkspaceLogo } from '../components/workspace-logo.tsx';
import { NAVIGATION } from './navigation.ts';

const DeletionBanner = lazy(() => import('./deletion-banner.tsx'));
const Palette = lazy(() => import('./palette.tsx'));
const SignInAgain = lazy(() => import('./sign-in-again.tsx'));
const WorkspaceMenu = lazy(async () => ({ default: (await import('./menus.tsx')).WorkspaceMenu }));
const AccountMenu = lazy(async () => ({ default: (await import('./menus.tsx')).AccountMenu }));

/** Layout of every page: header, navigation and the page itself. */
export function Shell() {
  const t = useText();
  const [isMenuOpen, menu] = useDisclosure();
  const [isPaletteOpen, palette] = useDisclosure();
  const { person, workspace } = usePerson();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const burger = useRef<HTMLButtonElement>(null);
  const closeMenu = () => {
    if (!isMenuOpen) return;
    menu.close();
    burger.current?.focus();
  };
  useHotkeys(
    [
      ['mod+K', palette.toggle],
      ['Escape', closeMenu, { preventDefault: false }],
    ],
    [],
  );
  useEffect(() => (workspace ? subscribeToEvents() : undefined), [workspace?.id]);
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
        <Header burger={burger} isMenuOpen={isMenuOpen} onMenu={menu.toggle} onPalette={palette.open} />
      </AppShell.Header>
      <AppShell.Navbar p="sm" id="menu" data-open={isMenuOpen || undefined}>
        <AppShell.Section mb="sm">
          <WorkspaceButton />
        </AppShell.Section>
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <LiveMark />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {person.deletion_scheduled_for || workspace?.deletion_scheduled_for ? (
          <Suspense fallback={null}>
            <DeletionBanner />
          </Suspense>
        ) : null}
        <Suspense fallback={<ListSkeleton />}>
          {workspace ? null : <SignInAgain />}
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

/** @param burger button that opens the navigation on a phone; it gets the focus again when the navigation closes */
function Header({
  burger,
  isMenuOpen,
  onMenu,
  onPalette,
}: {
  burger: RefObject<HTMLButtonElement | null>;
  isMenuOpen: boolean;
  onMenu: () => void;
  onPalette: () => void;
}) {
  const t = useText();
  const { workspace } = usePerson();
  return (
    <Group h="100%" px="md" gap="sm" wrap="nowrap">
      <Burger
        ref={burger}
        opened={isMenuOpen}
        onClick={onMenu}
        hiddenFrom="sm"
        size="sm"
        aria-label={t('shell.menu')}
        aria-expanded={isMenuOpen}
        aria-controls="menu"
      />
      <Link to="/" className="brand" aria-label={t('shell.home')}>
        <img src="/heron.svg" alt="" width={24} height={24} />
        <Text fw={650} visibleFrom="xs">
          Heron
        </Text>
      </Link>
      {workspace?.is_test ? (
        <Badge color="orange" variant="light" title={t('shell.test.why')}>
          {t('shell.test')}
        </Badge>
      ) : null}
      <Box flex={1} />
      <UnstyledButton aria-haspopup="dialog" onClick={onPalette} visibleFrom="sm">
        <Group gap={8} px="sm" py={5} c="dimmed" bd="1px solid var(--app-line)" bdrs="md">
          <IconSearch size={15} />
          <Text size="sm">{t('palette.open')}</Text>
          <Kbd size="xs">Ctrl K</Kbd>
        </Group>
      </UnstyledButton>
      <ActionIcon
        variant="default"
        size="lg"
        hiddenFrom="sm"
        aria-haspopup="dialog"
        onClick={onPalette}
        aria-label={t('palette.open')}
      >
        <IconSearch size={17} />
      </ActionIcon>
      <AccountButton />
    </Group>
  );
}

function Navigation() {
  const t = useText();
  const { workspace } = usePerson();
  const items = NAVIGATION.filter(({ needs }) => !needs || workspace?.permissions.includes(needs));
  return (
    <Stack component="nav" gap={2} aria-label={t('shell.navigation')}>
      {items.map(({ key, path, icon: Picture }) => (
        <Link key={key} to={routed(path)} className="nav-link" activeOptions={{ exact: path === '/' }}>
          <Picture size={18} stroke={1.6} />
          {t(`nav.${key}`)}
          {key === 'inbox' ? <Unread /> : null}
        </Link>
      ))}
    </Stack>
  );
}

/** Shows the number of unread messages, kept current by events. */
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

function WorkspaceButton() {
  const t = useText();
  const { workspace } = usePerson();
  return (
    <WithMenu menu={WorkspaceMenu}>
      <UnstyledButton w="100%" p={6} bdrs="md">
        <Group gap="xs" wrap="nowrap">
          <WorkspaceLogo workspace={workspace} size={28} />
          <Box flex={1} miw={0}>
            <Text size="sm" fw={600} className="clip">
              {workspace?.name ?? t('shell.noWorkspace')}
            </Text>
            <Text size="xs" c="dimmed" className="clip">
              {textOf('role', workspace?.role.name ?? '')}
            </Text>
          </Box>
          <IconSelector size={16} />
        </Group>
      </UnstyledButton>
    </WithMenu>
  );
}

function AccountButton() {
  const t = useText();
  const { person } = usePerson();
  const name = nameOf(person);
  return (
    <WithMenu menu={AccountMenu}>
      <UnstyledButton aria-label={t('shell.account', { name })}>
        <Avatar size={32} radius="xl" color="heron" variant="light">
          <IconUser size={18} />
        </Avatar>
      </UnstyledButton>
    </WithMenu>
  );
}

/**
 * Button whose menu is loaded at the first click, to keep the first page small. The loaded button replaces this one and
 * gets its focus.
 */
function WithMenu({
  menu: Opened,
  children: button,
}: {
  menu: ComponentType<{ button: ReactElement }>;
  children: ReactElement<ComponentProps<'button'>>;
}) {
  const [wasOpened, { open }] = useDisclosure();
  if (!wasOpened) return cloneElement(button, { onClick: open, 'aria-haspopup': 'menu', 'aria-expanded': false });
  return (
    <Suspense fallback={button}>
      <Opened button={cloneElement(button, { autoFocus: true })} />
    </Suspense>
  );
}

function LiveMark() {
  const t = useText();
  const isLive = useIsLive();
  return (
    <Badge
      variant="dot"
      color={isLive ? 'teal' : 'gray'}
      size="sm"
      tt="none"
      title={t(isLive ? 'shell.live.why' : 'shell.polling.why')}
    >
      {t(isLive ? 'shell.live' : 'shell.polling')}
    </Badge>
  );
}
