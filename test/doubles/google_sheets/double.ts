/**
 * Stub of Google Sheets: Google's OAuth, the user, and values of spreadsheets. From developers.google.com: OAuth for
 * web server applications, Sheets API v4 (values.append, values.get, spreadsheets.get), usage limits, errors.
 */
import { bearerOf, createOAuth, type Grant, type OAuthServer } from '../oauth.ts';
import { Answer, formOf, jsonOf, startDouble, type Double, type Heard } from '../server.ts';

interface GoogleSheetsDouble extends Double {
  oauth: OAuthServer;
  /** Rows by sheet name, of the spreadsheet with {@link GoogleSheetsDouble.spreadsheetId}. */
  sheets: Record<string, string[][]>;
  spreadsheetId: string;
  /** Cells that were interpreted as formulas. */
  formulas: string[];
}

const SHEETS = 'https://www.googleapis.com/auth/spreadsheets';

/** Starts the stub of Google with one spreadsheet. */
export async function startGoogleSheets(port?: number): Promise<GoogleSheetsDouble> {
  const sheets: Record<string, string[][]> = { Sheet1: [], Replies: [['email', 'name']] };
  const spreadsheetId = '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms';
  const formulas: string[] = [];
  const oauth = createOAuth({
    authorizePath: '/o/oauth2/v2/auth',
    tokenPath: '/token',
    clientAuth: 'body',
    pkce: 'optional',
    rotates: false,
    scopes: ['openid', 'email', 'https://www.googleapis.com/auth/userinfo.email', SHEETS],
    // Without these parameters Google returns a refresh token only on the first consent, or never.
    needs: { access_type: 'offline', prompt: 'consent' },
    refusal: (error, description) =>
      new Answer(error === 'invalid_client' ? 401 : 400, { error, error_description: description }),
    prefix: 'ya29.',
    tokens: (grant, { access, refresh, expiresIn, first }) => ({
      access_token: access,
      expires_in: expiresIn,
      ...(first ? { refresh_token: refresh } : {}),
      scope: grant.scopes.join(' '),
      token_type: 'Bearer',
      ...(grant.scopes.includes('openid') ? { id_token: idToken(grant) } : {}),
    }),
  });
  const need = (heard: Heard): void => {
    const grant = oauth.whose(bearerOf(heard));
    if (typeof grant !== 'string' && !grant.scopes.includes(SHEETS))
      throw problem(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.');
    if (heard.params.id?.split(':')[0] !== spreadsheetId)
      throw problem(404, 'NOT_FOUND', 'Requested entity was not found.');
  };
  /** Returns the sheet that a range in A1 notation names. */
  const sheetOf = (range: string): string => {
    const name = /^(?:'((?:[^']|'')+)'|([^'!]+))(?:![A-Z]+\d*(?::[A-Z]+\d*)?)?$/.exec(range);
    const found = (name?.[1]?.replaceAll("''", "'") ?? name?.[2])!;
    if (!sheets[found]) throw problem(400, 'INVALID_ARGUMENT', `Unable to parse range: ${range}`);
    return found;
  };

  const append = (heard: Heard) => {
    need(heard);
    const [range, verb] = splitVerb(heard.params.range!);
    if (verb !== 'append') throw problem(404, 'NOT_FOUND', 'Not found');
    const name = sheetOf(range);
    const how = heard.query.get('valueInputOption');
    if (how !== 'RAW' && how !== 'USER_ENTERED')
      throw problem(400, 'INVALID_ARGUMENT', "'valueInputOption' is required but not specified");
    const { values } = jsonOf(heard, (message) =>
      problem(400, 'INVALID_ARGUMENT', `Invalid JSON payload received. ${message}`),
    );
    if (!Array.isArray(values) || !values.every(Array.isArray))
      throw problem(
        400,
        'INVALID_ARGUMENT',
        "Invalid value at 'data.values' (type.googleapis.com/google.protobuf.ListValue)",
      );
    for (const cell of values.flat()) {
      if (typeof cell === 'object' && cell !== null)
        throw problem(400, 'INVALID_ARGUMENT', 'Invalid values[0][0]: struct_value');
      if (String(cell).length > 50_000)
        throw problem(
          400,
          'INVALID_ARGUMENT',
          'Your input contains more than the maximum of 50000 characters in a single cell.',
        );
      if (how === 'USER_ENTERED' && /^[=+]/.test(String(cell))) formulas.push(String(cell));
    }
    sheets[name]!.push(...values.map((row: unknown[]) => row.map(String)));
    const updatedRange = `${name}!A${sheets[name]!.length}`;
    return {
      spreadsheetId,
      tableRange: `${name}!A1`,
      updates: { spreadsheetId, updatedRange, updatedRows: values.length, updatedCells: values.flat().length },
    };
  };

  const double = await startDouble(
    {
      rate: { requests: 60, perMs: 60_000 },
      limited: (seconds) =>
        new Answer(
          429,
          problem(
            429,
            'RESOURCE_EXHAUSTED',
            "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute per user'",
          ).body,
          { 'retry-after': String(seconds) },
        ),
      broken: () => problem(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
      unknown: () => problem(404, 'NOT_FOUND', 'Not found'),
      admit: (heard) => {
        if (typeof oauth.whose(bearerOf(heard)) === 'string')
          throw problem(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
      },
      open: [...oauth.open, 'POST /revoke'],
      routes: {
        ...oauth.routes,
        'POST /revoke': (heard) => {
          const form = formOf(
            heard,
            (message) => new Answer(400, { error: 'invalid_request', error_description: message }),
          );
          if (!oauth.revoke(form.get('token') ?? ''))
            throw new Answer(400, { error: 'invalid_token', error_description: 'Token expired or revoked' });
          return {};
        },
        'GET /v4/spreadsheets/:id': (heard) => {
          need(heard);
          return {
            spreadsheetId,
            properties: { title: 'Outreach' },
            sheets: Object.keys(sheets).map((title) => ({ properties: { title } })),
          };
        },
        'GET /v4/spreadsheets/:id/values/:range': (heard) => {
          need(heard);
          const rows = sheets[sheetOf(heard.params.range!)]!;
          return { range: heard.params.range, majorDimension: 'ROWS', ...(rows.length > 0 ? { values: rows } : {}) };
        },
        'POST /v4/spreadsheets/:id/values/:range': append,
      },
    },
    port,
  );
  return Object.assign(double, { oauth, sheets, spreadsheetId, formulas });
}

function idToken({ account }: Grant): string {
  const claims = {
    iss: 'https://accounts.google.com',
    sub: '110169484474386276334',
    email: 'pat@acme.test',
    name: account,
  };
  return [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('c2lnbmF0dXJl')
    .join('.');
}

function splitVerb(range: string): [string, string] {
  const colon = range.lastIndexOf(':');
  return [range.slice(0, colon), range.slice(colon + 1)];
}

function problem(code: number, status: string, message: string): Answer {
  return new Answer(code, { error: { code, message, status } });
}
