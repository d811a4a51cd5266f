import IconChartLine from 'tabler:chart-line';
import { Empty } from '../../components/states.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

/** Shown in place of a report if no email was sent in the period. The report would only show zeros. */
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
