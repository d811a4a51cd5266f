/**
 * Stub of Salesforce: OAuth web server flow with PKCE, REST API of sObjects, SOQL queries, describe. From
 * developer.salesforce.com: REST API Developer Guide, OAuth authorization flows, status codes and error responses.
 */
import { randomBytes } from 'node:crypto';
import { bearerOf, createOAuth, type OAuthServer } from '../oauth.ts';
import { Answer, formOf, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

interface SalesforceDouble extends Double {
  oauth: OAuthServer;
  records: Record<'Contact' | 'Lead' | 'Task' | 'Opportunity' | 'OpportunityContactRole', SalesforceRecord[]>;
}

type SalesforceRecord = Record<string, string> & { Id: string };

/** JSON types that a field accepts; objects and lists are refused. */
type Value = string | number | boolean | null;

interface Field {
  type: string;
  required?: boolean;
  readOnly?: boolean;
  length?: number;
  values?: readonly string[];
  /** Objects to which the value, an id, may refer. */
  refers?: string[];
}

const text = (length = 80): Field => ({ type: 'string', length });
const OBJECTS: Record<string, { prefix: string; fields: Record<string, Field> }> = {
  Contact: {
    prefix: '003',
    fields: {
      LastName: { ...text(80), required: true },
      FirstName: text(40),
      Email: { type: 'email', length: 80 },
      Phone: { type: 'phone', length: 40 },
      Title: text(128),
      Department: text(80),
      Description: { type: 'textarea', length: 32_000 },
      LeadSource: { type: 'picklist', values: ['Web', 'Other'] },
      CreatedDate: { type: 'datetime', readOnly: true },
    },
  },
  Lead: {
    prefix: '00Q',
    fields: {
      LastName: { ...text(80), required: true },
      FirstName: text(40),
      Company: { ...text(255), required: true },
      Email: { type: 'email', length: 80 },
      Phone: { type: 'phone', length: 40 },
      Title: text(128),
      CreatedDate: { type: 'datetime', readOnly: true },
    },
  },
  Task: {
    prefix: '00T',
    fields: {
      WhoId: { type: 'reference', refers: ['Contact', 'Lead'] },
      Subject: { type: 'combobox', length: 255 },
      Description: { type: 'textarea', length: 32_000 },
      Status: { type: 'picklist', values: ['Not Started', 'Completed'] },
      ActivityDate: { type: 'date' },
    },
  },
  Opportunity: {
    prefix: '006',
    fields: {
      Name: { ...text(120), required: true },
      StageName: { type: 'picklist', required: true, values: ['Prospecting', 'Qualification', 'Closed Won'] },
      CloseDate: { type: 'date', required: true },
      Amount: { type: 'currency' },
      Description: { type: 'textarea', length: 32_000 },
    },
  },
  OpportunityContactRole: {
    prefix: '00K',
    fields: {
      OpportunityId: { type: 'reference', required: true, refers: ['Opportunity'] },
      ContactId: { type: 'reference', required: true, refers: ['Contact'] },
    },
  },
};

/** Starts the stub of Salesforce, which is also the account's instance. */
export async function startSalesforce(port?: number): Promise<SalesforceDouble> {
  const records = Object.fromEntries(
    Object.keys(OBJECTS).map((name) => [name, [] as SalesforceRecord[]]),
  ) as SalesforceDouble['records'];
  const of = (object: string): SalesforceRecord[] => {
    const found = (records as Record<string, SalesforceRecord[]>)[object];
    if (!found) throw problem(404, 'NOT_FOUND', 'The requested resource does not exist');
    return found;
  };
  const oauth = createOAuth({
    authorizePath: '/services/oauth2/authorize',
    tokenPath: '/services/oauth2/token',
    clientAuth: 'body',
    pkce: 'required',
    rotates: true,
    scopes: ['api', 'refresh_token', 'openid'],
    refusal: (error, description) =>
      new Answer(error === 'invalid_client' ? 401 : 400, { error, error_description: description }),
    // There is no expires_in, because the session lifetime is a setting of the account.
    tokens: (grant, { access, refresh, first }) => ({
      access_token: access,
      ...(first || refresh ? { refresh_token: refresh } : {}),
      signature: randomBytes(32).toString('base64'),
      scope: grant.scopes.join(' '),
      instance_url: double.url,
      id: `${double.url}/id/00D000000000001EAA/005000000000001AAA`,
      token_type: 'Bearer',
      issued_at: String(Date.now()),
    }),
  });

  const checked = (object: string, heard: Heard, isNew: boolean): Record<string, string> => {
    const { fields } = OBJECTS[object]!;
    const body = jsonOf(heard, (message) => problem(400, 'JSON_PARSER_ERROR', message)) as Record<string, Value>;
    for (const [name, value] of Object.entries(body)) {
      const field = fields[name];
      if (!field) throw problem(400, 'INVALID_FIELD', `No such column '${name}' on sobject of type ${object}`);
      if (field.readOnly)
        throw problem(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', `Unable to create/update fields: ${name}.`, [name]);
      checkValue(object, name, field, value);
      if (field.refers && !field.refers.some((other) => of(other).some(({ Id }) => Id === value)))
        throw problem(400, 'MALFORMED_ID', `${name}: id value of incorrect type: ${String(value)}`, [name]);
    }
    const missing = Object.keys(fields).filter((name) => fields[name]!.required && isNew && !body[name]);
    if (missing.length > 0)
      throw problem(400, 'REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing.join(', ')}]`, missing);
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, value === null ? '' : String(value)]));
  };

  const double: Double = await startDouble(
    {
      // Salesforce limits requests per day, and concurrent requests only if they run long. Excess requests are answered
      // with 403.
      limited: () => problem(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.'),
      broken: () => problem(503, 'SERVER_UNAVAILABLE', 'The server is unavailable'),
      unknown: () => problem(404, 'NOT_FOUND', 'The requested resource does not exist'),
      admit: (heard) => {
        if (typeof oauth.whose(bearerOf(heard)) === 'string')
          throw problem(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
      },
      open: [...oauth.open, 'POST /services/oauth2/revoke'],
      routes: {
        ...oauth.routes,
        'POST /services/oauth2/revoke': (heard) => {
          const token = formOf(heard, (message) => new Answer(400, { error: 'invalid_request', message })).get('token');
          if (!oauth.revoke(token ?? ''))
            throw new Answer(400, { error: 'invalid_token', error_description: 'invalid token' });
          return new Answer(200, '');
        },
        'GET /services/oauth2/userinfo': (heard) => ({
          sub: `${double.url}/id/00D000000000001EAA/005000000000001AAA`,
          user_id: '005000000000001AAA',
          organization_id: '00D000000000001EAA',
          preferred_username: 'pat@acme.test',
          name: (oauth.whose(bearerOf(heard)) as { account: string }).account,
        }),
        'GET /services/data/:version/sobjects/:object/describe': ({ params }) => {
          of(params.object!);
          return { name: params.object, fields: Object.entries(OBJECTS[params.object!]!.fields).map(describe) };
        },
        'GET /services/data/:version/query': (heard) => {
          const soql = heard.query.get('q') ?? '';
          const parsed =
            /^SELECT Id FROM (\w+) WHERE Email = '((?:[^'\\]|\\.)*)'(?: ORDER BY CreatedDate(?: ASC)?)?(?: LIMIT (\d+))?$/.exec(
              soql,
            );
          if (!parsed) throw problem(400, 'MALFORMED_QUERY', `unexpected token in: ${soql}`);
          const [, object, quoted, limit] = parsed;
          const email = quoted!.replaceAll(/\\(.)/g, '$1').toLowerCase();
          const found = of(object!)
            .filter(({ Email }) => Email?.toLowerCase() === email)
            .slice(0, Number(limit ?? 2_000));
          return {
            totalSize: found.length,
            done: true,
            records: found.map(({ Id }) => ({
              attributes: { type: object, url: `/services/data/v62.0/sobjects/${object}/${Id}` },
              Id,
            })),
          };
        },
        'POST /services/data/:version/sobjects/:object': (heard) => {
          const object = heard.params.object!;
          const all = of(object);
          const fields = checked(object, heard, true);
          const Id = `${OBJECTS[object]!.prefix}${String(all.length + 1).padStart(12, '0')}AAA`;
          all.push({ ...fields, Id });
          return new Answer(201, { id: Id, success: true, errors: [] });
        },
        'GET /services/data/:version/sobjects/:object/:id': ({ params }) => {
          const there = of(params.object!).find(({ Id }) => Id === params.id);
          if (!there) throw problem(404, 'NOT_FOUND', 'The requested resource does not exist');
          return there;
        },
        'PATCH /services/data/:version/sobjects/:object/:id': (heard) => {
          const there = of(heard.params.object!).find(({ Id }) => Id === heard.params.id);
          if (!there) throw problem(404, 'NOT_FOUND', 'Provided external ID field does not exist or is not accessible');
          Object.assign(there, checked(heard.params.object!, heard, false));
          return new Answer(204);
        },
      },
    },
    port,
  );
  return Object.assign(double, { oauth, records });
}

