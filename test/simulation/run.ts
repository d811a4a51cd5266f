import { ManualClock } from '../harness/manual-clock.ts';
import { runStatement } from '../../db/statement.ts';
import { AppError } from '../../lib/errors.ts';
import type { SmtpOutcome, SmtpSender } from '../../lib/smtp/index.ts';
import { callApp, type AppBusy, type CallResult } from '../../domain/connect/app-connections/call.ts';
import { TargetLimits } from '../../lib/target-limits.ts';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { updateCampaign } from '../../domain/campaigns/update.ts';
import { holdMailbox } from '../../domain/sending/control/mailbox-hold.ts';
import { signalLauncher } from '../../domain/sending/control/signals.ts';
import type { Decision, Launched } from '../../workflows/enrollment/contract.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { recordSendUnsubscribe } from '../../domain/sending/outcomes/effects.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { deliverToLead } from '../../domain/sending/enrollment/deliver.ts';
import { systemCtx, type Ctx } from '../../domain/platform/kernel/context.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { pauseLead, removeLead } from '../../domain/sending/leads/hold.ts';
import { updateMailbox } from '../../domain/mailboxes/update.ts';
import { publishEvent } from '../../domain/audience/product-events/publish.ts';
import { recordOpens } from '../../domain/campaigns/tracking/opens.ts';
import { addSuppressions } from '../../domain/audience/suppressions/entries.ts';
import type { TestDeps } from '../harness/database.ts';
import { awayMessage, replyTo, type Original } from '../harness/inbound.ts';
import { retryAfter, ScriptedApp } from './app.ts';
import { buildWorld, type Built } from './build.ts';
import { editCampaign, editMailbox, type Stage } from './edits.ts';
import { HOLD_LEAD_MS, type Happening, type WorldSpec } from './draw.ts';
import { checkHour, checkLeads } from './invariants.ts';
import { Ledger, type Fault, type Email } from './ledger.ts';
import { externalText } from '../../domain/platform/external-text.ts';
import { message } from '../../messages/index.ts';
import type { Company } from './company.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** An open counts as automatic if it comes sooner (ms) after the email. */
const OPENED_MS = 60_000;
/** User agent of a person's browser. */
const READER = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
/** Number of iterations of one actor at one time that counts as an endless loop. */
const SPIN = 300;

/** Results of a world. */
export interface Outcome {
  spec: WorldSpec;
  built: Built;
  emails: Email[];
  faults: Fault[];
  ledger: Ledger;
  /** Number of iterations of launchers and workflows, which is the cost of waiting. */
  turns: { launcher: number; run: number };
}

/** Called after every day, counted from 1, with the number of emails so far; false ends the world with that day. */
type Progress = (day: number, emails: number) => boolean;

/** A launcher or workflow, as Temporal would store it: its wake-up time and next action. */
interface Actor {
  /** Time (epoch ms) of the next check; null if it waits for a signal. */
  at: number | null;
  /** Id of the email to send at that time. */
  sendId: string | null;
  /** State of its app call: failed attempts so far, and the function that releases a late answer. */
  call: { stepRunId: string; failures: number; finish: (() => Promise<CallResult | AppBusy>) | null } | null;
  spins: number;
  spunAt: number;
}

/**
 * Plays a world from beginning to end. The functions are those of production, the clock jumps from event to event, and
 * this class executes the work of workflows (wait, retry, send, signal) from the outbox. `look` can inspect the world
 * after it is built.
 */
export async function playWorld(
  base: TestDeps,
  spec: WorldSpec,
  look?: (ctx: Ctx, built: Built) => Promise<void>,
  progress?: Progress,
  company?: Company,
): Promise<Outcome> {
  const clock = new ManualClock(new Date(spec.from));
  const built = await buildWorld({ ...base, clock }, spec);
  const app = new ScriptedApp(
    base.egress,
    spec.leads,
    new Map(built.leads.map(({ contact }, lead) => [contact, lead])),
  );
  const deps: TestDeps = { ...base, clock, egress: app.port };
  await look?.(systemCtx(deps, built.organizationId, 'simulation'), built);
  const simulation = new Simulation(deps, clock, spec, built, app, company);
  await simulation.play(progress);
  return simulation.outcome();
}

