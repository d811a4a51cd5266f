"""Calls the methods of a peer's SDK whose routes Heron has under the same path, and checks what the SDK reads."""

import os

from warmbly import Warmbly

api = Warmbly(api_key=os.environ["HERON_API_KEY"], base_url=f"{os.environ['HERON_URL']}/v1")
address = os.environ["CONTACT_EMAIL"]

me = api.me.retrieve()
assert me.auth_type == "api_key" and "read_contacts" in me.scopes, me

api.contacts.create([{"email": address, "first_name": "Ada", "subscribed": True}])
api.contacts.create([{"email": f"not.{address}", "subscribed": False}])
contact = api.contacts.lookup(email=address).contact
found = api.contacts.search(query=address)
assert [row.email for row in found.data if row.email == address] == [address]
out = api.contacts.search(query=f"not.{address}").data[0]
assert out.subscribed is False, out

contact_id = contact["id"] if isinstance(contact, dict) else contact.id
note = api.contacts.create_note(contact_id, content="Met at the fair")
assert api.contacts.update_note(contact_id, note.id, content="Met in May").content == "Met in May"
assert [row.content for row in api.contacts.list_notes(contact_id)] == ["Met in May"]
types = [row.type for row in api.contacts.timeline(contact_id)]
assert types == ["note", "contact_created"], types
assert len(list(api.contacts.list_activities(contact_id))) == 2
assert list(api.contacts.list_emails(contact_id)) == []
assert list(api.contacts.list_deals(contact_id)) == []
assert address in api.contacts.export(format="csv", scope="all").decode()
api.contacts.delete_note(contact_id, note.id)

zones = api.timezones.list().data
assert any(zone["name"] == "Europe/Berlin" for zone in zones)
assert list(api.oauth_applications.list()) == []
assert list(api.webhooks.throttle_drops()) == []
assert len(list(api.campaigns.list())) == 0
print("21 methods")
