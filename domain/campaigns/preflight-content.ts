import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Written, WrittenVariant } from '../sending/campaign/written.ts';
import { scoreContent } from '../mail/messages/score.ts';
import { message } from '../../messages/index.ts';
import type { OutreachSettings } from '../sending/campaign/outreach-settings.ts';
import { infoFinding, warningFinding, type WeighedFinding } from './preflight-findings.ts';

/** Text of an email that is sent: the step's own text, or a variant of it. */
export interface EmailCopy {
  stepId: string;
  /** Name of the step, followed by the variant's name if the text is a variant. */
  name: string;
  subject: string;
  bodyPlain: string;
  bodyHtml: string;
  isReply: boolean;
}

/** The texts of a campaign's emails, and the active variants. */
export interface CampaignCopy {
  copies: EmailCopy[];
  variants: WrittenVariant[];
  firstEmailId: string | null;
}

/**
 * Returns the copy of a campaign. For each email step it contains the promoted variant. Without one, it contains the
 * variants with a weight above 0, or if there are none, the step's own text.
 */
export function copyOf({ text_only: textOnly }: Pick<CampaignRow, 'text_only'>, written: Written): CampaignCopy {
  const { variants } = written;
  const steps = written.steps.filter(({ kind }) => kind === 'email');
  const copies = steps.flatMap((step, index) => {
    const own = variantsOf(step.id, { variants, firstEmailId: steps[0]!.id });
    const winner = own.find(({ promoted_at: promoted }) => promoted !== null);
    const drawn = winner ? [winner] : own.filter(({ weight }) => weight > 0);
    const label = step.name || `Email ${index + 1}`;
    const wordings = drawn.length > 0 ? drawn : [{ ...step, name: '' }];
    return wordings.map(({ name, subject, body_plain: bodyPlain, body_html: html }): EmailCopy => ({
      stepId: step.id,
      name: name === '' ? label : `${label}, variant ${name}`,
      subject: subject || step.subject,
      bodyPlain,
      // A text-only campaign uses the HTML only if its plain text is empty and must be derived from the HTML.
      bodyHtml: textOnly && bodyPlain.trim() !== '' ? '' : html,
      isReply: step.thread_reply && index > 0,
    }));
  });
  return { copies, variants, firstEmailId: steps[0]?.id ?? null };
}

/** Returns the active variants of a step. Variants without a step belong to the first email. */
function variantsOf(stepId: string, { variants, firstEmailId }: Omit<CampaignCopy, 'copies'>): WrittenVariant[] {
  return variants.filter(({ step_id: of }) => (of ?? firstEmailId) === stepId);
}

/**
 * Lists issues that content filters may find in the copy. The issues are warnings if an email scores below the
 * workspace's minimum or has a severe issue; otherwise they are information. Content is never an error, because it does
 * not prevent sending.
 */
export function contentFindings({ copies }: CampaignCopy, least: number): WeighedFinding[] {
  return copies.flatMap((copy) => {
    const { score, issues } = scoreContent(copy);
    const low = score < least;
    const issuesFound = issues.map(({ message: issue, severity, spans, points }) => {
      const texts = [...new Set(spans.map(({ text }) => `"${text}"`))].slice(0, 5).join(', ');
      const shown = texts === '' ? '' : ` (${texts})`;
      const said = message('finding.content', { step: copy.name, issue, shown });
      return low || severity === 'high'
        ? warningFinding('content', Math.ceil(points / 4), said, copy.stepId)
        : infoFinding('content', said, copy.stepId);
    });
    if (!low) return issuesFound;
    const said = message('finding.content_score_low', { step: copy.name, score, least });
    return [warningFinding('content', 8, said, copy.stepId), ...issuesFound];
  });
}

/**
 * Warns about an A/B test with a single variant, which compares nothing, and about variants with weight 0, which are
 * never sent.
 */
export function variantFindings({ variants, firstEmailId }: CampaignCopy): WeighedFinding[] {
  const found: WeighedFinding[] = [];
  for (const stepId of new Set(variants.map(({ step_id: of }) => of ?? firstEmailId))) {
    if (stepId === null) continue;
    const own = variantsOf(stepId, { variants, firstEmailId });
    if (own.some(({ promoted_at: promoted }) => promoted !== null)) continue;
    if (own.length === 1)
      found.push(
        warningFinding('ab_variants', 3, message('finding.ab_variant_single', { name: own[0]!.name }), stepId),
      );
    for (const { name } of own.filter(({ weight }) => weight === 0))
      found.push(warningFinding('ab_variants', 2, message('finding.ab_variant_unused', { name }), stepId));
  }
  return found;
}

/** Checks that recipients can opt out of the campaign's emails. */
export function unsubscribeFindings(
  campaign: Pick<CampaignRow, 'unsubscribe_header'>,
  { unsubscribe }: Pick<OutreachSettings, 'unsubscribe'>,
): WeighedFinding[] {
  if (campaign.unsubscribe_header) return [];
  return unsubscribe.mode === 'off'
    ? [warningFinding('unsubscribe', 15, message('finding.unsubscribe_missing'))]
    : [infoFinding('unsubscribe', message('finding.unsubscribe_header_missing'))];
}
