import test from 'ava';
import type { WebSocket } from 'ws';
import type { StreamEvent, StreamPage, StreamCursor } from '../../../domain/platform/realtime/read.ts';
import type { EventType } from '../../../domain/platform/kernel/events.ts';
import { Subscriber } from './subscriber.ts';
import type { Follower, Tail } from './tail.ts';

/** These tests cover interleavings of reads and new events that rarely occur by chance. */

const event = (position: number, type: EventType = 'contact.created', data: string | null = '{}'): StreamEvent => ({
  id: `e${position}`,
  position,
  type,
  created_at: new Date(),
  data,
  mailbox_id: null,
  of_mailbox: false,
});
const at = (position: number): StreamCursor => ({
  position,
  eventId: position === 0 ? null : `e${position}`,
  at: new Date(),
});
const turn = () => new Promise((resolve) => setImmediate(resolve));

function scene() {
  const reads: { after: number; types: readonly string[]; answer: (events: StreamEvent[], full?: boolean) => void }[] =
    [];
  const followers = new Set<Follower>();
  let head = at(0);
  const tail: Tail = {
    get head() {
      return head;
    },
    ready: Promise.resolve(),
    followers,
    read: (after, types) =>
      new Promise<StreamPage>((resolve) => {
        reads.push({ after, types, answer: (events, full = false) => resolve({ events, full }) });
      }),
    wake() {},
    close() {},
  };
  const heard: string[] = [];
  const flushed: (() => void)[] = [];
  const socket = {
    bufferedAmount: 0,
    send(frame: Buffer, _options: object, done: () => void) {
      heard.push((JSON.parse(frame.toString()) as { id: string }).id);
      flushed.push(done);
    },
  };
  const failures: unknown[] = [];
  const subscriber = new Subscriber({
    socket: socket as unknown as WebSocket,
    tail,
    organizationId: 'o',
    mailboxes: null,
    onSent() {},
    onFailure: (error) => failures.push(error),
    now: () => new Date(),
    streamBegin: () => new Date(0),
  });
  return {
    subscriber,
    heard,
    reads,
    socket,
    flushed,
    failures,
    /** Imitates the tail for a new event. */
    arrive(one: StreamEvent) {
      head = { position: one.position, eventId: one.id, at: one.created_at };
      for (const follower of followers) follower.take(one);
    },
  };
}

const CREATED: ReadonlySet<EventType> = new Set(['contact.created']);

test('an event that comes while the last page is being read is not lost', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  // The page is read before the event exists, but returned after the tail has passed the event to the subscriber.
  s.arrive(event(1));
  s.reads[0]!.answer([]);
  await turn();
  t.is(s.reads.length, 2, 'it reads again');
  s.reads[1]!.answer([event(1)]);
  await turn();
  s.arrive(event(2));
  t.deepEqual(s.heard, ['e1', 'e2']);
});

test('an event both read and handed on is heard once', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  s.reads[0]!.answer([event(1), event(2)]);
  await turn();
  s.arrive(event(1));
  s.arrive(event(2));
  s.arrive(event(3));
  t.deepEqual(s.heard, ['e1', 'e2', 'e3']);
  t.is(s.reads.length, 1);
});

test('an event whose payload the tail had not read is read for itself', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  s.reads[0]!.answer([]);
  await turn();
  s.arrive(event(1, 'contact.created', null));
  t.deepEqual(s.heard, []);
  t.is(s.reads[1]!.after, 0);
  // Events that arrive in the meantime are queued.
  s.arrive(event(2));
  s.reads[1]!.answer([event(1), event(2)]);
  await turn();
  s.arrive(event(3));
  t.deepEqual(s.heard, ['e1', 'e2', 'e3']);
});

test('what was read for an earlier subscription is thrown away', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  s.subscriber.follow(new Set<EventType>(['contact.created', 'contact.deleted']), at(5));
  s.reads[0]!.answer([event(1), event(2)], true);
  await turn();
  t.deepEqual(s.heard, []);
  t.deepEqual([s.reads[1]!.after, s.reads[1]!.types], [5, ['contact.created', 'contact.deleted']]);
});

test('a full buffer stops the pushing; drained, it goes on where it stopped', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  s.reads[0]!.answer([]);
  await turn();
  s.arrive(event(1));
  s.socket.bufferedAmount = 2 * 1024 * 1024;
  s.arrive(event(2));
  s.arrive(event(3));
  await turn();
  t.deepEqual(s.heard, ['e1']);
  t.is(s.reads.length, 1, 'nothing is read for a socket that takes nothing');
  s.socket.bufferedAmount = 0;
  for (const done of s.flushed) done();
  await turn();
  t.is(s.reads[1]!.after, 1);
  s.reads[1]!.answer([event(2), event(3)]);
  await turn();
  t.deepEqual(s.heard, ['e1', 'e2', 'e3']);
  t.deepEqual(s.failures, []);
});

test('a closed subscriber hears nothing more, whatever is on its way', async (t) => {
  const s = scene();
  s.subscriber.follow(CREATED, at(0));
  s.subscriber.close();
  s.reads[0]!.answer([event(1)]);
  await turn();
  s.arrive(event(2));
  t.deepEqual(s.heard, []);
});
