import type { Story, StorySend, StoryStep, StoryWait } from '../domain/sending/enrollment/story.ts';
import { render } from '../messages/render.ts';

/** Formats a contact's story as lines for a terminal. Times are UTC. */
export function storyLines(story: Story): string[] {
  const { campaign, hold, now, reserved, log } = story;
  return [
    `Enrollment ${story.enrollment_id}`,
    `  contact   ${story.contact_id}`,
    `  campaign  ${campaign.id} "${campaign.name}", ${campaign.status}, ${campaign.steps} steps`,
    `  workflow  ${story.workflow_id}`,
    `  state     ${story.state}${story.reason ? `: ${render(story.reason)}` : ''}`,
    `  entered ${at(story.entered_at)}, launched ${at(story.launched_at)}, finished ${at(story.finished_at)}`,
    '',
    story.steps.length === 0 ? 'No step has begun.' : 'Steps',
    ...story.steps.flatMap((step) => stepLines(step, campaign.steps)),
    ...(reserved ? [`  first email: ${sendText(reserved)}`] : []),
    ...(log.length === 0 ? [] : ['', 'From the campaign log']),
    ...log.map((line) => `  ${at(line.at)}  ${line.type}: ${render(line.message)}`),
    '',
    ...(hold
      ? [
          `Held since ${at(hold.since)} until ${hold.until ? at(hold.until) : 'a person resumes it'} (${[hold.source, hold.reason && render(hold.reason)].filter(Boolean).join(': ')})`,
        ]
      : []),
    now
      ? `Now: ${render(now.waiting_for)}${now.until ? `, until ${at(now.until)}` : ''}${now.blocked ? ' (blocked)' : ''}`
      : `Now: ${story.state}`,
  ];
}

function stepLines(step: StoryStep, total: number): string[] {
  const label = step.position === null ? 'a step deleted since' : `step ${step.position} of ${total}`;
  const end = step.completed_at ? `${at(step.completed_at)}  ` : '';
  return [
    `  ${step.seq}. ${label}${step.name ? ` (${step.name})` : ''}, ${step.kind}`,
    `     ${at(step.started_at)} -> ${end}${step.state}${step.outcome ? `, ${step.outcome}` : ''}${step.attempts > 0 ? `, ${step.attempts} attempts` : ''}`,
    ...(step.detail ? [`     ${render(step.detail)}`] : []),
    ...(step.send ? [`     email: ${sendText(step.send)}`] : []),
    ...(step.wait ? [`     wait: ${waitText(step.wait)}`] : []),
  ];
}

function sendText(send: StorySend): string {
  return [
    send.state,
    `slot ${at(send.slot_at)}`,
    ...(send.sent_at ? [`sent ${at(send.sent_at)}`] : []),
    `mailbox ${send.mailbox_id ?? 'removed since'}`,
    ...(send.message_id ? [`Message-ID ${send.message_id}`] : []),
    ...(send.attempts > 1 ? [`${send.attempts} attempts`] : []),
    ...(send.error ? [send.error] : []),
  ].join(', ');
}

function waitText(wait: StoryWait): string {
  const until = wait.deadline ? `until ${at(wait.deadline)}` : 'without an end';
  if (wait.state === 'open') return `for ${wait.event_name} since ${at(wait.opened_at)}, ${until}`;
  const how = wait.event_id ? `event ${wait.event_id}` : wait.state.replace('_', ' ');
  return `for ${wait.event_name} since ${at(wait.opened_at)}, ${until}; ${how} at ${at(wait.settled_at)}`;
}

function at(time: Date | null): string {
  return time
    ? time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z')
    : '-';
}
