/** What the doubles of Zapier, Make and n8n have in common: they take a webhook and keep what it carried. */
import { Answer, jsonOf, type Heard } from './server.ts';

/** A webhook that was taken. */
export interface TakenWebhook {
  body: any;
  raw: string;
  /** Of the request, names in lower case. */
  headers: Heard['headers'];
}

/** Takes a webhook; these three take any JSON object. */
export function takeWebhook(heard: Heard, taken: TakenWebhook[], refusal: (problem: string) => Answer): void {
  taken.push({ body: jsonOf(heard, refusal), raw: heard.raw, headers: heard.headers });
}
