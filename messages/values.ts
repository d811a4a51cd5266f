/** Keywords before a branch of a plural. */
type Branch = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other' | `=${number}`;

/** A sentence without its quoted braces, which are no places: `'{{'`. */
type Unquoted<Text extends string> = Text extends `${infer Before}'{${string}'${infer After}`
  ? Unquoted<`${Before}${After}`>
  : Text extends `${infer Before}'}${string}'${infer After}`
    ? Unquoted<`${Before}${After}`>
    : Text;

/** Names of the places in an ICU sentence, with what each takes: a walk from brace to brace. */
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

/** A plural from its first branch on. */
type PluralBody<After extends string> = After extends `${string}, plural, ${infer Body}` ? Body : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };

/**
 * The values that an ICU sentence takes, by name: a number for `{n, number}` and `{n, plural, …}`, a moment (RFC 3339) for
 * `{at, date, …}`. Others take text, a list, or a sentence (`Nested`). `select` is not understood: a sentence of its own is clearer.
 */
export type Values<Text extends string, Nested> = string extends Text
  ? Record<string, never>
  : Flat<Places<Unquoted<Text>, Nested>>;
