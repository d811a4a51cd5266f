/**
 * Stub of HubSpot: OAuth (v1 of the token endpoints), CRM v3 objects of contacts, deals and notes, properties. From
 * developers.hubspot.com: OAuth, CRM objects, properties, error handling, usage guidelines.
 */
import { randomUUID } from 'node:crypto';
import { bearerOf, createOAuth, type OAuthServer } from '../oauth.ts';
import { Answer, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

export interface HubSpotDouble extends Double {
  oauth: OAuthServer;
  /** Existing contacts, deals and notes. */
  contacts: HubSpotObject[];
  deals: HubSpotObject[];
  notes: HubSpotObject[];
}

interface HubSpotObject {
  id: string;
  properties: Record<string, string>;
  associations: { to: string; type: number }[];
}

interface Property {
  name: string;
  label: string;
  type: string;
  readOnly?: boolean;
  options?: readonly string[];
}

const PROPERTIES: Record<string, readonly Property[]> = {
  contacts: [
    { name: 'email', label: 'Email', type: 'string' },
    { name: 'firstname', label: 'First Name', type: 'string' },
    { name: 'lastname', label: 'Last Name', type: 'string' },
    { name: 'company', label: 'Company Name', type: 'string' },
    { name: 'phone', label: 'Phone Number', type: 'string' },
    { name: 'jobtitle', label: 'Job Title', type: 'string' },
    { name: 'website', label: 'Website URL', type: 'string' },
    { name: 'favourite_number', label: 'Favourite Number', type: 'number' },
    {
      name: 'lifecyclestage',
      label: 'Lifecycle Stage',
      type: 'enumeration',
      options: ['lead', 'opportunity', 'customer'],
    },
    { name: 'createdate', label: 'Create Date', type: 'datetime', readOnly: true },
  ],
  deals: [
    { name: 'dealname', label: 'Deal Name', type: 'string' },
    { name: 'dealstage', label: 'Deal Stage', type: 'enumeration', options: ['appointmentscheduled', 'closedwon'] },
    { name: 'pipeline', label: 'Pipeline', type: 'enumeration', options: ['default'] },
    { name: 'amount', label: 'Amount', type: 'number' },
    { name: 'deal_currency_code', label: 'Currency', type: 'string' },
    { name: 'closedate', label: 'Close Date', type: 'datetime' },
    { name: 'description', label: 'Deal Description', type: 'string' },
  ],
  notes: [
    { name: 'hs_timestamp', label: 'Activity date', type: 'datetime' },
    { name: 'hs_note_body', label: 'Body preview', type: 'string' },
  ],
};

/** HubSpot's association types to a contact, of a deal and of a note. */
const ASSOCIATIONS: Record<string, number> = { deals: 3, notes: 202 };
const REQUIRED: Record<string, readonly string[]> = { notes: ['hs_timestamp'] };

const SCOPES = [
  'oauth',
  'crm.objects.contacts.read',
  'crm.objects.contacts.write',
  'crm.objects.deals.read',
  'crm.objects.deals.write',
  'crm.schemas.contacts.read',
];

/** Starts the stub of HubSpot. */
export async function startHubSpot(port?: number): Promise<HubSpotDouble> {
  const objects: Record<string, HubSpotObject[]> = { contacts: [], deals: [], notes: [] };
  let lastId = 100;
  const oauth = createOAuth({
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/v1/token',
    clientAuth: 'body',
    pkce: 'ignored',
    rotates: false,
    scopes: SCOPES,
    refusal: (kind, message) =>
      new Answer(400, {
        status:
          { invalid_client: 'BAD_CLIENT_SECRET', invalid_grant: 'BAD_REFRESH_TOKEN' }[kind as string] ?? 'BAD_REQUEST',
        message,
        correlationId: randomUUID(),
      }),
    tokens: (_grant, { access, refresh, expiresIn }) => ({
      token_type: 'bearer',
      access_token: access,
      refresh_token: refresh,
      expires_in: expiresIn,
    }),
  });

  const need = (heard: Heard, ...scopes: string[]): void => {
    const grant = oauth.whose(bearerOf(heard));
    const missing = typeof grant === 'string' ? [] : scopes.filter((scope) => !grant.scopes.includes(scope));
    if (missing.length > 0)
      throw new Answer(403, {
        status: 'error',
        message: "This app hasn't been granted all required scopes to make this call.",
        correlationId: randomUUID(),
        errors: [
          {
            message: 'One or more of the following scopes are required.',
            context: { requiredGranularScopes: missing },
          },
        ],
        category: 'MISSING_SCOPES',
      });
  };
  const writeScope = (type: string) => (type === 'deals' ? 'crm.objects.deals.write' : 'crm.objects.contacts.write');

  const contactOf = (email: string) =>
    objects.contacts!.find(({ properties }) => properties.email === email.toLowerCase());
  const store = (type: string, properties: Record<string, string>, associations: HubSpotObject['associations']) => {
    const made = { id: String((lastId += 1)), properties: { ...properties }, associations };
    objects[type]!.push(made);
    return made;
  };

  const create = (type: string) => (heard: Heard) => {
    need(heard, writeScope(type));
    const body = bodyOf(heard);
    const properties = checkProperties(type, body.properties, true);
    if (type === 'contacts' && properties.email !== undefined) {
      const there = contactOf(properties.email);
      if (there) throw problem(409, 'CONFLICT', `Contact already exists. Existing ID: ${there.id}`);
    }
    const made = store(type, properties, readAssociations(type, body.associations, objects.contacts!));
    return new Answer(201, shown(made));
  };

  const upsert = (heard: Heard) => {
    need(heard, 'crm.objects.contacts.write');
    const { inputs } = bodyOf(heard);
    if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > 100)
      throw problem(400, 'VALIDATION_ERROR', 'The inputs must have between 1 and 100 elements');
    const ids = inputs.map(({ id }) => String(id).toLowerCase());
    if (new Set(ids).size < ids.length)
      throw problem(400, 'VALIDATION_ERROR', 'Duplicate IDs found in batch input. IDs must be unique');
    for (const input of inputs)
      if (input.idProperty !== 'email')
        throw problem(400, 'VALIDATION_ERROR', `Property ${String(input.idProperty)} is not a unique property`);
    const results: object[] = [];
    const errors: object[] = [];
    for (const input of inputs) {
      try {
        const given = checkProperties('contacts', { email: input.id, ...input.properties }, false);
        const there = contactOf(String(input.id));
        if (there) Object.assign(there.properties, given);
        results.push({ ...shown(there ?? store('contacts', given, [])), new: !there });
      } catch (error) {
        // Only an input with a trace id can fail on its own; any other error fails the whole request.
        if (!(error instanceof Answer) || input.objectWriteTraceId === undefined) throw error;
        errors.push({ ...(error.body as object), context: { objectWriteTraceId: [input.objectWriteTraceId] } });
      }
    }
    const times = { startedAt: new Date().toISOString(), completedAt: new Date().toISOString() };
    if (errors.length === 0) return { status: 'COMPLETE', results, ...times };
    return new Answer(207, { status: 'COMPLETE', results, numErrors: errors.length, errors, ...times });
  };

  const update = (heard: Heard) => {
    need(heard, 'crm.objects.contacts.write');
    const { id } = heard.params;
    const there =
      heard.query.get('idProperty') === 'email' ? contactOf(id!) : objects.contacts!.find((one) => one.id === id);
    if (!there) throw problem(404, 'OBJECT_NOT_FOUND', `Object not found. objectId are usually numeric.`);
    const given = checkProperties('contacts', bodyOf(heard).properties, false);
    const other = given.email === undefined ? undefined : contactOf(given.email);
    if (other && other !== there) throw problem(409, 'CONFLICT', `Contact already exists. Existing ID: ${other.id}`);
    Object.assign(there.properties, given);
    return shown(there);
  };

  const double = await startDouble(
    {
      rate: { requests: 110, perMs: 10_000 },
      limited: (seconds) =>
        new Answer(
          429,
          {
            status: 'error',
            message: 'You have reached your ten_secondly_rolling limit.',
            errorType: 'RATE_LIMIT',
            correlationId: randomUUID(),
            policyName: 'TEN_SECONDLY_ROLLING',
          },
          {
            'retry-after': String(seconds),
            'x-hubspot-ratelimit-max': '110',
            'x-hubspot-ratelimit-remaining': '0',
            'x-hubspot-ratelimit-interval-milliseconds': '10000',
          },
        ),
      broken: () => new Answer(502, '<html>Bad Gateway</html>'),
      unknown: ({ path }) => problem(404, 'OBJECT_NOT_FOUND', `resource not found: ${path}`),
      admit: (heard) => {
        const whose = oauth.whose(bearerOf(heard));
        if (whose === 'expired')
          throw problem(401, 'EXPIRED_AUTHENTICATION', 'The OAuth token used to make this call expired.');
        if (whose === 'unknown') throw problem(401, 'INVALID_AUTHENTICATION', 'Authentication credentials not found.');
      },
      open: [...oauth.open, 'GET /oauth/v1/access-tokens/:token', 'DELETE /oauth/v1/refresh-tokens/:token'],
      routes: {
        ...oauth.routes,
        'GET /oauth/v1/access-tokens/:token': ({ params }) => {
          const whose = oauth.whose(params.token);
          if (typeof whose === 'string') throw problem(404, 'NOT_FOUND', 'access token not found');
          return {
            hub_id: 4711,
            hub_domain: `${whose.account} ("Ltd")`,
            user: 'pat@acme.test',
            user_id: 7,
            app_id: 1,
            scopes: whose.scopes,
          };
        },
        'DELETE /oauth/v1/refresh-tokens/:token': ({ params }) => {
          if (!oauth.revoke(params.token!)) throw problem(404, 'NOT_FOUND', 'refresh token not found');
          return new Answer(204);
        },
        'GET /crm/v3/properties/:type': (heard) => {
          need(heard, 'crm.schemas.contacts.read');
          return { results: PROPERTIES[heard.params.type!]!.map(shownProperty) };
        },
        'POST /crm/v3/objects/contacts': create('contacts'),
        'POST /crm/v3/objects/deals': create('deals'),
        'POST /crm/v3/objects/notes': create('notes'),
        'POST /crm/v3/objects/contacts/batch/upsert': upsert,
        'PATCH /crm/v3/objects/contacts/:id': update,
        'GET /crm/v3/objects/contacts/:id': (heard) => {
          need(heard, 'crm.objects.contacts.read');
          const { id } = heard.params;
          const there =
            heard.query.get('idProperty') === 'email' ? contactOf(id!) : objects.contacts!.find((one) => one.id === id);
          if (!there) throw problem(404, 'OBJECT_NOT_FOUND', 'Object not found.');
          return shown(there);
        },
      },
    },
    port,
  );
  const { contacts, deals, notes } = objects as Record<'contacts' | 'deals' | 'notes', HubSpotObject[]>;
  return Object.assign(double, { oauth, contacts, deals, notes });
}

