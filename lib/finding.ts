import { SENTENCES, type Language, type Message, type MessageCode } from '../messages/index.ts';
import { render } from '../messages/render.ts';

/**
 * Severity of a finding. An `error` prevents a function, a `warning` may soon prevent one, an `info` needs no action.
 */
export type Severity = 'error' | 'warning' | 'info';

type FindingSentence = Extract<MessageCode, `finding.${string}`>;

/**
 * Result of a check: the message `finding.<code>` with its values. The remedy is the message `finding.<code>.fix`.
 * Serializable as JSON.
 */
export interface Finding extends Message {
  code: FindingSentence;
  severity: Severity;
}

/** One group of checks before a launch, as stored in reports. */
export interface PreflightCheck {
  /** Stable key, such as `sending_domains`. */
  key: string;
  passed: boolean;
  /** Severity of its worst finding. */
  severity: Severity;
}

/** One finding of the checks before a launch, as stored in reports. An error prevents the start of the campaign. */
export interface PreflightFinding extends Finding {
  /** Key of the check that it belongs to. */
  check: string;
  step_id?: string;
}

/** A finding translated into the reader's language. */
export interface RenderedFinding {
  /** Stable code. Several messages may share a code. */
  code: string;
  severity: Severity;
  message: string;
  /** Remedy. Empty if no action is needed. */
  fix: string;
  values: Message['values'];
}

/** Creates a finding from a message with a code that begins with `finding.`. */
export function toFinding(severity: Severity, { code, values }: Message): Finding {
  return { code: code as FindingSentence, severity, values };
}

/**
 * Returns the stable code of a finding. Examples: `spf_missing` for `finding.spf_missing`, `campaign_invalid` for
 * `finding.campaign_invalid.no_steps`, `content_capitals` for `finding.content` about the issue `copy.capitals.body`.
 */
export function findingCode(finding: Message): string {
  const code = finding.code.split('.')[1]!;
  const issue = issueOf(finding);
  return issue ? `${code}_${issue.code.split('.')[1]!}` : code;
}

/** Returns the message about the cause of a finding, if the finding quotes one from another part of Heron. */
function issueOf({ values: { issue } }: Message): Message | undefined {
  return typeof issue === 'object' && 'code' in issue ? issue : undefined;
}

/** Returns the message with the fix or the title of a finding. Undefined if there is none. */
export function findingMessage(finding: Message, name: 'fix' | 'title'): Message | undefined {
  const { code, values } = issueOf(finding) ?? finding;
  const beside = `${code}.${name}`;
  return beside in SENTENCES.en ? { code: beside as MessageCode, values } : undefined;
}

/** Translates a finding into a language. */
export function renderFinding(finding: Finding, language?: Language): RenderedFinding {
  const fix = findingMessage(finding, 'fix');
  return {
    code: findingCode(finding),
    severity: finding.severity,
    message: render(finding, language),
    fix: fix ? render(fix, language) : '',
    values: finding.values,
  };
}
