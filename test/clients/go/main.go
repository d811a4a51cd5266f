// The steps of docs/tutorials/first-campaign.md with the client that oapi-codegen makes of the document.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"heron.dev/first-campaign/heron"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := heron.NewClientWithResponses(os.Getenv("HERON_URL"), heron.WithRequestEditorFn(authorize))
	must(err)

	contacts, err := client.ContactsCreateWithResponse(ctx, nil, []heron.ContactCreate{{
		Email: os.Getenv("CONTACT_EMAIL"), FirstName: ptr("Ada"), Company: ptr("Analytical Engines"),
	}})
	must(err)
	expect(contacts.JSON200 != nil, contacts.Body)

	anyMinute := []heron.CampaignCreate_ScheduleWindows{{Start: 0, End: 1440}}
	campaign, err := client.CampaignsCreateWithResponse(ctx, nil, heron.CampaignCreate{
		Name:            "First campaign, in Go",
		SenderStrategy:  ptr(heron.CampaignCreateSenderStrategyExplicit),
		ScheduleWindows: &[][]heron.CampaignCreate_ScheduleWindows{anyMinute, anyMinute, anyMinute, anyMinute, anyMinute, anyMinute, anyMinute},
		Steps: &[]heron.StepCreate{{
			Name:      ptr("hello"),
			Subject:   ptr("A question about {{.Company}}"),
			BodyPlain: ptr("Hello {{.FirstName}},\n\nwho looks after the lights?\n"),
		}},
	})
	must(err)
	expect(campaign.JSON201 != nil, campaign.Body)
	id := campaign.JSON201.Id.String()

	senders, err := client.CampaignsReplaceSendersWithResponse(ctx, id, nil, heron.CampaignsReplaceSendersJSONRequestBody{
		Senders: []heron.SenderInput{{EmailAccountId: os.Getenv("MAILBOX_ID")}},
	})
	must(err)
	expect(senders.JSON200 != nil, senders.Body)
	leads, err := client.CampaignsAddLeadsWithResponse(ctx, id, nil, heron.CampaignsAddLeadsJSONRequestBody{
		ContactIds: &[]string{(*contacts.JSON200)[0].Id.String()},
	})
	must(err)
	expect(leads.JSON200 != nil, leads.Body)
	started, err := client.CampaignsStartWithResponse(ctx, id, nil, heron.CampaignsStartJSONRequestBody{})
	must(err)
	expect(started.JSON200 != nil, started.Body)

	for {
		report, err := client.AnalyticsGetCampaignWithResponse(ctx, id)
		must(err)
		expect(report.JSON200 != nil, report.Body)
		if summary := report.JSON200.Summary; summary.EmailsSent > 0 {
			fmt.Printf("%d email of %d contact is sent\n", summary.EmailsSent, summary.TotalContacts)
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("HERON_API_KEY"))
	return nil
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(isAnswer bool, body []byte) {
	if !isAnswer {
		log.Fatalf("refused: %s", body)
	}
}

func ptr[T any](value T) *T { return &value }
