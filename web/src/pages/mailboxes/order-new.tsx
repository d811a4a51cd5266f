import {
  Alert,
  Button,
  Checkbox,
  Group,
  List,
  Radio,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
} from '@mantine/core';
import IconPackage from 'tabler:package';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, HeronError, type AnswerOf, type BodyOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { toMoneyOfMinor } from '../../components/money.ts';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { WholeNumber } from '../../components/whole-number.tsx';
import { useText } from '../../text/index.ts';
import { LineItems } from './line-items.tsx';

type Offer = AnswerOf<'/v1/mailboxes/provision/providers'>['data'][number];
type Request = BodyOf<'/v1/mailboxes/provision/quote', 'post'>;
const MAX_DOMAINS = 20;
const getQuote = (body: Request) => dataOf(heron.POST('/v1/mailboxes/provision/quote', { body }));
type Quote = Awaited<ReturnType<typeof getQuote>>;

/**
 * Page for a new order of mailboxes. The person selects the mailboxes, sees the exact price and the next steps, and
 * then places the order.
 */
export default function NewOrderPage() {
  const t = useText();
  const offers = useQuery({
    queryKey: ['orders', 'offers'],
    queryFn: () => dataOf(heron.GET('/v1/mailboxes/provision/providers')),
  });
  const isClosed = offers.error instanceof HeronError && offers.error.code === 'mailbox_provisioning_unavailable';
  return (
    <Page
      title={t('orders.new')}
      lead={t('orders.new.lead')}
      back={{ to: '/mailboxes/orders', label: t('orders.title') }}
    >
      {isClosed ? (
        <Empty icon={IconPackage} title={t('orders.closed')}>
          {t('orders.closed.why')}
        </Empty>
      ) : (
        <Answered query={offers} skeleton={<ListSkeleton rows={3} height={90} />}>
          {({ data }) => <OrderFields offers={data} />}
        </Answered>
      )}
    </Page>
  );
}

function OrderFields({ offers }: { offers: readonly Offer[] }) {
  const t = useText();
  const [provider, setProvider] = useState(offers[0]?.provider ?? '');
  const [count, setCount] = useState<number | string>(2);
  const [domains, setDomains] = useState<string[]>([]);
  const [names, setNames] = useState('');
  const [warmup, setWarmup] = useState(true);
  const offer = offers.find((one) => one.provider === provider);
  const money = (cents: number) => toMoneyOfMinor(cents, offer?.currency.toUpperCase() ?? 'USD');
  const price = useAction(
    () =>
      getQuote({
        provider,
        count: Number(count),
        domains,
        warmup,
        ...(names.trim() === ''
          ? {}
          : {
              names: names
                .split('\n')
                .filter((line) => line.trim() !== '')
                .map(toName),
            }),
      }),
    // The price replaces the selection on the page, so the page is scrolled to the top.
    { isShown: true, onDone: () => window.scrollTo({ top: 0 }) },
  );
  if (price.data) return <Priced quote={price.data} onBack={price.reset} />;
  return (
    <Section title={t('orders.wishes')}>
      <Form act={price} submit={t('orders.price')}>
        <Offers offers={offers} value={provider} onChange={setProvider} />
        <TagsInput
          label={t('orders.domains')}
          description={t('orders.domains.why')}
          placeholder={domains.length === 0 ? 'northwind-mail.com' : ''}
          value={domains}
          onChange={setDomains}
          maxTags={MAX_DOMAINS}
          acceptValueOnBlur
        />
        <WholeNumber
          label={t('orders.count')}
          why={t('orders.count.why')}
          value={count}
          onChange={setCount}
          max={offer?.max_mailboxes ?? 1}
          w={{ base: '100%', sm: 260 }}
        />
        <Textarea
          label={t('orders.names')}
          description={t('orders.names.why')}
          placeholder={'Ada Lovelace\nGrace Hopper'}
          value={names}
          onChange={(event) => setNames(event.currentTarget.value)}
          autosize
          minRows={2}
          maxRows={8}
        />
        <Checkbox
          label={t('orders.warmup.with')}
          description={offer ? t('orders.warmup.price', { price: money(offer.warmup_monthly_cents) }) : null}
          checked={warmup}
          onChange={(event) => setWarmup(event.currentTarget.checked)}
        />
      </Form>
    </Section>
  );
}

