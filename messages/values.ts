/** Keywords of plural branches. */
type Branch = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other' | `=${number}`;

/** Text of a message without quoted braces such as `'{{'`, which are not placeholders. */
type Unquoted<Text extends string> = Text extends `${infer Before}'{${string}'${infer After}`
  ? Unquoted<`${Before}${After}`>
  : Text extends `${infer Before}'}${string}'${infer After}`
    ? Unquoted<`${Before}${After}`>
    : Text;

/** Names and types of the placeholders of an ICU message. The type reads the text from one brace to the next. */
type Places<Text extends string, Nested, IsPlural = false> = Text extends `${infer Before}{${infer After}`
  ? IsPlural extends true
    ? Before extends `${string}${Branch} `
      ? Places<After, Nested, true>
      : PlaceAt<After, Nested, true>
    : PlaceAt<After, Nested, false>
  : unknown;

type PlaceAt<After extends string, Nested, IsPlural> = After extends `${infer Head}}${infer Rest}`
  ? Head extends `${infer Name}, plural, ${string}`
    ? { [Key in Name]: number } & Places<PluralBody<After>, Nested, true>
    : Head extends `${infer Name}, number${string}`
      ? { [Key in Name]: number } & Places<Rest, Nested, IsPlural>
      : Head extends `${infer Name}, ${'date' | 'time'}${string}`
        ? { [Key in Name]: string } & Places<Rest, Nested, IsPlural>
        : { [Key in Head]: string | readonly string[] | Nested } & Places<Rest, Nested, IsPlural>
  : unknown;

/** Rest of a plural placeholder, from its first branch on. */
type PluralBody<After extends string> = After extends `${string}, plural, ${infer Body}` ? Body : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };

/**
 * Values of an ICU message by name: a number for `{n, number}` and `{n, plural, …}`, a time (RFC 3339) for `{at, date,
 * …}`. Other values are text, a list, or a message (`Nested`). `select` is not supported: use a separate message.
 */
export type Values<Text extends string, Nested> = string extends Text
  ? Record<string, never>
  : Flat<Places<Unquoted<Text>, Nested>>;
