"""The steps of docs/tutorials/first-campaign.md with the client that openapi-python-client makes of the document."""

import os
import time

from heron_client import AuthenticatedClient
from heron_client.api.analytics import analytics_get_campaign
from heron_client.api.campaigns import (
    campaigns_add_leads,
    campaigns_create,
    campaigns_replace_senders,
    campaigns_start,
)
from heron_client.api.contacts import contacts_create
from heron_client.models import (
    CampaignCreate,
    CampaignReport,
    CampaignsAddLeadsBody,
    CampaignsReplaceSendersBody,
    CampaignsStartBody,
    ContactCreate,
    SenderInput,
    StepCreate,
)

with AuthenticatedClient(base_url=os.environ["HERON_URL"], token=os.environ["HERON_API_KEY"]) as client:
    contacts = contacts_create.sync(
        client=client,
        body=[ContactCreate(email=os.environ["CONTACT_EMAIL"], first_name="Ada", company="Analytical Engines")],
    )
    campaign = campaigns_create.sync(
        client=client,
        body=CampaignCreate.from_dict(
            {
                "name": "First campaign, in Python",
                "sender_strategy": "explicit",
                "schedule_windows": [[{"start": 0, "end": 1440}]] * 7,
                "steps": [
                    StepCreate(
                        name="hello",
                        subject="A question about {{.Company}}",
                        body_plain="Hello {{.FirstName}},\n\nwho looks after the lights?\n",
                    ).to_dict()
                ],
            }
        ),
    )
    campaigns_replace_senders.sync(
        campaign.id,
        client=client,
        body=CampaignsReplaceSendersBody(senders=[SenderInput(email_account_id=os.environ["MAILBOX_ID"])]),
    )
    campaigns_add_leads.sync(campaign.id, client=client, body=CampaignsAddLeadsBody(contact_ids=[str(contacts[0].id)]))
    campaigns_start.sync(campaign.id, client=client, body=CampaignsStartBody())

    for _ in range(120):
        report = analytics_get_campaign.sync(campaign.id, client=client)
        if not isinstance(report, CampaignReport):
            raise SystemExit(f"no report: {report}")
        if report.summary.emails_sent > 0:
            print(f"{report.summary.emails_sent} email of {report.summary.total_contacts} contact is sent")
            break
        time.sleep(0.5)
    else:
        raise SystemExit("no email was sent in a minute")
