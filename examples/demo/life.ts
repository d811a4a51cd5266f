import type { Scene } from './acts.ts';
import { draw, type Person } from './people.ts';
import type { Email } from './world.ts';

/** Simulated recipients who act on their emails. */
interface Life {
  /** Number of pending actions on received emails. */
  readonly pending: number;
  stop(): void;
}

/** Makes every recipient react to each email at the times that their role defines. */
export function bringToLife(
  people: ReadonlyMap<string, Person>,
  { world, api, diary, campaignId, pace }: Omit<Scene, 'draw'> & { pace: number },
): Life {
  const timers = new Set<NodeJS.Timeout>();
  let busy = 0;

  for (const { email, role } of people.values()) if (role.refused) world.refuse(email);

  const receive = (email: Email): void => {
    const person = people.get(email.to);
    for (const act of person?.role.does[email.name] ?? []) {
      const [from, to] = act.after.map((ms) => ms * pace) as [number, number];
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          busy += 1;
          const scene = { world, api, diary, campaignId, draw: (question: string) => draw(email.to, question) };
          act
            .perform(email, scene)
            .catch((error: Error) => diary.complain(`${email.to} ${act.name} (${email.name}): ${error.message}`))
            .finally(() => (busy -= 1));
        },
        from + (to - from) * draw(email.to, `${email.name}/${act.name}`),
      );
      timers.add(timer);
    }
  };
  world.onEmail(receive);

  return {
    get pending() {
      return timers.size + busy;
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
