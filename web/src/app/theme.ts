import { alpha, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';
import { restoreFocus } from '../components/focus.ts';
import { text } from '../text/index.ts';
import type { Preferences } from './preferences.ts';

const HERON: MantineColorsTuple = [
  '#edf4fd',
  '#d9e6f8',
  '#b0cbf0',
  '#84aee8',
  '#5f95e1',
  '#4785dd',
  '#2f72cc',
  '#1c5fb8',
  '#174f9b',
  '#0f3f80',
];

/** Theme of the dashboard, with one colour and system fonts. The dense mode makes all elements one size smaller. */
export function themeOf({ density }: Preferences) {
  const isDense = density === 'dense';
  const size = isDense ? 'xs' : 'sm';
  const field = { defaultProps: { size } };
  return createTheme({
    colors: { heron: HERON },
    primaryColor: 'heron',
    primaryShade: { light: 7, dark: 7 },
    autoContrast: true,
    defaultRadius: 'md',
    fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
    fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
    headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.35rem' } } },
    scale: isDense ? 0.92 : 1,
    respectReducedMotion: true,
    cursorType: 'pointer',
    components: {
      Button: field,
      TextInput: field,
      PasswordInput: {
        defaultProps: {
          size,
          visibilityToggleFocusable: true,
          visibilityToggleButtonProps: { 'aria-label': text('password.toggle') },
        },
      },
      NumberInput: field,
      Textarea: field,
      Select: field,
      MultiSelect: field,
      Table: { defaultProps: { verticalSpacing: isDense ? 6 : 'xs', horizontalSpacing: 'sm' } },
      // Makes the container scrollable by keyboard and reserves no space below its last row.
      TableScrollContainer: { defaultProps: { type: 'native' } },
      Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
      Modal: {
        defaultProps: {
          centered: true,
          // Restores the focus in case the element that opened the dialog no longer exists.
          onExitTransitionEnd: restoreFocus,
          closeButtonProps: { 'aria-label': text('close') },
          // The header of a dialog must not be a banner landmark of the page.
          attributes: { header: { role: 'presentation' } },
        },
      },
      Notification: { defaultProps: { closeButtonProps: { 'aria-label': text('close') } } },
      Anchor: { defaultProps: { underline: 'hover' } },
    },
  });
}

/** Colours of states. In dark mode a colour tints background and text instead of filling the background. */
const TINTS = ['heron', 'blue', 'teal', 'yellow', 'orange', 'red', 'gray'] as const;

/** Colour of secondary text with a contrast of at least 4.5:1 on every background. */
export const resolveVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-red-text': '#c92a2a',
    '--mantine-color-teal-light-color': '#05604a',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-dimmed': '#56616d',
    '--mantine-color-placeholder': '#6a7581',
  },
  dark: {
    ...Object.fromEntries(
      TINTS.flatMap((name) => [
        [`--mantine-color-${name}-light`, alpha(colors[name]![5], 0.14)],
        [`--mantine-color-${name}-light-hover`, alpha(colors[name]![5], 0.22)],
        [`--mantine-color-${name}-light-color`, colors[name]![2]],
      ]),
    ),
    '--mantine-color-dimmed': '#aab2bb',
    '--mantine-color-placeholder': '#8d96a0',
  },
});
