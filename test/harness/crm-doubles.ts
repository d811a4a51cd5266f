import type { startDoubles } from '../doubles/all.ts';
import { CLOSE_CUSTOM_FIELD, PIPEDRIVE_CUSTOM_FIELD } from '../doubles/index.ts';

/** Functions that read Heron's records from each CRM's stub. */
export const crmsOf = (doubles: Awaited<ReturnType<typeof startDoubles>>) => ({
  hubspot: {
    nameField: 'firstname',
    change: { jobtitle: 'Changed' },
    deal: { currency: 'EUR' },
    amount: '1200.50',
    noteText: 'email.replied: Re: &lt;b&gt;hello&lt;/b&gt;',
    idIn: (id: string) => id,
    /** Id that no record has. */
    noId: '999999',
    people: () =>
      doubles.hubspot.contacts.map(({ properties: { email, firstname, lastname, jobtitle } }) => ({
        email: email!,
        name: `${firstname} ${lastname}`,
        changed: jobtitle,
      })),
    note: () => {
      const { associations, properties } = doubles.hubspot.notes.at(-1)!;
      return { about: associations[0]!.to, text: properties.hs_note_body };
    },
    dealMade: () => {
      const { associations, properties } = doubles.hubspot.deals.at(-1)!;
      return { about: associations[0]!.to, name: properties.dealname, amount: properties.amount };
    },
  },
  salesforce: {
    nameField: 'FirstName',
    change: { Title: 'Changed' },
    deal: { stage: 'Qualification' },
    amount: '1200.5',
    noteText: 'email.replied: Re: <b>hello</b>',
    idIn: (id: string) => id,
    /** Id that no record has. */
    noId: '003000000999999AAA',
    people: () =>
      doubles.salesforce.records.Contact.map(({ Email, FirstName, LastName, Title }) => ({
        email: Email!,
        name: `${FirstName} ${LastName}`,
        changed: Title,
      })),
    note: () => {
      const { WhoId, Description } = doubles.salesforce.records.Task.at(-1)!;
      return { about: WhoId, text: Description };
    },
    dealMade: () => {
      const { Name, Amount, Id } = doubles.salesforce.records.Opportunity.at(-1)!;
      const role = doubles.salesforce.records.OpportunityContactRole.find((one) => one.OpportunityId === Id);
      return { about: role?.ContactId, name: Name, amount: Amount };
    },
  },
  pipedrive: {
    nameField: 'first_name',
    change: { [PIPEDRIVE_CUSTOM_FIELD]: 'Changed' },
    deal: { currency: 'EUR' },
    amount: 1200.5,
    noteText: 'email.replied: Re: &lt;b&gt;hello&lt;/b&gt;',
    idIn: Number,
    /** Id that no record has. */
    noId: '999999',
    people: () =>
      doubles.pipedrive.persons.map(({ emails, name, custom_fields: custom }) => ({
        email: emails[0]!.value,
        name,
        changed: custom[PIPEDRIVE_CUSTOM_FIELD],
      })),
    note: () => {
      const { person_id: about, content: text } = doubles.pipedrive.notes.at(-1)!;
      return { about, text };
    },
    dealMade: () => {
      const { person_id: about, title: name, value: amount } = doubles.pipedrive.deals.at(-1)!;
      return { about, name, amount };
    },
  },
  close: {
    nameField: 'first_name',
    change: { [`custom.${CLOSE_CUSTOM_FIELD}`]: 'Changed' },
    deal: {},
    amount: 120_050,
    noteText: 'email.replied: Re: <b>hello</b>',
    idIn: (id: string) => id.split('/')[1],
    /** Id that no record has. */
    noId: 'lead_none/cont_none',
    people: () =>
      doubles.close.contacts.map((one) => ({
        email: one.emails[0].email as string,
        name: one.name,
        changed: one[`custom.${CLOSE_CUSTOM_FIELD}`],
      })),
    note: () => {
      const { contact_id: about, note: text } = doubles.close.notes.at(-1)!;
      return { about, text };
    },
    dealMade: () => {
      const { contact_id: about, note: name, value: amount } = doubles.close.opportunities.at(-1)!;
      return { about, name, amount };
    },
  },
});
