import { catalogueIdOf, createTestCatalogue } from '../harness/catalogue.ts';
import { startProvisioning } from '../../local/provisioning.ts';
import { createDashboardWorld } from '../harness/dashboard.ts';
import { startStripe } from '../harness/stripe.ts';
import { HOSTILE, WIDE, type SceneWorld } from './stage.ts';

const COMPANIES = [
  {
    name: 'Tidewater Dental',
    domain: 'tidewater.example',
    industries: ['Health'],
    country: 'Germany',
    city: 'Hamburg',
  },
  { name: 'Savanna Solar', domain: 'savanna.example', industries: ['Energy'], country: 'Kenya', city: 'Nairobi' },
  { name: WIDE, domain: 'wide.example', industries: [HOSTILE], country: 'Portugal', city: 'Porto' },
];
const PEOPLE: readonly [first: string, last: string, title: string, seniority: string][] = [
  ['Ana', 'Ortiz', 'Head of facilities', 'Head'],
  ['Bo', 'Lee', 'Office manager', 'Manager'],
  ['Chloé', 'Nowak', 'Chief executive', 'C-level'],
  [HOSTILE, WIDE, WIDE, 'Manager'],
  ['نور', 'حداد', 'مديرة المكتب', 'Manager'],
];
const COPIES = 12;

/**
 * Creates a world whose installation has a small prospect catalogue and sells mailboxes; every scene can be created in
 * it.
 * @param env further settings
 */
export async function createSceneWorld(env: Record<string, string> = {}): Promise<SceneWorld> {
  const catalogue = await createTestCatalogue();
  await catalogue.load([
    ...COMPANIES.map((company, at) => ({ type: 'company', id: catalogueIdOf('c', at + 1), ...company })),
    ...Array.from({ length: PEOPLE.length * COPIES }, (_, at) => {
      const [first_name, last_name, title, seniority] = PEOPLE[at % PEOPLE.length]!;
      const company = at % COMPANIES.length;
      const { domain, country, city } = COMPANIES[company]!;
      return {
        id: catalogueIdOf('p', at + 1),
        first_name,
        last_name,
        title,
        seniority,
        country,
        city,
        company_id: catalogueIdOf('c', company + 1),
        ...(at % 4 === 3 ? {} : { email: `person-${at}@${domain}`, email_status: 'verified' }),
      };
    }),
  ]);
  const [sandbox, stripe] = await Promise.all([startProvisioning(), startStripe()]);
  const world = await createDashboardWorld({
    catalogue: catalogue.reader,
    env: { ...sandbox.env, ...stripe.env, ...env },
  });
  stripe.sendTo(`${world.url}/payments/stripe/events`);
  return {
    ...world,
    stripe,
    async close() {
      await world.close();
      await stripe.close();
      await sandbox.close();
      await catalogue.drop();
    },
  };
}
