import { may, type Actor } from '../../../domain/platform/kernel/actor.ts';
import {
  EVENT_TYPES,
  isEventType,
  permissionsOf,
  scopeOf,
  type EventType,
} from '../../../domain/platform/kernel/events.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';

const ALL = Object.keys(EVENT_TYPES) as EventType[];

/** Returns true if the actor may see events of this type. */
function maySee(actor: Actor, type: EventType): boolean {
  return may(actor, [scopeOf(type)], permissionsOf(type));
}

/**
 * Returns the event types of a subscription: the named types or, by default, all types that the credential may see
 * except for firehose types.
 * @throws AppError bad_request with every unknown event; forbidden with the events that the credential may not see
 */
export function chosenEvents(actor: Actor, named: readonly string[]): Set<EventType> {
  const unknown: Problem[] = named.flatMap((name, index) =>
    isEventType(name) ? [] : [{ path: `event_types.${index}`, message: message('field.unknown_event') }],
  );
  if (unknown.length > 0) {
    throw new AppError('bad_request', message('realtime.unknown_events'), {
      problems: unknown,
      fix: message('realtime.unknown_events.fix'),
    });
  }
  const refused: Problem[] = (named as EventType[]).flatMap((type, index) =>
    maySee(actor, type)
      ? []
      : [
          {
            path: `event_types.${index}`,
            message:
              actor.kind === 'session'
                ? message('field.event_not_allowed')
                : message('field.event_needs_scope', { scope: scopeOf(type) }),
          },
        ],
  );
  if (refused.length > 0) throw new AppError('forbidden', message('realtime.refused_events'), { problems: refused });
  const chosen =
    named.length > 0
      ? (named as EventType[])
      : ALL.filter((type) => !EVENT_TYPES[type].firehose && maySee(actor, type));
  if (chosen.length === 0) {
    throw new AppError('forbidden', message('realtime.no_events'), {
      fix: message('realtime.no_events.fix'),
    });
  }
  return new Set(chosen);
}
