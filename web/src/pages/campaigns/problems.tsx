import { Badge, Group, List, Text } from '@mantine/core';
import { Finding } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';

/** Tab on which a person can fix a problem of the whole campaign, by problem code. */
const PLACES: Record<string, 'leads' | 'senders'> = {
  campaign_no_mailbox: 'senders',
  campaign_no_contacts: 'leads',
  no_remaining_leads: 'leads',
  leads_undeliverable: 'leads',
  list_bounce_risk: 'leads',
};
const COLORS: Record<string, string> = { error: 'red', warning: 'yellow', info: 'gray' };

/** Finding on a campaign, with its step if it has one. */
export interface Problem {
  code: string;
  severity: string;
  message: string;
  fix: string;
  step_id?: string | undefined;
}

/** List of problems, worst first, each with its fix and a link to its step. */
export function Problems({ id, problems }: { id: string; problems: readonly Problem[] }) {
  return (
    <List listStyleType="none" spacing="sm">
      {problems.map((one, at) => (
        <List.Item key={at}>
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <Badge variant="light" color={COLORS[one.severity] ?? 'gray'} tt="none" flex="none">
              {textOf('campaign.check', one.severity)}
            </Badge>
            <Text size="sm" component="div" className="wrap-anywhere">
              <Finding message={one.message} fix={one.fix} hasPlace={isPlaced(one)} />
              {isPlaced(one) ? <Place id={id} problem={one} /> : null}
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  );
}

function isPlaced({ step_id: step, code }: Problem): boolean {
  return step !== undefined || code in PLACES;
}

/** Link to the place where a problem is fixed: its step or a tab of the campaign. */
function Place({ id, problem: { step_id: step, code } }: { id: string; problem: Problem }) {
  const t = useText();
  const tab = PLACES[code] ?? 'leads';
  return (
    <PageLink to={`/campaigns/${id}?${step ? `step=${step}` : `tab=${tab}`}`} size="sm" display="block">
      {step ? t('campaign.check.toStep') : t(`campaign.check.to.${tab}`)}
    </PageLink>
  );
}