class Simulation {
  readonly #ctx: Ctx;
  readonly #deps: TestDeps;
  readonly #clock: ManualClock;
  readonly #spec: WorldSpec;
  readonly #built: Built;
  readonly #actors = new Map<string, Actor>();
  readonly #ledger: Ledger;
  readonly #company: Company | undefined;
  readonly #smtp: SmtpSender;
  readonly #app: ScriptedApp;
  readonly #stage: Stage;
  /** Passwords that the servers of mailboxes currently accept. */
  readonly #passwords: string[];
  readonly #turns = { launcher: 0, run: 0 };
  /** Future receipts and events, soonest first. */
  readonly #script: { at: number; act: () => Promise<void> }[] = [];
  /** True if a statement may have written to the outbox since it was last read. */
  #intended = false;
  /** Id of the last processed row of the outbox. */
  #relayed = '0';
  #uid = 0;
  #until: number;

  constructor(
    deps: TestDeps,
    clock: ManualClock,
    spec: WorldSpec,
    built: Built,
    app: ScriptedApp,
    company: Company | undefined,
  ) {
    this.#app = app;
    this.#company = company;
    this.#deps = deps;
    this.#clock = clock;
    this.#spec = spec;
    this.#until = spec.until;
    this.#built = built;
    this.#ctx = systemCtx(deps, built.organizationId, 'simulation');
    this.#ledger = new Ledger(spec, built);
    this.#stage = { ctx: this.#ctx, ledger: this.#ledger, built };
    this.#passwords = spec.mailboxes.map(() => 'secret');
    this.#smtp = {
      acquireNow: () => ({ release: () => {} }),
      acquire: () => Promise.resolve({ release: () => {} }),
      verify: () => Promise.resolve({ kind: 'ok', maxBytes: null }),
      send: (pool, { password }, envelope, raw) =>
        Promise.resolve(this.#handOver(pool.split('/')[0]!, password, envelope.to[0]!, raw)),
      close: () => Promise.resolve(),
    };
    const arrivals = new Map<number, number[]>();
    for (const [index, { at }] of built.leads.entries()) arrivals.set(at, [...(arrivals.get(at) ?? []), index]);
    for (const [at, leads] of arrivals) this.#script.push({ at, act: () => this.#arrive(leads) });
    for (const happening of spec.happenings)
      this.#script.push({ at: happening.at, act: () => this.#happen(happening) });
    this.#script.sort((a, b) => a.at - b.at);
  }

