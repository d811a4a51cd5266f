/**
 * Campaign of the demo, as sent to POST /v1/campaigns:
 * hello ──> ask the app ──> offer ──> wait for order.paid ──┬─ event ───> welcome
 *                                                           └─ timeout ─> nudge
 */
import type { BodyOf } from '../../client/src/index.ts';

/**
 * Phrase that occurs in every email of a step and in no other email. Recipients and the demo identify the step by it.
 */
export const MARKS = {
  hello: 'May I send you an offer',
  offer: 'Your code is',
  welcome: 'Thank you for your order',
  nudge: 'is still yours',
} as const;

export type EmailName = keyof typeof MARKS;
export const EMAILS = Object.keys(MARKS) as EmailName[];

export const EVENT = 'order.paid';
/** Target of the links. It is never requested, because the demo only checks the redirect. */
export const SHOP = 'https://northlight.example/shop';

const SUBJECT = '{A question|A quick question|One question} about {{.Company | default "your company"}}';

const HELLO_TEXT = `{Hi|Hello|Good day} {{.FirstName | default "there"}},

{we light up|we make lamps for} offices like the one of {{.Company | default "your company"}}{{if .city}} in {{.city}}{{end}}.
${MARKS.hello}? Here is what we make: ${SHOP}

{Best regards|Kind regards}`;

const HELLO_HTML = `<p>{Hi|Hello|Good day} {{.FirstName | default "there"}},</p>
<p>{we light up|we make lamps for} offices like the one of <b>{{.Company | default "your company"}}</b>{{if .city}} in {{.city}}{{end}}.
${MARKS.hello}? Here is <a href="${SHOP}">what we make</a>.</p>
<p>{Best regards|Kind regards}</p>`;

const OFFER_TEXT = `{{.FirstName | default "Hello again"}}, I asked our shop what it can do for you: {{.App.offer.discount_percent}} percent off for up to
{{.App.offer.seats}} desks.

${MARKS.offer} {{.App.offer.offer_code}}: ${SHOP}?code={{.App.offer.offer_code | urlquery}}`;

const WELCOME_TEXT = `{Hi|Hello} {{.FirstName | default "there"}},

${MARKS.welcome} {{.App.order.number}}! Your lamps are on their way.`;

const NUDGE_TEXT = `{{.FirstName | default "Hello"}}, just so that it does not get lost: {{.App.offer.offer_code}} ${MARKS.nudge} until the end of the month.`;

/** Name of the step at which people have an offer but have not bought yet. */
export const WAIT_STEP = `wait for ${EVENT}`;

const outcome = (value: string) => [{ field: 'node_outcome', operator: 'equals' as const, value }];

/** Returns the body of POST /v1/campaigns. People who have not bought `waitMinutes` after the offer get the nudge. */
export function campaignBody(appConnectionId: string, waitMinutes: number): BodyOf<'/v1/campaigns', 'post'> {
  return {
    name: 'Lamps for spring',
    sender_strategy: 'explicit',
    // The campaign sends at any time, and its daily limit is never reached. Windows are in minutes of the day, Sunday
    // first.
    schedule_windows: Array.from({ length: 7 }, () => [{ start: 0, end: 1440 }]),
    daily_limit: 100_000,
    stop_on_reply: true,
    open_tracking: true,
    link_tracking: true,
    unsubscribe_header: true,
    // Disables the pause after many bounces. In this small campaign, three bounces among the first fifty emails happen
    // by chance.
    advanced_overrides: { bounce_pipeline: { auto_pause_campaign_on_spike: false } },
    steps: [
      { name: 'hello', subject: SUBJECT, body_plain: HELLO_TEXT, body_html: HELLO_HTML },
      {
        name: 'ask the app',
        action: {
          type: 'app_action',
          app_connection_id: appConnectionId,
          path: '/offers',
          output_key: 'offer',
          inputs: { plan: '{{.plan | default "free"}}', city: '{{.city | default "unknown"}}' },
        },
        wait_after: 0,
      },
      // Without a subject the email is a reply in the conversation of the first one.
      { name: 'offer', body_plain: OFFER_TEXT, wait_after: 0 },
      {
        name: WAIT_STEP,
        action: { type: 'wait_for_event', wait_event_name: EVENT, timeout_minutes: waitMinutes, output_key: 'order' },
        // A branch refers to steps by their index in this list.
        conditions: {
          branches: [
            { to: 4, when: outcome('event') },
            { to: 5, when: outcome('timeout') },
          ],
        },
        wait_after: 0,
      },
      // An email with a subject starts a new conversation. No step follows.
      {
        name: 'welcome',
        subject: 'Welcome, {{.FirstName | default "friend"}}!',
        body_plain: WELCOME_TEXT,
        wait_after: 0,
        conditions: { branches: [] },
      },
      { name: 'nudge', body_plain: NUDGE_TEXT, wait_after: 0 },
    ],
  };
}
