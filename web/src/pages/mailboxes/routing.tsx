import { Button, Group, Table, Text } from '@mantine/core';
import IconPlus from 'tabler:plus';
import IconRoute from 'tabler:route';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { shownAddress } from '../../components/address.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Page } from '../../components/page.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { TableFrame } from '../../components/table-frame.tsx';
import { text, textOf, toNumber, useText } from '../../text/index.ts';

const RuleForm = lazy(() => import('./routing-form.tsx'));

export type Rule = AnswerOf<'/v1/warmup/routing'>['rules'][number];

/** Page of the rules that decide which mailboxes exchange warmup emails, in the order in which they are tried. */
export default function WarmupRoutingPage() {
  const t = useText();
  const [edited, setEdited] = useState<Rule | 'new'>();
  const rules = useQuery({
    queryKey: ['mailboxes', 'routing'],
    queryFn: () => dataOf(heron.GET('/v1/warmup/routing')),
  });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={() => setEdited('new')}>
      {t('routing.new')}
    </Button>
  );
  return (
    <Page
      title={t('routing.title')}
      lead={t('routing.lead')}
      back={{ to: '/mailboxes', label: t('nav.mailboxes') }}
      actions={rules.data?.rules.length ? add : null}
    >
      <Answered query={rules} skeleton={<ListSkeleton />}>
        {({ rules: rows }) =>
          rows.length === 0 ? (
            <Empty icon={IconRoute} title={t('routing.none')} action={add}>
              {t('routing.none.why')}
            </Empty>
          ) : (
            <TableFrame
              columns={[
                { label: t('routing.name') },
                { label: t('routing.pair'), isExtra: true },
                { label: t('routing.weight'), isNumber: true },
                { label: t('routing.priority'), isNumber: true, isExtra: true },
                { label: t('routing.edit'), isHidden: true },
              ]}
              minWidth={640}
              isEmpty={false}
              empty={undefined}
            >
              {rows.map((rule) => (
                <RuleRow key={rule.id} rule={rule} onEdit={() => setEdited(rule)} />
              ))}
            </TableFrame>
          )
        }
      </Answered>
      {edited ? (
        <Suspense fallback={null}>
          <RuleForm rule={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
        </Suspense>
      ) : null}
    </Page>
  );
}

function RuleRow({ rule, onEdit }: { rule: Rule; onEdit: () => void }) {
  const t = useText();
  const { id, name, weight, priority, enabled } = rule;
  const remove = useAction(() => dataOf(heron.DELETE('/v1/warmup/routing/{id}', { params: { path: { id } } })), {
    stale: [['mailboxes', 'routing']],
    isShown: true,
    done: t('routing.deleted'),
  });
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 150, sm: 300 }} className="clip" title={name}>
        {name}
        {enabled ? null : (
          <Text size="xs" c="dimmed">
            {t('routing.off')}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="wrap-anywhere">
        {t('routing.pair.of', {
          sender: sideName(rule.sender_match_type, rule.sender_match_value),
          recipient: sideName(rule.recipient_match_type, rule.recipient_match_value),
        })}
      </Table.Td>
      <Table.Td ta="right">{weight === 0 ? t('routing.never') : toNumber(weight)}</Table.Td>
      <Table.Td ta="right">{toNumber(priority)}</Table.Td>
      <Table.Td>
        <Group gap={4} justify="flex-end" miw={{ base: 0, sm: 'max-content' }}>
          <Button
            size="compact-xs"
            variant="default"
            aria-haspopup="dialog"
            aria-label={t('routing.edit.of', { name })}
            onClick={onEdit}
          >
            {t('routing.edit')}
          </Button>
          <ConfirmButton
            size="compact-xs"
            act={remove}
            label={t('routing.delete')}
            title={t('routing.delete.ask', { name })}
          >
            {t('routing.delete.why')}
          </ConfirmButton>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** Returns a text that names the mailboxes on one side of a rule. */
function sideName(type: Rule['sender_match_type'], value: string): string {
  if (type === 'any') return text('routing.match.any');
  if (type === 'provider') return textOf('routing.provider', value);
  return type === 'tld' ? `*.${value.replace(/^\./, '')}` : shownAddress(value);
}
