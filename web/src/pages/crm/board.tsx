import { Group, Select, Text } from '@mantine/core';
import IconBriefcase from 'tabler:briefcase';
import { useQuery } from '@tanstack/react-query';
import { useCan } from '../../app/person.ts';
import { useFilter } from '../../components/filter.ts';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { boardQuery, usePipelines, type Pipeline } from './deals.ts';
import { EditStages } from './stages.tsx';
import { Lanes } from './lanes.tsx';
import { NewDeal } from './new-deal.tsx';
import { NewPipeline } from './new-pipeline.tsx';
import { CrmPage } from './pages.tsx';

/** Board of a pipeline's open deals by stage. */
export default function BoardPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const [chosen, choose] = useFilter('pipeline');
  const pipelines = usePipelines();
  const pipeline = pipelines.data?.find(({ id }) => id === chosen) ?? pipelines.data?.[0];
  return (
    <CrmPage lead={t('crm.lead')} actions={pipeline && mayWrite ? <NewDeal pipeline={pipeline} /> : null}>
      <Answered query={pipelines} skeleton={<ListSkeleton rows={3} height={120} />}>
        {(all) =>
          pipeline ? (
            <>
              <Group gap="xs" justify="space-between">
                {all.length > 1 ? (
                  <Select
                    value={pipeline.id}
                    onChange={(id) => choose(id ?? '')}
                    data={all.map(({ id, name }) => ({ value: id, label: name }))}
                    aria-label={t('crm.pipeline')}
                    allowDeselect={false}
                    w={260}
                  />
                ) : (
                  <Text fw={600} className="clip">
                    {pipeline.name}
                  </Text>
                )}
                {mayWrite ? (
                  <Group gap={4}>
                    <NewPipeline onDone={choose} />
                    <EditStages pipeline={pipeline} />
                  </Group>
                ) : null}
              </Group>
              <Board key={pipeline.id} pipeline={pipeline} mayMove={mayWrite} />
            </>
          ) : (
            <Empty
              icon={IconBriefcase}
              title={t('crm.empty')}
              action={mayWrite ? <NewPipeline isFirst onDone={choose} /> : null}
            >
              {t('crm.empty.why')}
            </Empty>
          )
        }
      </Answered>
    </CrmPage>
  );
}

function Board({ pipeline, mayMove }: { pipeline: Pipeline; mayMove: boolean }) {
  const t = useText();
  const deals = useQuery(boardQuery(pipeline.id));
  return (
    <Answered query={deals} skeleton={<ListSkeleton rows={3} height={120} />}>
      {({ data, pagination }) => (
        <>
          {pagination.has_more ? (
            <Text size="sm" c="dimmed">
              {t('crm.board.more', { count: data.length })}
            </Text>
          ) : null}
          <Lanes pipeline={pipeline} deals={data} mayMove={mayMove} />
        </>
      )}
    </Answered>
  );
}
