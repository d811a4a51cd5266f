import { may, type Actor } from '../../../domain/platform/kernel/actor.ts';
import {
  EVENT_TYPES,
  isEventType,
  permissionsOf,
  scopeOf,
  type EventType,
} from '../../../domain/platform/kernel/events.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';

const ALL = Object.keys(EVENT_TYPES) as EventType[];

/** Whether the actor may see an event of this type. */
function maySee(actor: Actor, type: EventType): boolean {
  return may(actor, [scopeOf(type)], permissionsOf(type));
}

/**
 * The events a subscription gets: those it names, or all that are not firehose and that its credential may see.
 * @throws AppError bad_request naming every unknown event; forbidden naming those the credential may not see
 */
export function chosenEvents(actor: Actor, named: readonly string[]): Set<EventType> {
  const unknown: Problem[] = named.flatMap((name, index) =>
    isEventType(name) ? [] : [{ path: `event_types.${index}`, message: `Unknown event type: ${name}` }],
  );
  if (unknown.length > 0) {
    throw new AppError('bad_request', 'The subscription names events that do not exist', {
      problems: unknown,
      fix: 'See GET /v1/webhooks/event-types.',
    });
  }
  const refused: Problem[] = (named as EventType[]).flatMap((type, index) =>
    maySee(actor, type)
      ? []
      : [
          {
            path: `event_types.${index}`,
            message: actor.kind === 'session' ? 'Your role may not see this event' : `Needs the scope ${scopeOf(type)}`,
          },
        ],
  );
  if (refused.length > 0)
    throw new AppError('forbidden', 'The credential may not see some of these events', { problems: refused });
  const chosen =
    named.length > 0
      ? (named as EventType[])
      : ALL.filter((type) => !EVENT_TYPES[type].firehose && maySee(actor, type));
  if (chosen.length === 0) {
    throw new AppError('forbidden', 'The credential may see no events but firehose events, which are to be named', {
      fix: 'Grant the scope of an event family, such as READ_CAMPAIGNS, or name the events in event_types.',
    });
  }
  return new Set(chosen);
}