function problem(status: number, errorCode: string, message: string, fields?: readonly string[]): Answer {
  return new Answer(status, [{ message, errorCode, ...(fields ? { fields } : {}) }], {
    'sforce-limit-info': 'api-usage=18/15000',
  });
}

function checkValue(object: string, name: string, field: Field, value: Value): void {
  if (value === null) return;
  const wrong = (code: string, message: string): never => {
    throw problem(400, code, message, [name]);
  };
  if (typeof value === 'object') wrong('JSON_PARSER_ERROR', `Cannot deserialize ${name} from an object`);
  const given = String(value);
  if (field.length !== undefined && given.length > field.length)
    wrong('STRING_TOO_LONG', `${name}: data value too large: ${given.slice(0, 20)}… (max length=${field.length})`);
  if (field.type === 'email' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(given))
    wrong('INVALID_EMAIL_ADDRESS', `${name}: invalid email address: ${given}`);
  if (field.type === 'date' && !/^\d{4}-\d\d-\d\d$/.test(given))
    wrong('JSON_PARSER_ERROR', `Cannot deserialize instance of date from VALUE_STRING value ${given}`);
  if (field.type === 'currency' && typeof value !== 'number')
    wrong('JSON_PARSER_ERROR', `Cannot deserialize instance of currency from VALUE_STRING value ${given}`);
  if (field.values && field.type === 'picklist' && object !== 'Contact' && !field.values.includes(given))
    wrong('INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', `${name}: bad value for restricted picklist field: ${given}`);
}

function describe([name, field]: [string, Field]): object {
  return {
    name,
    label: name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' '),
    type: field.type,
    length: field.length ?? 0,
    createable: !field.readOnly,
    updateable: !field.readOnly,
    nillable: !field.required,
    restrictedPicklist: false,
    picklistValues: (field.values ?? []).map((value) => ({ active: true, label: value, value })),
  };
}
