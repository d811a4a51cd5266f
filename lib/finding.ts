import { SENTENCES, type Language, type Message, type MessageCode } from '../messages/index.ts';
import { render } from '../messages/render.ts';

/** The weight of a finding: an error keeps something from working, a warning soon will, an info is worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

type FindingSentence = Extract<MessageCode, `finding.${string}`>;

/** The result of a check: a sentence `finding.<code>` with its values. The remedy is the sentence `<code>.fix`. It is JSON. */
export interface Finding extends Message {
  code: FindingSentence;
  severity: Severity;
}

/** One group of checks before a launch, as reports keep it. */
export interface PreflightCheck {
  /** Stable, such as `sending_domains`. */
  key: string;
  passed: boolean;
  /** The severity of its worst finding. */
  severity: Severity;
}

/** One finding of the checks before a launch, as reports keep it. An error keeps the campaign from starting. */
export interface PreflightFinding extends Finding {
  /** The key of the check it belongs to. */
  check: string;
  step_id?: string;
}

/** A finding as its reader gets it. */
export interface SaidFinding {
  /** Stable; a code may have several sentences. */
  code: string;
  severity: Severity;
  message: string;
  /** Empty where there is nothing to do. */
  fix: string;
  values: Message['values'];
}

/** A finding of a message whose code begins with `finding.`. */
export function found(severity: Severity, { code, values }: Message): Finding {
  return { code: code as FindingSentence, severity, values };
}

/**
 * The stable code of a finding: `spf_missing` of `finding.spf_missing`, `campaign_invalid` of `finding.campaign_invalid.no_steps`,
 * `content_capitals` of `finding.content` about the issue `copy.capitals.body`.
 */
export function findingCode(finding: Message): string {
  const code = finding.code.split('.')[1]!;
  const issue = issueOf(finding);
  return issue ? `${code}_${issue.code.split('.')[1]!}` : code;
}

/** The message that a finding is about, where another part of Heron made it. */
function issueOf({ values: { issue } }: Message): Message | undefined {
  return typeof issue === 'object' && 'code' in issue ? issue : undefined;
}

/** The sentence beside that of a finding: what to do about it, or its heading. Undefined where there is none. */
export function besideFinding(finding: Message, name: 'fix' | 'title'): Message | undefined {
  const { code, values } = issueOf(finding) ?? finding;
  const beside = `${code}.${name}`;
  return beside in SENTENCES.en ? { code: beside as MessageCode, values } : undefined;
}

/** A finding in the words of a language. */
export function sayFinding(finding: Finding, language?: Language): SaidFinding {
  const fix = besideFinding(finding, 'fix');
  return {
    code: findingCode(finding),
    severity: finding.severity,
    message: render(finding, language),
    fix: fix ? render(fix, language) : '',
    values: finding.values,
  };
}
