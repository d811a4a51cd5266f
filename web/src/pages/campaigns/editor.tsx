import { Input, Text } from '@mantine/core';
import {
  acceptCompletion,
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  keymap,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view';
import { useEffect, useId, useRef } from 'react';
import { STYLE_NONCE } from '../../app/meta.ts';
import { text, useText } from '../../text/index.ts';

/** Template functions, each with the text that is inserted. */
const FUNCTIONS: readonly [name: string, apply: string][] = [
  ['default', 'default ""'],
  ['upper', 'upper'],
  ['lower', 'lower'],
  ['title', 'title'],
  ['trim', 'trim'],
  ['truncate', 'truncate 20'],
  ['urlquery', 'urlquery'],
];

/** Text editor with variables, functions and spintax: `{{` offers variables, `{` inserts two alternatives. */
export default function Editor({
  label,
  description,
  value,
  variables,
  isOneLine = false,
  isReadOnly,
  onChange,
}: {
  label: string;
  description: string;
  value: string;
  variables: readonly string[];
  isOneLine?: boolean;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}) {
  useText();
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  /** True while the editor contains text that is not in `value` yet. */
  const isAhead = useRef(false);
  const isApplying = useRef(false);
  const latest = useRef({ onChange, variables });
  latest.current = { onChange, variables };
  useEffect(() => {
    const readOnly = new Compartment();
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          ...(STYLE_NONCE ? [EditorView.cspNonce.of(STYLE_NONCE)] : []),
          history(),
          highlight,
          typeOverBraces,
          autocompletion({ override: [(context) => complete(context, latest.current.variables)], icons: false }),
          keymap.of([{ key: 'Tab', run: acceptCompletion }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          isOneLine ? oneLine : [EditorView.lineWrapping, EditorView.theme({ '.cm-content': { minHeight: '10rem' } })],
          EditorView.contentAttributes.of({ 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-why` }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || isApplying.current) return;
            isAhead.current = true;
            latest.current.onChange(update.state.doc.toString());
          }),
          readOnly.of([EditorState.readOnly.of(isReadOnly), EditorView.editable.of(!isReadOnly)]),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor keeps its own text; external changes are applied by the effect below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id, isOneLine, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    if (editor.state.doc.toString() === value) isAhead.current = false;
    // Keeps text that was typed after this value was rendered. The next `value` contains it.
    if (isAhead.current || editor.state.doc.toString() === value) return;
    isApplying.current = true;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    isApplying.current = false;
  }, [value]);
  return (
    <div>
      <Input.Label id={`${id}-label`} labelElement="div" onClick={() => view.current?.focus()}>
        {label}
      </Input.Label>
      <Text size="xs" c="dimmed" id={`${id}-why`} mb={description ? 4 : 0}>
        {description}
      </Text>
      <div className="editor" ref={host} data-lines={isOneLine ? 'one' : 'many'} />
    </div>
  );
}

/** Replaces pasted line breaks by spaces, because a subject is a single line. */
const oneLine: Extension = EditorState.transactionFilter.of((transaction) =>
  transaction.newDoc.lines > 1
    ? [
        transaction,
        {
          changes: {
            from: 0,
            to: transaction.newDoc.length,
            insert: transaction.newDoc.toString().replace(/\s*\n\s*/g, ' '),
          },
          sequential: true,
        },
      ]
    : transaction,
);

/** Skips a closing brace that the person types where the completion has already inserted one. */
const typeOverBraces = EditorView.inputHandler.of(
  ({ state }, from, to, typed) =>
    from === to &&
    /^\}+$/.test(typed) &&
    /\{\{[^{}]*\}\}$/.test(state.doc.lineAt(from).text.slice(0, from - state.doc.lineAt(from).from)),
);

/** Highlights variables and spintax alternatives. */
const matcher = new MatchDecorator({
  regexp: /\{\{[^{}]*\}\}|\{\{[^{}]*$|\{[^{}|]*\|[^{}]*\}/g,
  decoration: ([found]) =>
    Decoration.mark({
      class: found.startsWith('{{') ? (found.endsWith('}}') ? 'cm-variable' : 'cm-broken') : 'cm-spintax',
    }),
});
const highlight = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

/** Returns the completions at the cursor: variables after `{{`, functions after `|`, spintax after a single brace. */
function complete(context: CompletionContext, variables: readonly string[]): CompletionResult | null {
  const piped = context.matchBefore(/\{\{[^{}]*\|\s*\w*/);
  if (piped) {
    const from = context.pos - /\w*$/.exec(piped.text)![0].length;
    return { from, options: FUNCTIONS.map(([name, apply]) => ({ label: name, apply: `${apply} ` })) };
  }
  const open = context.matchBefore(/\{\{\s*\.?[\w.]*/);
  if (open) {
    const { text: line, from } = context.state.doc.lineAt(context.pos);
    // The completion also replaces the rest of the name after the cursor. Braces that close it are kept.
    const [rest, braces] = /^[\w.]*(\s*\}\})?/.exec(line.slice(context.pos - from))!;
    const closes = braces ? '' : '}}';
    return {
      from: open.from,
      to: context.pos + rest.length - (braces?.length ?? 0),
      filter: true,
      options: variables.map((name) => ({
        label: `{{${written(name)}`,
        displayLabel: name,
        apply: `{{${written(name)}${closes}`,
      })),
    };
  }
  const brace = context.matchBefore(/\{$/);
  if (!brace) return null;
  return {
    from: brace.from,
    options: [
      { label: '{{', displayLabel: text('email.editor.variable'), apply: '{{.' },
      { label: '{|}', displayLabel: text('email.editor.spintax'), apply: '{Hello|Hi}' },
    ],
  };
}

/** Returns the template expression of a field: `.name` for simple names, `index` for others. */
function written(name: string): string {
  return /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name) ? `.${name}` : `index . "${name.replaceAll('"', '\\"')}"`;
}