function problem(status: number, category: string, message: string): Answer {
  return new Answer(status, { status: 'error', message, correlationId: randomUUID(), category });
}

function bodyOf(heard: Heard): any {
  return jsonOf(heard, (message) => problem(400, 'VALIDATION_ERROR', `Invalid input JSON: ${message}`));
}

function checkProperties(type: string, given: unknown, isNew: boolean): Record<string, string> {
  const known = new Map(PROPERTIES[type]!.map((property) => [property.name, property]));
  const wrong: object[] = [];
  const refuse = (name: string, error: string, message: string) => wrong.push({ isValid: false, message, error, name });
  const properties = Object.entries((given ?? {}) as Record<string, unknown>);
  for (const [name, value] of properties) {
    const property = known.get(name);
    if (!property) refuse(name, 'PROPERTY_DOESNT_EXIST', `Property "${name}" does not exist`);
    else if (property.readOnly) refuse(name, 'READ_ONLY_VALUE', `"${name}" is a read only property`);
    else if (typeof value !== 'string' && typeof value !== 'number')
      refuse(name, 'INVALID_STRING', `${String(value)} is not a string`);
    else if (property.type === 'number' && value !== '' && Number.isNaN(Number(value)))
      refuse(name, 'INVALID_INTEGER', `${value} was not a valid number.`);
    else if (property.type === 'datetime' && Number.isNaN(Date.parse(String(value))) && !/^\d+$/.test(String(value)))
      refuse(name, 'INVALID_DATE', `${value} was not a valid long.`);
    else if (property.options && !property.options.includes(String(value)))
      refuse(name, 'INVALID_OPTION', `${value} was not one of the allowed options: [${property.options.join(', ')}]`);
    else if (name === 'email' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(value)))
      refuse(name, 'INVALID_EMAIL', `Email address ${value} is invalid`);
  }
  for (const name of isNew ? (REQUIRED[type] ?? []) : [])
    if (!properties.some(([given]) => given === name)) refuse(name, 'REQUIRED_FIELD', `Property "${name}" is required`);
  if (wrong.length > 0)
    throw problem(400, 'VALIDATION_ERROR', `Property values were not valid: ${JSON.stringify(wrong)}`);
  return Object.fromEntries(
    properties.map(([name, value]) => [name, name === 'email' ? String(value).toLowerCase() : String(value)]),
  );
}

