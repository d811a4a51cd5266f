import { useSyncExternalStore } from 'react';
import { isShort, queryClient } from './api.ts';
import { REALTIME_URL } from './meta.ts';
import { STALE, type Key } from './query-keys.ts';
import { accessToken } from './session.ts';

/**
 * High-volume events that must be subscribed to by name, each with an ordinary event that needs the same right. A
 * person who may receive the ordinary event may also subscribe to the others.
 */
const OF_EVERY_EMAIL: [known: string, named: readonly string[]][] = [
  ['inbox.email_sent', ['inbox.email_received', 'inbox.email_updated']],
  ['campaign.created', ['campaign.email_sent', 'campaign.email_opened', 'campaign.email_clicked']],
];
/** Minimum interval (ms) between refetches, because events arrive in bursts. */
const GATHER_MS = 1_000;
/**
 * Time (ms) without events after which figures are fetched again. The server updates its counts some time after an
 * event.
 */
const SETTLED_MS = 3_000;
/** Interval (ms) of refetches while there is no event stream. */
const POLL_MS = 20_000;
const LONGEST_PAUSE_MS = 30_000;

let socket: WebSocket | undefined;
let isOpen = false;
let lastEventId: string | undefined;
let attempts = 0;
let gathering: ReturnType<typeof setTimeout> | undefined;
let stopped = true;
let settling: ReturnType<typeof setTimeout> | undefined;
const stale = new Set<Key[0]>();
const unsettled = new Set<Key[0]>();
const listeners = new Set<() => void>();

/** Returns true while the event stream is connected. Otherwise visible data is refetched every 20 seconds. */
export function useIsLive(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOpen,
  );
}

/**
 * Follows the workspace's event stream until the returned function is called. After a lost connection it resumes after
 * the last event.
 */
export function subscribeToEvents(): () => void {
  stopped = false;
  void connect();
  const poll = setInterval(() => {
    if (!isOpen && document.visibilityState === 'visible')
      void queryClient.invalidateQueries({ refetchType: 'active', predicate: isShort });
  }, POLL_MS);
  return () => {
    stopped = true;
    clearInterval(poll);
    socket?.close();
    socket = undefined;
    lastEventId = undefined;
  };
}

async function connect(): Promise<void> {
  if (stopped || REALTIME_URL === '') return;
  const token = await accessToken().catch(() => undefined);
  if (stopped) return;
  if (token === undefined) {
    connectLater();
    return;
  }
  socket = new WebSocket(REALTIME_URL, ['realtime.v1', `bearer.${token}`]);
  socket.addEventListener('open', () => {
    attempts = 0;
    subscribe();
  });
  socket.addEventListener('message', ({ data }) => take(JSON.parse(String(data)) as Message));
  socket.addEventListener('close', () => {
    setOpen(false);
    if (!stopped) connectLater();
  });
}

function connectLater(): void {
  attempts += 1;
  setTimeout(() => void connect(), Math.min(1_000 * 2 ** attempts, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2));
}

interface Message {
  type: string;
  event_types?: string[];
  id?: string;
  event_type?: string;
  last_event_id?: string | null;
  code?: string;
}

function take(message: Message): void {
  if (message.type === 'subscribed') {
    lastEventId ??= message.last_event_id ?? undefined;
    const types = message.event_types ?? [];
    const named = OF_EVERY_EMAIL.filter(([known]) => types.includes(known)).flatMap(([, names]) => names);
    if (named.some((name) => !types.includes(name))) subscribe([...types, ...named]);
    else setOpen(true);
  } else if (message.type === 'heartbeat') {
    lastEventId = message.last_event_id ?? lastEventId;
  } else if (message.type === 'event') {
    lastEventId = message.id;
    const [subject = ''] = message.event_type?.split('.') ?? [];
    for (const data of Object.hasOwn(STALE, subject) ? STALE[subject as keyof typeof STALE] : []) stale.add(data);
    gathering ??= setTimeout(refresh, GATHER_MS);
  } else if (message.code === 'resume_expired') {
    lastEventId = undefined;
    subscribe();
    void queryClient.invalidateQueries();
  }
}

function subscribe(types: readonly string[] = []): void {
  socket?.send(
    JSON.stringify({ type: 'subscribe', event_types: types, ...(lastEventId ? { after: lastEventId } : {}) }),
  );
}

function refresh(): void {
  gathering = undefined;
  for (const key of stale) unsettled.add(key);
  refetch(stale);
  clearTimeout(settling);
  settling = setTimeout(() => refetch(unsettled), SETTLED_MS);
}

function refetch(keys: Set<Key[0]>): void {
  for (const key of keys) {
    void queryClient.invalidateQueries({ queryKey: [key], predicate: isShort });
    // Removes long lists that are not shown. They are loaded from their start when they are shown again.
    queryClient.removeQueries({ queryKey: [key], type: 'inactive', predicate: (query) => !isShort(query) });
  }
  keys.clear();
}

function setOpen(value: boolean): void {
  isOpen = value;
  for (const listener of listeners) listener();
}
