/**
 * Stub of Pipedrive: OAuth with Basic authentication of the client, API v2 of persons and deals, API v1 of notes,
 * fields and users. From pipedrive.readme.io and developers.pipedrive.com: OAuth authorization, rate limiting, persons,
 * deals, notes, personFields.
 */
import { bearerOf, createOAuth, type OAuthServer } from '../oauth.ts';
import { Answer, formOf, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

interface PipedriveDouble extends Double {
  oauth: OAuthServer;
  persons: PipedrivePerson[];
  deals: PipedriveThing[];
  notes: PipedriveThing[];
}

interface PipedriveThing {
  id: number;
  [field: string]: unknown;
}

interface PipedrivePerson extends PipedriveThing {
  name: string;
  emails: { value: string; primary: boolean; label: string }[];
  phones: { value: string; primary: boolean; label: string }[];
  custom_fields: Record<string, unknown>;
}

/** Custom field of the account; such keys are hashes of 40 digits. */
export const PIPEDRIVE_CUSTOM_FIELD = 'd4de1c1518b4531717c676029a45911c340390a6';

const FIELDS = [
  { key: 'name', name: 'Name', field_type: 'varchar', edit_flag: false, bulk_edit_allowed: true },
  { key: 'email', name: 'Email', field_type: 'varchar', edit_flag: false, bulk_edit_allowed: true },
  { key: 'phone', name: 'Phone', field_type: 'phone', edit_flag: false, bulk_edit_allowed: true },
  { key: 'add_time', name: 'Person created', field_type: 'date', edit_flag: false, bulk_edit_allowed: false },
  { key: PIPEDRIVE_CUSTOM_FIELD, name: 'Industry', field_type: 'varchar', edit_flag: true, bulk_edit_allowed: true },
];

/** Starts the stub of Pipedrive, which also serves the API of the account's company. */
export async function startPipedrive(port?: number): Promise<PipedriveDouble> {
  const persons: PipedrivePerson[] = [];
  const deals: PipedriveThing[] = [];
  const notes: PipedriveThing[] = [];
  const oauth = createOAuth({
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    clientAuth: 'basic',
    pkce: 'ignored',
    rotates: true,
    // Scopes are set in the app at Pipedrive; an authorization names none.
    scopes: [],
    refusal: (error, message) => new Answer(error === 'invalid_client' ? 401 : 400, { success: false, message, error }),
    tokens: (_grant, { access, refresh, expiresIn }) => ({
      access_token: access,
      token_type: 'Bearer',
      refresh_token: refresh,
      scope: 'base,contacts:full,deals:full',
      expires_in: expiresIn,
      api_domain: double.url,
    }),
  });
  const add = <T extends PipedriveThing>(list: T[], fields: Omit<T, 'id'>): T => {
    const made = { ...fields, id: list.length + 1 } as T;
    list.push(made);
    return made;
  };
  const mustHavePerson = (id: unknown): void => {
    if (!persons.some((person) => person.id === id)) throw problem(400, 'Person not found or no access.');
  };

  const double: Double = await startDouble(
    {
      rate: { requests: 80, perMs: 2_000 },
      limited: (seconds) =>
        new Answer(
          429,
          { success: false, error: 'Rate limit exceeded.', errorCode: 429 },
          {
            'retry-after': String(seconds),
            'x-ratelimit-limit': '80',
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': String(seconds),
          },
        ),
      broken: () => problem(500, 'Internal error'),
      unknown: () => problem(404, 'Unknown method .'),
      admit: (heard) => {
        if (typeof oauth.whose(bearerOf(heard)) === 'string')
          throw new Answer(401, { success: false, error: 'Invalid token: access token is invalid', errorCode: 401 });
      },
      open: [...oauth.open, 'POST /oauth/revoke'],
      routes: {
        ...oauth.routes,
        'POST /oauth/revoke': (heard) => {
          const form = formOf(heard, (message) => problem(400, message));
          const basic = Buffer.from(`${oauth.clientId}:${oauth.clientSecret}`).toString('base64');
          if (heard.headers.authorization !== `Basic ${basic}`) throw problem(401, 'Client authentication failed');
          oauth.revoke(form.get('token') ?? '');
          return {};
        },
        'GET /api/v1/users/me': (heard) => ({
          success: true,
          data: {
            id: 12,
            name: 'Pat Doe',
            email: 'pat@acme.test',
            company_id: 77,
            company_name: (oauth.whose(bearerOf(heard)) as { account: string }).account,
            company_domain: 'acme',
          },
        }),
        'GET /api/v1/personFields': ({ query }) => {
          const start = Number(query.get('start') ?? 0);
          const limit = Math.min(Number(query.get('limit') ?? 100), 500);
          const more = start + limit < FIELDS.length;
          const pagination = {
            start,
            limit,
            more_items_in_collection: more,
            ...(more ? { next_start: start + limit } : {}),
          };
          return { success: true, data: FIELDS.slice(start, start + limit), additional_data: { pagination } };
        },
        'GET /api/v2/persons/search': ({ query }) => {
          const term = (query.get('term') ?? '').toLowerCase();
          if (term === '') throw problem(400, 'Validation failed: term: term is a required field');
          const exact = query.get('exact_match') === 'true';
          const found = persons.filter(({ emails }) =>
            emails.some(({ value }) => (exact ? value.toLowerCase() === term : value.toLowerCase().includes(term))),
          );
          const items = found.map(({ id, name, emails }) => ({
            result_score: 0.5,
            item: {
              id,
              type: 'person',
              name,
              emails: emails.map(({ value }) => value),
              primary_email: emails[0]?.value,
            },
          }));
          return { success: true, data: { items }, additional_data: { next_cursor: null } };
        },
        'POST /api/v2/persons': (heard) => {
          const fields = readPerson(heard);
          if (!fields.name) throw problem(400, 'Validation failed: name: name is a required field');
          const made = add(persons, { emails: [], phones: [], custom_fields: {}, ...fields } as Omit<
            PipedrivePerson,
            'id'
          >);
          return new Answer(201, { success: true, data: made });
        },
        'GET /api/v2/persons/:id': ({ params }) => {
          const there = persons.find(({ id }) => id === Number(params.id));
          if (!there) throw problem(404, 'Person not found');
          return { success: true, data: { ...there, is_deleted: false } };
        },
        'PATCH /api/v2/persons/:id': (heard) => {
          const there = persons.find(({ id }) => id === Number(heard.params.id));
          if (!there) throw problem(404, 'Person not found');
          const { custom_fields: custom, ...fields } = readPerson(heard);
          Object.assign(there, fields);
          Object.assign(there.custom_fields, custom);
          return { success: true, data: there };
        },
        'POST /api/v2/deals': (heard) => {
          const body = bodyOf(heard);
          if (!body.title) throw problem(400, 'Validation failed: title: title is a required field');
          if (body.value !== undefined && typeof body.value !== 'number')
            throw problem(400, 'Validation failed: value: value must be a number');
          if (body.person_id !== undefined) mustHavePerson(body.person_id);
          return new Answer(201, { success: true, data: add(deals, body) });
        },
        'POST /api/v1/notes': (heard) => {
          const body = bodyOf(heard);
          if (!body.content) throw problem(400, 'Note content must be given.');
          if (!body.person_id && !body.deal_id)
            throw problem(400, 'One of the required parameters is missing: deal_id, person_id');
          mustHavePerson(body.person_id);
          return new Answer(201, { success: true, data: add(notes, body) });
        },
      },
    },
    port,
  );
  return Object.assign(double, { oauth, persons, deals, notes });
}

function problem(status: number, error: string): Answer {
  return new Answer(status, {
    success: false,
    error,
    error_info: 'Please check developers.pipedrive.com',
    code: 'ERR_SCHEMA_VALIDATION_FAILED',
  });
}

function bodyOf(heard: Heard): any {
  return jsonOf(heard, (message) => problem(400, message));
}

function readPerson(heard: Heard): Partial<PipedrivePerson> {
  const body = bodyOf(heard);
  const known = ['name', 'emails', 'phones', 'custom_fields', 'org_id', 'owner_id', 'label_ids', 'visible_to'];
  for (const name of Object.keys(body))
    if (!known.includes(name))
      throw problem(400, `Validation failed: ${name}: Unrecognized key(s) in object: '${name}'`);
  for (const list of ['emails', 'phones'])
    for (const one of body[list] ?? [])
      if (typeof one?.value !== 'string')
        throw problem(400, `Validation failed: ${list}.0.value: value is a required field`);
  for (const key of Object.keys(body.custom_fields ?? {}))
    if (!FIELDS.some((field) => field.edit_flag && field.key === key))
      throw problem(400, `Validation failed: custom_fields: Unrecognized key(s) in object: '${key}'`);
  return body;
}
