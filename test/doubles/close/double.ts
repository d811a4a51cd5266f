/**
 * Stub of Close: API keys as the user name of Basic authentication, leads with contacts, search by advanced filtering,
 * notes, opportunities, custom fields. From developer.close.com: authentication, advanced filtering, contacts, leads,
 * notes, opportunities, rate limits, response codes.
 */
import { randomBytes } from 'node:crypto';
import { basicOf } from '../oauth.ts';
import { Answer, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

export interface CloseDouble extends Double {
  /** API keys that the stub accepts. */
  keys: string[];
  leads: CloseThing[];
  contacts: CloseThing[];
  notes: CloseThing[];
  opportunities: CloseThing[];
}

interface CloseThing {
  id: string;
  [field: string]: any;
}

/** Custom field of contacts. */
export const CLOSE_CUSTOM_FIELD = 'cf_ORxgoOQ5YH1p7lDQzFJ88b4z0j7PLLTRaG66m8bmcKv';

/** Starts the stub of Close. */
export async function startClose(port?: number): Promise<CloseDouble> {
  const keys = [`api_${randomBytes(16).toString('hex')}`];
  const [leads, contacts, notes, opportunities]: CloseThing[][] = [[], [], [], []];
  const add = (list: CloseThing[] | undefined, prefix: string, fields: object): CloseThing => {
    const made = { ...fields, id: `${prefix}_${randomBytes(16).toString('hex')}` };
    list!.push(made);
    return made;
  };
  const mustHave = (list: CloseThing[] | undefined, id: unknown, name: string): void => {
    if (!list!.some((one) => one.id === id)) throw invalid({ [name]: 'Object not found.' });
  };

  const double = await startDouble(
    {
      rate: { requests: 240, perMs: 6_000 },
      limited: (seconds) =>
        new Answer(
          429,
          {
            error: {
              rate_reset: seconds,
              message: 'API call count exceeded for this 6 second window',
              rate_limit: 240,
              rate_limit_type: 'key',
            },
          },
          { 'retry-after': String(seconds), ratelimit: `limit=240, remaining=0, reset=${seconds}` },
        ),
      broken: () => new Answer(500, { error: 'Internal Server Error' }),
      unknown: () => new Answer(404, { error: 'Not Found' }),
      admit: (heard) => {
        const basic = basicOf(heard);
        if (!basic || basic.password !== '' || !keys.includes(basic.name))
          throw new Answer(401, {
            error: 'The server could not verify that you are authorized to access the desired URL.',
          });
      },
      routes: {
        'GET /api/v1/me/': () => ({
          id: 'user_1',
          email: 'pat@acme.test',
          first_name: 'Pat',
          last_name: 'Doe',
          organizations: [{ id: 'orga_1', name: 'Acme' }],
        }),
        'GET /api/v1/custom_field/contact/': ({ query }) => {
          const all = [{ id: CLOSE_CUSTOM_FIELD, name: 'Industry', type: 'text', accepts_multiple_values: false }];
          const skip = Number(query.get('_skip') ?? 0);
          return { data: all.slice(skip, skip + Number(query.get('_limit') ?? 100)), has_more: false };
        },
        'POST /api/v1/data/search/': (heard) => {
          const body = bodyOf(heard);
          const email = readSearch(body.query);
          const found = contacts!.filter(({ emails }) =>
            (emails ?? []).some((one: { email: string }) => one.email.toLowerCase() === email.toLowerCase()),
          );
          const names: string[] = body._fields?.contact ?? ['id'];
          const data = found.slice(0, body._limit ?? 100).map((one) => ({
            __object_type: 'contact',
            ...Object.fromEntries(names.map((name) => [name, one[name]])),
          }));
          return { data, cursor: null };
        },
        'POST /api/v1/lead/': (heard) => {
          const { contacts: given = [], ...fields } = bodyOf(heard);
          const people = given.map(checkContact);
          const lead = add(leads, 'lead', { display_name: fields.name ?? people[0]?.name ?? '', ...fields });
          return {
            ...lead,
            contacts: people.map((one: object) => add(contacts, 'cont', { ...one, lead_id: lead.id })),
          };
        },
        'POST /api/v1/contact/': (heard) => {
          const fields = checkContact(bodyOf(heard));
          if (fields.lead_id === undefined)
            return add(contacts, 'cont', {
              ...fields,
              lead_id: add(leads, 'lead', { display_name: fields.name ?? '' }).id,
            });
          mustHave(leads, fields.lead_id, 'lead_id');
          return add(contacts, 'cont', fields);
        },
        'GET /api/v1/contact/:id/': ({ params }) => {
          const there = contacts!.find(({ id }) => id === params.id);
          if (!there) throw new Answer(404, { error: 'Not Found' });
          return there;
        },
        'PUT /api/v1/contact/:id/': (heard) => {
          const there = contacts!.find(({ id }) => id === heard.params.id);
          if (!there) throw new Answer(404, { error: 'Not Found' });
          return Object.assign(there, checkContact(bodyOf(heard)));
        },
        'POST /api/v1/activity/note/': (heard) => {
          const body = bodyOf(heard);
          mustHave(leads, body.lead_id, 'lead_id');
          if (typeof body.note !== 'string' && typeof body.note_html !== 'string')
            throw invalid({ note: 'This field is required.' });
          return add(notes, 'acti', { _type: 'Note', ...body });
        },
        'POST /api/v1/opportunity/': (heard) => {
          const body = bodyOf(heard);
          mustHave(leads, body.lead_id, 'lead_id');
          if (body.value !== undefined && !Number.isInteger(body.value))
            throw invalid({ value: 'Must be an integer (cents).' });
          if (body.value_period !== undefined && !['one_time', 'monthly', 'annual'].includes(body.value_period))
            throw invalid({ value_period: 'Not a valid choice.' });
          return add(opportunities, 'oppo', body);
        },
      },
    },
    port,
  );
  return Object.assign(double, {
    keys,
    leads: leads!,
    contacts: contacts!,
    notes: notes!,
    opportunities: opportunities!,
  });
}

function invalid(fields: Record<string, unknown>): Answer {
  return new Answer(400, { errors: [], 'field-errors': fields });
}

function bodyOf(heard: Heard): any {
  return jsonOf(heard, (message) => new Answer(400, { error: message }));
}

function checkContact(body: any): any {
  const known = ['lead_id', 'name', 'title', 'emails', 'phones', 'urls', `custom.${CLOSE_CUSTOM_FIELD}`];
  const wrong = Object.keys(body).filter((name) => !known.includes(name));
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong.map((name) => [name, 'Unknown field.'])));
  for (const one of body.emails ?? [])
    if (!/^[^\s@]+@[^\s@]+$/.test(one?.email ?? ''))
      throw invalid({ emails: { errors: [], 'field-errors': { 0: { email: 'Invalid email address.' } } } });
  for (const one of body.phones ?? [])
    if (!/^\+?[\d ()-]{5,}$/.test(one?.phone ?? ''))
      throw invalid({ phones: { 0: { phone: 'Invalid phone number.' } } });
  return body;
}

/** Reads a search. The stub supports only one: contacts with an email address. */
function readSearch(query: any): string {
  const [kind, related] = query?.type === 'and' ? query.queries : [];
  const condition = related?.related_query?.condition;
  const field = related?.related_query?.field;
  const good =
    kind?.type === 'object_type' &&
    kind.object_type === 'contact' &&
    related?.type === 'has_related' &&
    related.this_object_type === 'contact' &&
    related.related_object_type === 'contact_email' &&
    related.related_query.type === 'field_condition' &&
    field?.type === 'regular_field' &&
    field.object_type === 'contact_email' &&
    field.field_name === 'email' &&
    condition?.type === 'text' &&
    ['full_words', 'phrase'].includes(condition.mode);
  if (!good) throw invalid({ query: 'Invalid query.' });
  return condition.value;
}