function Offers({
  offers,
  value,
  onChange,
}: {
  offers: readonly Offer[];
  value: string;
  onChange: (provider: string) => void;
}) {
  const t = useText();
  return (
    <Radio.Group label={t('orders.provider')} value={value} onChange={onChange}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs">
        {offers.map((one) => (
          <Radio.Card key={one.provider} value={one.provider} p="md" radius="md">
            <Group wrap="nowrap" align="flex-start">
              <Radio.Indicator />
              <div>
                <Text fw={600}>{one.name}</Text>
                <Text size="sm" c="dimmed">
                  {t('orders.offer', {
                    price: toMoneyOfMinor(one.mailbox_monthly_cents, one.currency.toUpperCase()),
                    most: one.max_mailboxes,
                  })}
                </Text>
              </div>
            </Group>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

/** Shows the price of the selection and the steps after ordering. */
function Priced({ quote, onBack }: { quote: Quote; onBack: () => void }) {
  const t = useText();
  const go = useGoTo();
  const order = useAction(
    () =>
      dataOf(
        heron.POST('/v1/mailboxes/provision', {
          // A quote can be ordered once: a repeated request returns the same order.
          params: { header: { 'Idempotency-Key': quote.quote_id } },
          body: { quote_id: quote.quote_id },
        }),
      ),
    {
      stale: [['orders']],
      isShown: true,
      onDone: (answer) => {
        if ('provisioning_id' in answer) go(`/mailboxes/orders/${answer.provisioning_id}`);
      },
    },
  );
  const due = toMoneyOfMinor(quote.total_due_today_cents, quote.currency.toUpperCase());
  return (
    <Stack>
      <Section title={t('orders.quote')}>
        <Stack gap="sm">
          <LineItems priced={quote} />
          <Text size="sm" c="dimmed">
            {t('orders.validUntil', { when: toDateTime(quote.expires_at) })}
          </Text>
        </Stack>
      </Section>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title={t('orders.addresses')}>
          <List size="sm">
            {quote.mailboxes.map(({ email }) => (
              <List.Item key={email} className="wrap-anywhere">
                {email}
              </List.Item>
            ))}
          </List>
        </Section>
        <NextSteps quote={quote} due={due} />
      </SimpleGrid>
      {order.data && 'approval_url' in order.data ? (
        <Alert color="yellow" variant="light" role="status">
          {order.data.reasons.join(' ')}
        </Alert>
      ) : null}
      <ErrorNote error={order.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onBack}>
          {t('orders.change')}
        </Button>
        <Button onClick={() => order.mutate()} loading={order.isPending}>
          {t('orders.order', { amount: due })}
        </Button>
      </Group>
    </Stack>
  );
}

/** @param due amount due today, with its currency */
function NextSteps({ quote, due }: { quote: Quote; due: string }) {
  const t = useText();
  return (
    <Section title={t('orders.whatNext')}>
      <List size="sm" type="ordered" spacing={4}>
        <List.Item>{t('orders.whatNext.pay', { amount: due })}</List.Item>
        {quote.domain_registration ? <List.Item>{t('orders.whatNext.domains')}</List.Item> : null}
        <List.Item>{t('orders.whatNext.setUp')}</List.Item>
        <List.Item>{t(quote.warmup ? 'orders.whatNext.warm' : 'orders.whatNext.ready')}</List.Item>
        <List.Item>{t('orders.whatNext.fails')}</List.Item>
      </List>
    </Section>
  );
}

/** Splits a name such as "Ada King Lovelace". The last word becomes the last name. */
function toName(line: string): { first_name: string; last_name: string } {
  const words = line.trim().split(/\s+/);
  return words.length === 1
    ? { first_name: words[0]!, last_name: '' }
    : { first_name: words.slice(0, -1).join(' '), last_name: words.at(-1)! };
}
