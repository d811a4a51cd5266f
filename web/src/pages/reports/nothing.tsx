import IconChartLine from 'tabler:chart-line';
import { Empty } from '../../components/states.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

/** Replaces a report about a period without sent emails, which would only show zeros. */
export function NothingSent() {
  const t = useText();
  return (
    <Empty
      icon={IconChartLine}
      title={t('reports.none')}
      action={<PageLinkButton to="/campaigns">{t('nav.campaigns')}</PageLinkButton>}
    >
      {t('reports.none.why')}
    </Empty>
  );
}