  outcome(): Outcome {
    return {
      spec: { ...this.#spec, until: this.#until },
      built: this.#built,
      emails: this.#ledger.emails,
      faults: this.#ledger.faults,
      ledger: this.#ledger,
      turns: this.#turns,
    };
  }

  async play(progress?: Progress): Promise<void> {
    const { db } = this.#deps;
    const own = new Set(this.#built.campaigns.map(({ id }) => id));
    const concerns = (id: unknown): boolean => typeof id === 'string' && own.has(id.split('/')[1] ?? '');
    const notice = ({ sql, bindings }: { sql: string; bindings: unknown[] }): void => {
      if (!this.#intended && sql.startsWith('insert into outbox'))
        this.#intended = bindings.some((list) => Array.isArray(list) && list.some(concerns));
    };
    db.on('query', notice);
    await this.#playOn(progress).finally(() => db.removeListener('query', notice));
  }

  async #playOn(progress?: Progress): Promise<void> {
    let daysOver = 0;
    const { rows } = await this.#deps.db.raw('select coalesce(max(id), 0) as id from outbox');
    this.#relayed = rows[0].id;
    let hour = Math.floor(this.#spec.from / HOUR);
    let active = false;
    for (const { id } of this.#built.campaigns) this.#wake(`campaign/${id}`, this.#spec.from);
    await this.#company?.begin({
      ctx: this.#ctx,
      db: this.#deps.db,
      smtp: this.#smtp,
      spec: this.#spec,
      built: this.#built,
      ledger: this.#ledger,
      states: (mailbox) => this.#ledger.statesOf(mailbox),
    });
    for (;;) {
      const script = this.#script[0];
      let key: string | undefined;
      let at = script?.at ?? Infinity;
      const others = this.#whenWorking(this.#company?.nextAt() ?? Infinity);
      for (const [name, actor] of this.#actors) {
        const turnAt = actor.at === null ? Infinity : this.#whenWorking(actor.at);
        if (turnAt < at || (turnAt === at && key !== undefined && name < key)) {
          key = name;
          at = turnAt;
        }
      }
      const isOthers = others < at;
      if (isOthers) at = others;
      const day = Math.floor((Math.min(at, this.#until) - this.#spec.from) / DAY);
      if (day > daysOver && progress?.((daysOver = day), this.#ledger.emails.length) === false)
        this.#until = Math.min(this.#until, this.#spec.from + day * DAY);
      const next = Math.floor(Math.min(at, this.#until) / HOUR);
      if (next > hour && active) {
        const hours = { from: (hour + 1) * HOUR, until: next * HOUR };
        await checkHour(this.#deps.db, this.#ledger, this.#wakes(), hours);
        active = false;
      }
      if (at >= this.#until) break;
      hour = Math.floor(at / HOUR);
      active = true;
      this.#clock.set(new Date(Math.max(at, this.#clock.now().getTime())));
      if (isOthers) await this.#company!.act(this.#now());
      else if (key === undefined) {
        this.#script.shift();
        await script!.act();
      } else await this.#turn(key, this.#actors.get(key)!);
      await this.#relay();
    }
    this.#clock.set(new Date(this.#until));
    await checkLeads(this.#ctx, this.#ledger);
  }

  /** Returns the first time from `at` on at which a worker runs. */
  #whenWorking(at: number): number {
    const isAway = (one: Happening): one is Happening & { kind: 'absence' } =>
      one.kind === 'absence' && one.at <= at && at < one.until;
    const absence = this.#spec.happenings.find(isAway);
    return absence ? this.#whenWorking(absence.until) : at;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  /** Returns the time of the next check of every open launcher and workflow. */
  #wakes(): Map<string, number | null> {
    return new Map([...this.#actors].map(([key, actor]) => [key, actor.at]));
  }

  #wake(key: string, at: number): void {
    const known = this.#actors.get(key);
    // A workflow that calls an app checks again when it has the answer.
    if (known?.call) return;
    this.#actors.set(key, { spins: 0, spunAt: 0, ...known, at, sendId: null, call: null });
  }

  async #turn(key: string, actor: Actor): Promise<void> {
    if (actor.spunAt === this.#now()) actor.spins += 1;
    else Object.assign(actor, { spins: 0, spunAt: this.#now() });
    if (actor.spins > SPIN) throw new Error(`${key} spins at ${this.#clock.now().toISOString()}`);
    const [kind, campaignId, contactId] = key.split('/') as ['campaign' | 'enrollment', string, string];
    this.#turns[kind === 'campaign' ? 'launcher' : 'run'] += 1;
    if (kind === 'campaign') return this.#launch(key, campaignId, actor);
    return this.#run(key, { campaignId, contactId }, actor);
  }

  async #launch(key: string, campaignId: string, actor: Actor): Promise<void> {
    const turn = await launchDueLeads(this.#ctx, campaignId);
    if ('again' in turn) actor.at = this.#now();
    else if (turn.report.kind === 'done') {
      this.#actors.delete(key);
      await this.#noticePause(campaignId);
    } else actor.at = turn.report.wakeAt;
  }

  /** Lets a person resume a campaign some hours after the engine has paused it for an empty pool, if possible. */
  async #noticePause(campaignId: string): Promise<void> {
    const campaign = this.#built.campaigns.findIndex(({ id }) => id === campaignId);
    const { status } = await this.#deps.db('campaigns').where({ id: campaignId }).first('status');
    if (status !== 'paused_no_accounts' || !this.#ledger.isActive(campaign, this.#now())) return;
    this.#ledger.setActive(campaign, false, this.#now());
    const at = this.#now() + 3 * HOUR;
    this.#later(at, () => this.#happen({ at, kind: 'resume', campaign }));
  }

  async #run(key: string, run: { campaignId: string; contactId: string }, actor: Actor): Promise<void> {
    if (actor.sendId !== null) {
      const delivery = await deliverToLead(this.#ctx, { smtp: this.#smtp }, actor.sendId, { ...run, mailboxId: null });
      if ('retryInMs' in delivery) actor.at = this.#now() + delivery.retryInMs;
      else if ('retryAt' in delivery) actor.at = delivery.retryAt;
      else {
        actor.sendId = null;
        if (delivery.next) this.#obey(key, delivery.next, actor);
      }
      return;
    }
    if (actor.call) return this.#ask(actor, actor.call);
    this.#obey(key, await advanceEnrollment(this.#ctx, run), actor);
  }

  #obey(key: string, decision: Decision, actor: Actor): void {
    switch (decision.kind) {
      case 'done':
        this.#actors.delete(key);
        return;
      case 'wait':
      case 'waitForEvent':
      case 'hold':
        actor.at = decision.until === null ? null : Math.max(decision.until, this.#now());
        return;
      case 'slot':
      case 'send':
        actor.at = decision.kind === 'slot' ? decision.at : this.#now();
        actor.sendId = decision.sendId;
        return;
      case 'call':
        actor.call = { stepRunId: decision.stepRunId, failures: 0, finish: null };
        actor.at = this.#now();
    }
  }

  /** Calls the app, or waits for a late answer or the next attempt. The workflow then queries its next step. */
  async #ask(actor: Actor, call: NonNullable<Actor['call']>): Promise<void> {
    const { stepRunId, finish } = call;
    const asked = finish
      ? { result: await finish() }
      : await this.#app.call(() => callApp(this.#ctx, stepRunId, new TargetLimits({ total: 1, perTarget: 1 })));
    call.finish = null;
    if ('lateMs' in asked) {
      call.finish = asked.finish;
      actor.at = this.#now() + asked.lateMs;
    } else if (asked.result.outcome === 'retry') {
      call.failures += 1;
      actor.at = this.#now() + retryAfter(call.failures);
    } else {
      actor.call = null;
      actor.at = this.#now();
    }
  }

  /**
   * Imitates relay and Temporal for the outbox rows of the last transaction. The rows are kept: new ones follow those
   * already seen, so the table is not scanned.
   */
  async #relay(): Promise<void> {
    if (!this.#intended) return;
    this.#intended = false;
    const { rows } = await runStatement<{
      id: string;
      kind: string;
      workflow: string;
      starts: boolean;
      launched: Launched | null;
    }>(
      this.#deps.db,
      `select id, kind, workflow_id as workflow, payload -> 'workflowType' is not null as starts,
         case when payload -> 'payload' -> 'sendId' is not null and payload -> 'payload' ->> 'cause' = 'launched' then payload -> 'payload' end as launched from outbox
       where id > :relayed and split_part(workflow_id, '/', 2) = any(:campaigns::text[]) order by id`,
      { relayed: this.#relayed, campaigns: this.#built.campaigns.map(({ id }) => id) },
    );
    for (const { id, kind, workflow: key, starts, launched } of rows) {
      this.#relayed = id;
      const open = this.#actors.has(key);
      // A signal without a start reaches only an open workflow; a start does not change an open workflow.
      if (kind === 'cancel' || (open ? kind === 'start' : !starts)) continue;
      this.#wake(key, this.#now());
      if (open || !launched) continue;
      const { at, ...email } = launched;
      this.#obey(
        key,
        at === null ? { kind: 'send', ...email } : { kind: 'slot', at, ...email },
        this.#actors.get(key)!,
      );
    }
  }

  #handOver(mailboxId: string, password: string, to: string, raw: Buffer): SmtpOutcome {
    const mailbox = this.#built.mailboxes.indexOf(mailboxId);
    const now = this.#now();
    const isAway = this.#spec.happenings.some(
      (one) => one.kind === 'outage' && one.mailbox === mailbox && one.at <= now && now < one.until,
    );
    if (isAway) return { kind: 'unreachable', stage: 'connect', reason: message('mailboxes.unreachable_connect') };
    if (password !== this.#passwords[mailbox])
      return { kind: 'refused', stage: 'auth', code: 535, response: '535 bad password', permanent: true };
    if (this.#company?.takes(mailbox, to, raw, now)) return { kind: 'accepted', response: '250 taken', rejected: [] };
    const lead = this.#ledger.record(now, mailbox, to, raw);
    if (this.#spec.leads[lead]!.gone) {
      this.#ledger.leave(lead, now);
      return { kind: 'refused', stage: 'recipient', code: 550, response: '550 5.1.1 no such user', permanent: true };
    }
    return { kind: 'accepted', response: '250 taken', rejected: [] };
  }

  async #arrive(leads: readonly number[]): Promise<void> {
    const { organizationId } = this.#built;
    const now = this.#clock.now();
    const rows = leads.map((index) => this.#built.leads[index]!);
    // The SQL text is constant, so that PostgreSQL can cache its plan.
    await runStatement(
      this.#deps.db,
      `insert into enrollments (id, organization_id, campaign_id, contact_id, entered_at, last_activity_at)
       select t.id, :org, t.campaign, t.contact, :now::timestamptz, :now::timestamptz
       from unnest(:ids::uuid[], :campaigns::uuid[], :contacts::uuid[]) as t(id, campaign, contact)`,
      {
        org: organizationId,
        now,
        ids: rows.map((lead) => lead.enrollment),
        campaigns: rows.map((lead) => lead.campaign),
        contacts: rows.map((lead) => lead.contact),
      },
    );
    await transact(this.#ctx, async (tx) => {
      for (const campaign of new Set(rows.map((row) => row.campaign))) signalLauncher(tx, campaign, 'leads_added');
    });
  }

  async #happen(happening: Happening): Promise<void> {
    try {
      await this.#act(happening);
    } catch (error) {
      // A person's request can be refused: the lead was removed, or no lead is left to email.
      if (!(error instanceof AppError)) throw error;
    }
  }

  async #act(happening: Happening): Promise<unknown> {
    const ctx = this.#ctx;
    const { mailboxes, campaigns, leads } = this.#built;
    switch (happening.kind) {
      case 'hold':
        return transact(ctx, (tx) =>
          holdMailbox(tx, mailboxes[happening.mailbox]!, {
            code: 'sender_refused',
            reason: externalText('too many'),
            until: new Date(happening.until),
          }),
        );
      case 'password':
        // Changes the password at the server. At the end of the event, a person enters the new one in Heron.
        this.#passwords[happening.mailbox] = `secret of ${happening.at}`;
        return this.#later(happening.until, () => this.#enterPassword(happening.mailbox));
      case 'outage':
      case 'absence':
        return;
      case 'pause':
        this.#ledger.setActive(happening.campaign, false, happening.at);
        return stopCampaign(ctx, campaigns[happening.campaign]!.id);
      case 'resume':
        await startCampaign(ctx, campaigns[happening.campaign]!.id);
        return this.#ledger.setActive(happening.campaign, true, happening.at);
      case 'limit':
        this.#ledger.setRules(happening.campaign, { dailyLimit: happening.dailyLimit }, happening.at);
        return updateCampaign(ctx, campaigns[happening.campaign]!.id, { daily_limit: happening.dailyLimit });
      case 'window':
      case 'wait':
      case 'pool':
        return editCampaign(this.#stage, happening);
      case 'cap':
      case 'gap':
      case 'off':
      case 'on':
      case 'removeMailbox':
        return editMailbox(this.#stage, happening);
      case 'holdReading':
        return transact(ctx, (tx) =>
          holdMailbox(tx, mailboxes[happening.mailbox]!, {
            code: 'imap_auth_failed',
            reason: externalText('refused'),
            until: new Date(happening.until),
          }),
        );
      case 'open': {
        const email = this.#emailTo(happening.lead);
        if (!email || this.#spec.leads[happening.lead]!.gone) return;
        const send = await this.#deps
          .db('sends')
          .where({ organization_id: this.#built.organizationId, message_id: email.messageId })
          .first();
        if (!send || happening.at - email.at < OPENED_MS) return;
        this.#ledger.react(happening.lead, 'opened', happening.at);
        await recordOpens(ctx, [{ subject: send.id, hit: { method: 'GET', userAgent: READER, purpose: '' } }], 'open');
        const { opened_at: opened } = await this.#deps.db('sends').where({ id: send.id }).first('opened_at');
        if (!opened) this.#ledger.fault(happening.at, "a person's open that does not count", email.messageId);
        return;
      }
      case 'click': {
        const email = this.#emailTo(happening.lead);
        if (!email || this.#spec.leads[happening.lead]!.gone || happening.at - email.at < OPENED_MS) return;
        this.#ledger.react(happening.lead, 'clicked', happening.at);
        // Writes the result of the click directly, because the worker that does this processes all worlds together.
        return this.#deps
          .db('sends')
          .where({ organization_id: this.#built.organizationId, message_id: email.messageId })
          .update({ clicked_at: this.#clock.now() });
      }
      case 'suppress': {
        const lead = leads[happening.lead]!;
        this.#ledger.leave(happening.lead, happening.at);
        return addSuppressions(ctx, [{ value: lead.email }], 'asked');
      }
      case 'remove': {
        const lead = leads[happening.lead]!;
        await removeLead(ctx, lead.campaign, lead.contact);
        this.#ledger.leave(happening.lead, happening.at);
        return;
      }
      case 'holdLead': {
        const lead = leads[happening.lead]!;
        return pauseLead(ctx, lead.campaign, lead.contact, {
          until: new Date(happening.at + HOLD_LEAD_MS),
          reason: 'asked to wait',
        });
      }
      case 'event':
        return publishEvent(ctx, {
          name: 'signed-up',
          contactId: leads[happening.lead]!.contact,
          data: {},
        } as never);
      case 'away':
        return this.#sayAway(happening.lead, happening.returns);
      case 'reply':
      case 'replyToFirst':
      case 'unsubscribe':
        return this.#answer(happening.kind, happening.lead);
    }
  }

  /** A person enters the password that the server currently accepts. */
  async #enterPassword(mailbox: number): Promise<void> {
    if (this.#isRemoved(mailbox)) return;
    const smtp = { host: '127.0.0.1', port: 1, username: 'm', security: 'none', password: this.#passwords[mailbox]! };
    await updateMailbox(this.#ctx, this.#built.mailboxes[mailbox]!, { smtp: smtp as never });
  }

  /** Returns the latest email to a lead. */
  #emailTo(lead: number): Email | undefined {
    return this.#ledger.emails.findLast((email) => email.lead === lead);
  }

  /** A person replies to their latest or first email; without an email nothing happens. */
  async #answer(kind: 'reply' | 'replyToFirst' | 'unsubscribe', index: number): Promise<void> {
    const lead = this.#built.leads[index]!;
    const email =
      kind === 'replyToFirst' ? this.#ledger.emails.find((other) => other.lead === index) : this.#emailTo(index);
    if (!email || this.#spec.leads[index]!.gone || (kind !== 'unsubscribe' && this.#isRemoved(email.mailbox))) return;
    if (kind === 'unsubscribe' || this.#ledger.stopsOnReply(index)) this.#ledger.leave(index, this.#now());
    else if (email === this.#emailTo(index)) this.#ledger.react(index, 'replied', this.#now());
    if (kind === 'unsubscribe') {
      const send = await this.#deps
        .db('sends')
        .where({ organization_id: this.#built.organizationId, message_id: email.messageId })
        .first();
      await transact(this.#ctx, (tx) => recordSendUnsubscribe(tx, { sendId: send.id, email: lead.email }, 'link'));
      return;
    }
    await this.#receive(email, (original) => replyTo(original, 'Yes, call me tomorrow.'));
  }

  /** The mail program of a recipient sends an out-of-office notice with the day of return. */
  async #sayAway(index: number, returns: string): Promise<void> {
    const email = this.#emailTo(index);
    if (!email || this.#spec.leads[index]!.gone || this.#isRemoved(email.mailbox)) return;
    if (this.#now() >= this.#ledger.leftAt(index)) return;
    this.#ledger.setAway(index, this.#now(), returns);
    await this.#receive(email, (original) => awayMessage(original, `I am out of the office until ${returns}.`));
  }

  /** Emails to a removed mailbox are not read. */
  #isRemoved(mailbox: number): boolean {
    return this.#ledger.mailboxAt(mailbox, this.#now()).state === 'removed';
  }

  /** A message about one of our emails arrives in the mailbox that sent it. */
  async #receive(email: Email, write: (original: Original) => Buffer): Promise<void> {
    const mailbox = { id: this.#built.mailboxes[email.mailbox]!, email: `m${email.mailbox}@sender.example.com` };
    const raw = write({ messageId: email.messageId, from: mailbox.email, to: email.to });
    await recordInbound(this.#ctx, mailbox, raw, {
      folder: 'INBOX',
      uidValidity: 1,
      uid: (this.#uid += 1),
      receivedAt: this.#clock.now(),
    });
  }

  #later(at: number, act: () => Promise<void>): void {
    this.#script.push({ at, act });
    this.#script.sort((a, b) => a.at - b.at);
  }
}
