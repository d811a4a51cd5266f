import { TimeChart } from '../../components/chart.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import { nextDay } from './period.tsx';

/** Figures available per day. */
type Name = 'sent' | 'opens' | 'clicks' | 'replies' | 'bounces' | 'complaints' | 'unsubscribes';

/** Figures per day as a line chart, and as a table in which each number links to its emails. */
export function Daily<Shown extends Name>({
  title,
  note,
  filename,
  days,
  names,
}: {
  title: string;
  note: string;
  filename: string;
  days: readonly ({ date: string } & Record<Shown, number>)[];
  names: readonly Shown[];
}) {
  const t = useText();
  const labelOf = (name: Name) => t(`reports.figure.${name}`);
  return (
    <TimeChart
      title={title}
      note={note}
      filename={filename}
      dates={days.map(({ date }) => date)}
      series={names.map((name) => ({ label: labelOf(name), values: days.map((day) => day[name]) }))}
    >
      <DataTable
        title={t('reports.daily.table')}
        note={note}
        filename={filename}
        rows={days}
        keyOf={({ date }) => date}
        columns={[
          { label: t('reports.date'), value: ({ date }) => date },
          ...names.map((name) => ({
            label: labelOf(name),
            isNumber: true,
            value: (day: (typeof days)[number]) => day[name],
            show: (day: (typeof days)[number]) => (
              <FigureLink
                value={day[name]}
                // The figure `opens` of this report counts only opens by people.
                number={{
                  figure: name === 'opens' ? 'human_opens' : name,
                  from: `${day.date}T00:00:00Z`,
                  to: nextDay(day.date),
                }}
              />
            ),
          })),
        ]}
      />
    </TimeChart>
  );
}