function readAssociations(
  type: string,
  given: unknown,
  contacts: readonly HubSpotObject[],
): HubSpotObject['associations'] {
  return ((given ?? []) as any[]).map(({ to, types }) => {
    const kind = types?.[0];
    if (kind?.associationCategory !== 'HUBSPOT_DEFINED' || kind.associationTypeId !== ASSOCIATIONS[type])
      throw problem(400, 'VALIDATION_ERROR', `Invalid association type ${JSON.stringify(kind)} for ${type}`);
    if (!contacts.some(({ id }) => id === String(to?.id)))
      throw problem(400, 'VALIDATION_ERROR', `No CONTACT with ID ${to?.id} exists`);
    return { to: String(to.id), type: kind.associationTypeId };
  });
}

function shown({ id, properties }: HubSpotObject): object {
  const at = new Date().toISOString();
  return { id, properties: { ...properties, hs_object_id: id }, createdAt: at, updatedAt: at, archived: false };
}

function shownProperty({ name, label, type, readOnly = false, options = [] }: Property): object {
  return {
    name,
    label,
    type,
    fieldType: type === 'enumeration' ? 'select' : 'text',
    options: options.map((value) => ({ label: value, value, hidden: false })),
    modificationMetadata: { archivable: true, readOnlyDefinition: true, readOnlyValue: readOnly },
    hidden: false,
  };
}
