import { decodeJwt } from 'jose';
import { z } from 'zod';
import { WorkBudget } from '../../../../mail/messages/template.ts';
import { message } from '../../../../../messages/index.ts';
import { ruleMessage } from '../../../../../lib/issue-message.ts';
import { Refused, type Provider } from '../provider.ts';
import { fillText, shorten, templateText } from '../texts.ts';

/** Maximum number of characters of a cell. */
const MAX_CELL = 50_000;

const DEFAULT_COLUMNS = [
  '{{.occurred_at}}',
  '{{.trigger}}',
  '{{.email | default ""}}',
  '{{.first_name | default ""}}',
  '{{.last_name | default ""}}',
  '{{.company | default ""}}',
];

const appendConfig = z.strictObject({
  spreadsheet: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .refine((given) => spreadsheetId(given) !== undefined, ruleMessage('connect.no_spreadsheet_address'))
    .describe('Address or id of the spreadsheet.'),
  sheet: z.string().min(1).max(100).default('Sheet1').describe('The name of the sheet, as its tab says.'),
  columns: z
    .array(templateText(2_000))
    .min(1)
    .max(50)
    .default(DEFAULT_COLUMNS)
    .describe('The cells of the row, from the left; templates are allowed.'),
});

/** Google Sheets, connected by Google's OAuth, through the Sheets API v4. */
export const googleSheets: Provider = {
  id: 'google_sheets',
  name: 'Google Sheets',
  tagline: 'provider.google_sheets.tagline',
  category: 'data',
  docsUrl: 'https://developers.google.com/workspace/sheets/api/guides/concepts',
  authMethod: 'oauth',
  badgeColor: '#0f9d58',
  highlights: ['provider.highlight.row_each', 'provider.highlight.own_columns', 'provider.highlight.no_formulas'],
  events: ['email.replied', 'meeting.booked', 'contact.created', 'deal.won'],
  apiBase: 'https://sheets.googleapis.com',
  // Google allows 60 writes per minute for each user of a project.
  rate: { capacity: 20, perSecond: 0.5 },
  oauth: {
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    revokeUrl: 'https://oauth2.googleapis.com/revoke',
    pkce: true,
    scopes: ['openid', 'email', 'https://www.googleapis.com/auth/spreadsheets'],
    // Google returns a refresh token for each consent only with these parameters.
    parameters: { access_type: 'offline', prompt: 'consent' },
    clientSettings: ['GOOGLE_SHEETS_CLIENT_ID', 'GOOGLE_SHEETS_CLIENT_SECRET'],
    // The token came from Google's own endpoint, so its signature is not verified.
    async readAccount(_call, tokens) {
      const { sub, email } = z
        .object({ sub: z.string(), email: z.string() })
        .parse(decodeJwt(z.object({ id_token: z.string() }).parse(tokens).id_token));
      return { id: sub, name: email };
    },
  },
  actions: {
    append_row: {
      summary: 'Add a row to a sheet',
      config: appendConfig,
      async perform(call, input) {
        const { spreadsheet, sheet, columns } = appendConfig.parse(input.config);
        const range = `'${sheet.replaceAll("'", "''")}'!A1`;
        const budget = new WorkBudget();
        const row = columns.map((column) => shorten(fillText(column, input, { budget }), MAX_CELL));
        const { status } = await call.request({
          method: 'POST',
          path: `/v4/spreadsheets/${spreadsheetId(spreadsheet)}/values/${encodeURIComponent(range)}:append`,
          // RAW stores a stranger's text as text, never as a formula.
          query: { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' },
          json: { majorDimension: 'ROWS', values: [row] },
          expect: [404],
        });
        if (status === 404) throw new Refused(message('connect.no_spreadsheet'), 404);
      },
    },
  },
};

function spreadsheetId(given: string): string | undefined {
  return /^(?:https:\/\/docs\.google\.com\/spreadsheets\/d\/)?([\w-]{20,100})(?:[/?#].*)?$/.exec(given.trim())?.[1];
}
