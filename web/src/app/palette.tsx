import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { useGoTo, type Address } from '../components/page-link.tsx';
import { useText } from '../text/index.ts';
import { dataOf, heron } from './api.ts';
import { usePerson } from './person.ts';
import { NAVIGATION } from './navigation.ts';

/** Command palette: finds pages and campaigns by part of their name. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useText();
  const { workspace } = usePerson();
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), 150);
  const may = (permission: string) => workspace?.permissions.includes(permission) ?? false;
  const campaigns = useQuery({
    queryKey: ['campaigns', 'palette', q],
    queryFn: ({ signal }) => dataOf(heron.GET('/v1/campaigns', { params: { query: { q, limit: 6 } }, signal })),
    enabled: q.length > 1 && may('view_campaigns'),
  });
  const goTo = useGoTo();
  const go = (to: Address) => {
    onClose();
    goTo(to);
  };
  const items = NAVIGATION.filter(({ needs }) => !needs || may(needs)).filter(({ key }) =>
    t(`nav.${key}`).toLowerCase().includes(typed.trim().toLowerCase()),
  );
  return (
    <Dialog
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      centered={false}
      title={undefined}
      aria-label={t('palette.open')}
    >
      <Command className="palette" shouldFilter={false} label={t('palette.open')}>
        <Command.Input autoFocus value={typed} onValueChange={setTyped} placeholder={t('palette.placeholder')} />
        <Command.List>
          <Command.Empty>{t('palette.nothing')}</Command.Empty>
          {items.length > 0 ? (
            <Command.Group heading={t('palette.pages')}>
              {items.map(({ key, path, icon: Picture }) => (
                <Command.Item key={key} value={`page-${key}`} onSelect={() => go(path)}>
                  <Picture size={17} stroke={1.6} />
                  {t(`nav.${key}`)}
                </Command.Item>
              ))}
            </Command.Group>
          ) : null}
          {campaigns.data?.data.length ? (
            <Command.Group heading={t('nav.campaigns')}>
              {campaigns.data.data.map(({ id, name }) => (
                <Command.Item key={id} value={`campaign-${id}`} onSelect={() => go(`/campaigns/${id}`)}>
                  <span className="clip">{name}</span>
                </Command.Item>
              ))}
            </Command.Group>
          ) : null}
        </Command.List>
      </Command>
    </Dialog>
  );
}
