import IconChartLine from 'tabler:chart-line';
import IconHome from 'tabler:home';
import IconRosetteDiscountCheck from 'tabler:rosette-discount-check';
import IconSend from 'tabler:send';
import IconUsers from 'tabler:users';
import IconInbox from 'tabler:inbox';
import IconBriefcase from 'tabler:briefcase';
import IconChecklist from 'tabler:checklist';
import IconCalendarEvent from 'tabler:calendar-event';
import IconMailbox from 'tabler:mailbox';
import IconRobot from 'tabler:robot';
import IconStethoscope from 'tabler:stethoscope';
import IconSettings from 'tabler:settings';
import IconRoute from 'tabler:route';
import IconPlugConnected from 'tabler:plug-connected';
import type { ReactNode } from 'react';
import type { Address } from '../components/page-link.tsx';
import type { TextKey } from '../text/index.ts';

/** Key of a page. There is a text `nav.<key>` for each. */
type Key = NameIn<TextKey>;
type NameIn<T> = T extends `nav.${infer Name}` ? Name : never;

interface NavigationItem {
  /** Key of the page; its display name is the text `nav.<key>`. */
  key: Key;
  path: Address;
  icon: (props: { size?: number; stroke?: number }) => ReactNode;
  /** Permission that a person needs to see the entry. */
  needs?: string;
}

/** Entries of the navigation and of the command palette, in this order. */
export const NAVIGATION: readonly NavigationItem[] = [
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
  { key: 'settings', path: '/settings', icon: IconSettings },
];
