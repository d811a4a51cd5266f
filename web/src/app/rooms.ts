import IconChartLine from '@tabler/icons-react/dist/esm/icons/IconChartLine.mjs';
import IconHome from '@tabler/icons-react/dist/esm/icons/IconHome.mjs';
import IconRosetteDiscountCheck from '@tabler/icons-react/dist/esm/icons/IconRosetteDiscountCheck.mjs';
import IconSend from '@tabler/icons-react/dist/esm/icons/IconSend.mjs';
import IconUsers from '@tabler/icons-react/dist/esm/icons/IconUsers.mjs';
import IconInbox from '@tabler/icons-react/dist/esm/icons/IconInbox.mjs';
import IconBriefcase from '@tabler/icons-react/dist/esm/icons/IconBriefcase.mjs';
import IconChecklist from '@tabler/icons-react/dist/esm/icons/IconChecklist.mjs';
import IconCalendarEvent from '@tabler/icons-react/dist/esm/icons/IconCalendarEvent.mjs';
import IconMailbox from '@tabler/icons-react/dist/esm/icons/IconMailbox.mjs';
import IconRobot from '@tabler/icons-react/dist/esm/icons/IconRobot.mjs';
import IconStethoscope from '@tabler/icons-react/dist/esm/icons/IconStethoscope.mjs';
import IconRoute from '@tabler/icons-react/dist/esm/icons/IconRoute.mjs';
import IconPlugConnected from '@tabler/icons-react/dist/esm/icons/IconPlugConnected.mjs';
import type { ReactNode } from 'react';
import type { TextKey } from '../text/index.ts';

/** A room of which the texts of the shell have a name. */
type Key = NameIn<TextKey>;
type NameIn<T> = T extends `nav.${infer Name}` ? Name : never;

interface Room {
  /** Its text is `nav.<key>`. */
  key: Key;
  path: string;
  icon: (props: { size?: number; stroke?: number }) => ReactNode;
  /** Permission of the role without which it is not shown. */
  needs?: string;
}

/** The rooms of the dashboard, in the order of the navigation and of the command palette. */
export const ROOMS: readonly Room[] = [
  { key: 'start', path: '/', icon: IconHome },
  { key: 'campaigns', path: '/campaigns', icon: IconSend, needs: 'view_campaigns' },
  { key: 'inbox', path: '/inbox', icon: IconInbox, needs: 'view_campaigns' },
  { key: 'leads', path: '/leads', icon: IconUsers, needs: 'view_contacts' },
  { key: 'crm', path: '/crm', icon: IconBriefcase, needs: 'view_contacts' },
  { key: 'tasks', path: '/tasks', icon: IconChecklist, needs: 'view_contacts' },
  { key: 'meetings', path: '/meetings', icon: IconCalendarEvent, needs: 'view_contacts' },
  { key: 'automations', path: '/automations', icon: IconRoute, needs: 'use_integrations' },
  { key: 'integrations', path: '/integrations', icon: IconPlugConnected, needs: 'use_integrations' },
  { key: 'mailboxes', path: '/mailboxes', icon: IconMailbox, needs: 'view_campaigns' },
  { key: 'review', path: '/review', icon: IconRosetteDiscountCheck, needs: 'send_campaigns' },
  { key: 'agents', path: '/agents', icon: IconRobot, needs: 'view_campaigns' },
  { key: 'reports', path: '/reports', icon: IconChartLine, needs: 'view_analytics' },
  { key: 'operator', path: '/operations', icon: IconStethoscope, needs: 'view_analytics' },
];
