import { useEffect, useRef, useState } from 'react';
import { dataOf, heron, queryClient, type BodyOf, type RowOf } from '../../app/api.ts';
import { showError } from '../../components/action.ts';
import { isSame, isConflict } from '../../components/draft.ts';

export type Draft = RowOf<'/v1/unibox/drafts'>;
type Written = Pick<
  BodyOf<'/v1/unibox/drafts', 'post'> & object,
  'thread_id' | 'email_account_id' | 'to' | 'cc' | 'bcc' | 'subject'
> & {
  body_plain: string;
};

/** Time (ms) without typing after which the draft is saved. */
const PAUSE_MS = 800;

/** Fields that two people may edit differently. */
const FIELDS = ['email_account_id', 'to', 'cc', 'bcc', 'subject', 'body_plain'] as const;

/** Concurrent changes of the draft by another person. */
interface Theirs {
  fields: (typeof FIELDS)[number][];
  value: Written;
  stored: Draft;
}

/** Returns those fields of a draft that its editor saves. They are empty for a new draft. */
export function writtenOf(draft: Draft | undefined): Written & { to: string[]; cc: string[]; bcc: string[] } {
  const { email_account_id: mailboxId, to = [], cc = [], bcc = [], subject = '', body_plain = '' } = draft ?? {};
  return { email_account_id: mailboxId ?? undefined, to, cc, bcc, subject, body_plain };
}

/** Query of the workspace's drafts, last changed first. */
export const draftsQuery = {
  queryKey: ['inbox', 'drafts'],
  queryFn: () => dataOf(heron.GET('/v1/unibox/drafts', { params: { query: { limit: 100 } } })),
} as const;

/**
 * Hook that saves an email as a draft while it is written. `keep` waits until the latest text is saved and returns the
 * draft's id; `discard` deletes it. If another person has changed the draft, saving stops until the person decides
 * between the versions.
 */
export function useDraft(initial: Written, draft: Draft | undefined) {
  const [written, setWritten] = useState(initial);
  const newest = useRef(initial);
  const id = useRef(draft?.id);
  const seen = useRef(draft?.updated_at);
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const files = useRef(draft?.attachments.map((file) => file.id) ?? []);
  const isChanged = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const saving = useRef<Promise<void>>(Promise.resolve());

  const save = async () => {
    if (!isChanged.current) return;
    isChanged.current = false;
    const body = withoutEmpty(newest.current);
    try {
      const { id: kept, updated_at: at } = await store(id.current, body, files.current, seen.current);
      id.current = kept;
      seen.current = at;
    } catch (error) {
      isChanged.current = true;
      if (id.current !== undefined && isConflict(error)) await meet(id.current);
      throw error;
    }
  };
  /**
   * Fetches the stored draft. Shows the other person's version if it differs from this one; otherwise saving continues.
   */
  const meet = async (drafted: string) => {
    const stored = await dataOf(heron.GET('/v1/unibox/drafts/{id}', { params: { path: { id: drafted } } }));
    const other = otherThan(newest.current, stored);
    if (!other) seen.current = stored.updated_at;
    setTheirs(other);
  };
  const settle = (change: Partial<Written>) => {
    seen.current = theirs?.stored.updated_at;
    files.current = theirs?.stored.attachments.map((file) => file.id) ?? [];
    setTheirs(null);
    write(change);
  };
  const write = (change: Partial<Written>) => {
    newest.current = { ...newest.current, ...change };
    isChanged.current = true;
    setWritten(newest.current);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => void keep().catch((error: unknown) => isConflict(error) || showError(error)),
      PAUSE_MS,
    );
  };
  const keep = async (): Promise<string | undefined> => {
    clearTimeout(timer.current);
    saving.current = saving.current.catch(() => undefined).then(save);
    await saving.current;
    return id.current;
  };
  const forget = () => {
    clearTimeout(timer.current);
    isChanged.current = false;
    id.current = undefined;
  };
  useEffect(
    () => () => {
      void keep()
        .catch(showError)
        .then(() => queryClient.invalidateQueries({ queryKey: draftsQuery.queryKey }));
    },
    [],
  );
  return {
    written,
    write,
    theirs,
    takeTheirs: () => settle(Object.fromEntries((theirs?.fields ?? []).map((name) => [name, theirs!.value[name]]))),
    keepMine: () => settle({}),
    keep,
    /** Call this after the draft was sent as an email. */
    forget,
    async discard() {
      clearTimeout(timer.current);
      isChanged.current = false;
      await saving.current.catch(() => undefined);
      const kept = id.current;
      forget();
      if (kept) await dataOf(heron.DELETE('/v1/unibox/drafts/{id}', { params: { path: { id: kept } } }));
    },
  };
}

/**
 * Stores the content of a new or existing draft. The API refuses this if another person has changed the draft since it
 * was read.
 */
function store(id: string | undefined, body: Written, keptFiles: string[], seen: string | undefined): Promise<Draft> {
  if (id === undefined) return dataOf(heron.POST('/v1/unibox/drafts', { body }));
  return dataOf(
    heron.PUT('/v1/unibox/drafts/{id}', {
      params: { path: { id } },
      body: { ...body, kept_attachments: keptFiles, expected_updated_at: seen },
    }),
  );
}

/** Returns the stored version if it differs from this one; null if they are equal. */
function otherThan(mine: Written, stored: Draft): Theirs | null {
  const value = writtenOf(stored);
  const fields = FIELDS.filter((name) => name in mine && !isSame(value[name], mine[name]));
  return fields.length > 0 ? { fields, value, stored } : null;
}

function withoutEmpty(written: Written): Written {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined)) as Written;
}

/** Converts a file to the API's format, in base64. */
export async function toAttachment(file: File): Promise<{ filename: string; content_type: string; content: string }> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { filename: file.name, content_type: file.type || 'application/octet-stream', content: btoa(binary) };
}
